/* SPDX-License-Identifier: MIT */
/* The server's own headers, and what differs between its versions. */
#ifndef TERSE_SERVER_H
#define TERSE_SERVER_H

#include "first.h"

#include <stdbool.h>

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
#define LIGHTTPD_1_4_65 0x10441
#define LIGHTTPD_1_4_69 0x10445
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

/* A module as a request refers to the one that produces its response. */
typedef __typeof__(*((request_st *)0)->handler_module) server_handler;

#if LIGHTTPD_VERSION_ID >= LIGHTTPD_1_4_83
static inline server_handler *server_handler_of(void *plugin_data)
{
    return plugin_data;
}

static inline int server_handler_id(server_handler *h)
{
    return h->id;
}

static inline handler_t server_call(server_handler *h, request_st *r)
{
    return h->self->handle_subrequest(r, (void *)h);
}
#else
static inline server_handler *server_handler_of(void *plugin_data)
{
    return ((plugin_data_base *)plugin_data)->self;
}

static inline int server_handler_id(server_handler *h)
{
    return ((plugin_data_base *)h->data)->id;
}

static inline handler_t server_call(server_handler *h, request_st *r)
{
    return h->handle_subrequest(r, h->data);
}
#endif

/* Makes a module, by its plugin data, the one that produces the response. */
static inline void server_hand_over(request_st *r, void *plugin_data)
{
    r->handler_module = server_handler_of(plugin_data);
}

static inline bool server_is_handler(const request_st *r, void *plugin_data)
{
    return r->handler_module == server_handler_of(plugin_data);
}

/* CONNECT with a protocol of its own, over HTTP/2. */
static inline bool server_is_tunnel(const request_st *r)
{
#if LIGHTTPD_VERSION_ID >= LIGHTTPD_1_4_65
    return r->h2_connect_ext;
#else
    return r->http_method == HTTP_METHOD_CONNECT;
#endif
}

static inline void server_unwatch(fdevents *ev, fdnode *node)
{
#if LIGHTTPD_VERSION_ID < LIGHTTPD_1_4_69
    int watched = node->fd;
#else
    fdnode *watched = node;
#endif
    fdevent_fdnode_event_del(ev, node);
    fdevent_unregister(ev, watched);
}

static inline uint64_t server_now_ms(void)
{
    return (uint64_t)log_monotonic_secs * 1000;
}

#endif
