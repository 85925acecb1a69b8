/* SPDX-License-Identifier: MIT */
/* Terse for programs over libh2o-evloop: link with terse-h2o.so, call one of the two. */
#ifndef TERSE_H2O_H
#define TERSE_H2O_H

#include <stddef.h>

#include <h2o.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Adds the commands `terse` and `terse.plugin` to a program that reads H2O's configuration files.
 * H2O shows a response first to what was registered last: call this after h2o_config_init and
 * h2o_compress_register_configurator, and before errordoc, expires, headers and reproxy, whose
 * filters change the headers that Terse decides by (hosts/h2o/example_config.c). */
void terse_h2o_register_configurator(h2o_globalconf_t *conf);

/* Switches Terse on for one path, without a configuration file.  Call it when the path's other
 * filters and handlers are registered, and before h2o_context_init.
 *   plugin: absolute path; NULL: the installed one.  All paths of a globalconf share one plugin.
 *   pairs:  key, value, key, value, ..., NULL; or NULL: the defaults.
 * 0, or -1 with one line in why; then the path is as it was. */
int terse_h2o_register(h2o_pathconf_t *pathconf, const char *plugin, const char *const *pairs,
                       char *why, size_t why_len);

/* As terse_h2o_register_configurator, but checks first that this H2O is the one that the shim was
 * compiled for.  0, or -1 with one line in why and nothing registered. */
int terse_h2o_attach(h2o_globalconf_t *conf, char *why, size_t why_len);

#ifdef __cplusplus
}
#endif

#endif
