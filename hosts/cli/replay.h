/* SPDX-License-Identifier: MIT */
/* Requests and responses in files, as HTTP/1 writes them and curl -i shows them. */
#ifndef TERSE_CLI_REPLAY_H
#define TERSE_CLI_REPLAY_H

#include "exchange.h"

/* Fill m from the file's bytes, which are changed in place and stay where they are.  A body is what it
 * is without its transfer coding.  0, or -1 after a complaint that begins with the file's name. */
int replay_request(const char *name, char *bytes, size_t len, struct message *m);
int replay_response(const char *name, char *bytes, size_t len, struct message *m, bool *streamed);

#endif
