/* SPDX-License-Identifier: MIT */
/* The server's own headers, and what differs between its versions. */
#ifndef TERSE_SERVER_H
#define TERSE_SERVER_H

#include "first.h"

#include "array.h"
#include "base.h"
#include "buffer.h"
#include "chunk.h"
#include "fdevent.h"
#include "http_chunk.h"
#include "http_header.h"
#include "http_kv.h"
#include "log.h"
#include "plugin.h"
#include "plugin_config.h"
#include "reqpool.h"
#include "request.h"
#include "response.h"

#define LIGHTTPD_1_4_60 0x1043c
#define LIGHTTPD_1_4_83 0x10453

#if LIGHTTPD_VERSION_ID < LIGHTTPD_1_4_60
#error "mod_terse needs lighttpd 1.4.60 or newer"
#endif

/* Where a log line comes from, in the server's way: file and line. */
#ifdef __FILE_NAME__
#define AT "mod_terse/" __FILE_NAME__, __LINE__
#else
#define AT "mod_terse", __LINE__
#endif

/* Module i of the server, in the order of server.modules. */
static inline const plugin *server_module(const server *srv, uint32_t i)
{
#if LIGHTTPD_VERSION_ID >= LIGHTTPD_1_4_83
    return ((plugin_data_base **)srv->plugins.ptr)[i]->self;
#else
    return ((plugin **)srv->plugins.ptr)[i];
#endif
}

/* Makes a module, by its plugin data, the one that produces the response. */
static inline void server_hand_over(request_st *r, void *plugin_data)
{
#if LIGHTTPD_VERSION_ID >= LIGHTTPD_1_4_83
    r->handler_module = plugin_data;
#else
    r->handler_module = ((plugin_data_base *)plugin_data)->self;
#endif
}

static inline uint64_t server_now_ms(void)
{
    return (uint64_t)log_monotonic_secs * 1000;
}

#endif
