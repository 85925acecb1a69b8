/* SPDX-License-Identifier: MIT */
/*
 * terse.h - the contract between a Terse plugin (terse.so) and the server shims that load it.
 *
 * ABI.md beside this file has the numbered rules for both sides.  The ones needed to read this page:
 *   - one exported symbol, terse_plugin_entry; all else is reached through the table it returns
 *   - a struct that starts with struct_size grows only at its end; an all-zero tail means "as before"
 *   - a struct marked Frozen never changes
 *   - ask TERSE_HAS(api, slot) before a call to any slot after the floor TERSE_API_SIZE_V0
 *   - numbers are never given a second meaning; an unknown status counts by its sign alone
 *
 * Thread tags: [config] one thread at a time, at start or reload, never on the request path;
 * [any] any thread, at once; [worker] never two calls at once for one pool, its streams and the
 * exchanges that use it (a guard, not an OS thread).  Every pool is made after the server's last fork.
 */
#ifndef TERSE_H
#define TERSE_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define TERSE_ABI_MAJOR 1u
#define TERSE_ABI_MINOR 0u /* for messages only: code asks TERSE_HAS or query(), never this */

#define TERSE_OFFSETOFEND(T, m) (offsetof(T, m) + sizeof(((T *)0)->m))
/* True when the other side's table reaches slot m and has filled it in. */
#define TERSE_HAS(table, T, m) ((table)->struct_size >= TERSE_OFFSETOFEND(T, m) && (table)->m != 0)

/* ---- status: 0 done; > 0 done, and more to say; < 0 failed ------------------------------------ */

typedef int32_t terse_status;
#define TERSE_OK 0
#define TERSE_MORE 1        /* output room ran out: call again with the same operation */
#define TERSE_END 2         /* complete; every later call says so again, with 0 bytes */
#define TERSE_E_ARG (-1)    /* a NULL, a struct below its floor, an unknown flag or operation */
#define TERSE_E_NOMEM (-2)  /* no memory; nothing was changed */
#define TERSE_E_TOOBIG (-3) /* a field or bit that this side does not know was set */
#define TERSE_E_KEY (-4)    /* no such setting */
#define TERSE_E_VALUE (-5)  /* the setting does not take this value */
#define TERSE_E_CODING (-6) /* no such content coding in this plugin */
#define TERSE_E_STATE (-7)  /* out of order: policy sealed or not yet, exchange not so decided */
#define TERSE_E_BROKEN (-8) /* coded bytes have left, the rest cannot follow: break the transfer */
#define TERSE_E_DATA (-9)   /* decoder: not in its coding, cut short, or bytes behind its end */
#define TERSE_E_LIMIT (-10) /* a limit of the settings was passed */
#define TERSE_E_LIBRARY (-11) /* a codec library is not the one linked to, or too old */

/* ---- opaque handles --------------------------------------------------------------------------- */

typedef struct terse_instance terse_instance;     /* one per load of a plugin; owns all below */
typedef struct terse_policy terse_policy;         /* settings; immutable once sealed; counted */
typedef struct terse_negotiator terse_negotiator; /* a policy's preference; lives as long */
typedef struct terse_pool terse_pool;             /* codecs and buffers of one worker */
typedef struct terse_stream terse_stream;         /* an encoder or decoder, borrowed from a pool */
/* State of one request and its response: api->exchange_size zeroed bytes, aligned for any object,
 * in memory of the shim's that stays in place until exchange_end. */
typedef struct terse_exchange terse_exchange;

/* ---- small structs, all Frozen ---------------------------------------------------------------- */

/* Borrowed bytes; not NUL-terminated; valid until the call they were passed to returns. */
typedef struct terse_str {
    const char *ptr;
    size_t len;
} terse_str;

/* Input of a stream: bytes [pos, len) are still to be read; the plugin moves pos. */
typedef struct terse_in {
    const void *ptr;
    size_t len;
    size_t pos;
} terse_in;

/* Output of a stream: room [pos, len) is still to be filled; the plugin moves pos. */
typedef struct terse_out {
    void *ptr;
    size_t len;
    size_t pos;
} terse_out;

/* One header edit.  SET replaces every line of that name by one; ADD appends a line; REMOVE drops
 * every line (value is empty).  Names are lower case.  Never a framing header (ABI.md H6). */
typedef struct terse_edit {
    int32_t op;   /* TERSE_EDIT_* */
    int32_t side; /* TERSE_REQUEST, TERSE_RESPONSE or TERSE_TRAILER */
    terse_str name;
    terse_str value;
} terse_edit;
#define TERSE_EDIT_SET 1
#define TERSE_EDIT_ADD 2
#define TERSE_EDIT_REMOVE 3

/* What a field says of one coding (RFC 9110 section 12.5.3). */
typedef struct terse_weight {
    const char *coding; /* static, lower case; "identity" is one of them */
    int32_t milli;      /* weight in thousandths, 0 to 1000; 0: not acceptable */
    int32_t source;     /* TERSE_WEIGHT_* */
} terse_weight;
#define TERSE_WEIGHT_ABSENT 0    /* neither named nor covered by "*" */
#define TERSE_WEIGHT_NAMED 1     /* named, its weight well formed or absent */
#define TERSE_WEIGHT_WILDCARD 2  /* covered by "*" */
#define TERSE_WEIGHT_MALFORMED 3 /* named with a malformed weight: refused */

/* ---- structs that grow ------------------------------------------------------------------------ */

#define TERSE_LOG_ERROR 0
#define TERSE_LOG_WARNING 1
#define TERSE_LOG_INFO 2

/* The host, for the life of an instance.  Filled by the shim. */
typedef struct terse_host {
    uint32_t struct_size;
    uint32_t reserved0; /* 0 */
    void *data;         /* handed back as first argument */
    /* [any] One line for the server's log, without a newline; msg is borrowed.  May be NULL. */
    void (*log)(void *data, int32_t level, const char *msg, size_t len);
    /* [any] An extension that the host offers, by id; NULL when it has none.  May be NULL. */
    const void *(*query)(void *data, const char *id);
} terse_host;
#define TERSE_HOST_SIZE_V0 TERSE_OFFSETOFEND(terse_host, query)

#define TERSE_REQUEST 0
#define TERSE_RESPONSE 1
#define TERSE_TRAILER 2

/* Finds line nth (from 0) of a header: returns 1 and fills value, or 0.  name is lower case and
 * NUL-terminated.  value stays in place until the plugin call that asked returns. */
typedef int32_t (*terse_header_fn)(void *ctx, int32_t side, const char *name, size_t name_len,
                                   uint32_t nth, terse_str *value);

/* What a shim knows of an exchange when it asks.  Filled by the shim; unknown fields stay 0. */
typedef struct terse_facts {
    uint32_t struct_size;
    uint32_t flags;             /* TERSE_FACT_*; unknown bits are TERSE_E_TOOBIG */
    const terse_policy *policy; /* sealed; the same one for all calls of an exchange */
    terse_pool *pool;           /* the worker's */
    terse_header_fn header;
    void *header_ctx;
    terse_str method;      /* as on the request line: "GET" */
    uint32_t http_version; /* the client's: 10, 11, 20, 30 */
    uint32_t status;       /* of the response; 0 in request() */
    int64_t length;        /* of the response body in bytes; -1 when not known */
    uint64_t body_limit; /* most bytes of a request body that the host takes; 0: it has no limit */
} terse_facts;
#define TERSE_FACTS_SIZE_V0 TERSE_OFFSETOFEND(terse_facts, length)
#define TERSE_FACT_COMPLETE (UINT32_C(1) << 0)  /* the whole body is at hand, length is exact */
#define TERSE_FACT_NO_ACCESS (UINT32_C(1) << 1) /* the host cannot hand this body over */
#define TERSE_FACT_NO_STREAM (UINT32_C(1) << 2) /* the host can take whole bodies only */

#define TERSE_PASS 0  /* leave the body alone; apply edits, frame as length says */
#define TERSE_WHOLE 1 /* collect the body, call encode_whole: its decision has the edits */
#define TERSE_PEEK 2  /* collect `need` bytes of the body, call decide_more */
#define TERSE_STREAM                                                                               \
    3 /* apply edits, stream_open (it is set up: cannot fail), run every byte; coding
                        * may be NULL: the stream takes a coding off */
#define TERSE_NO_BODY 4 /* apply status and edits, send no body */
#define TERSE_REPLY                                                                                \
    5 /* request() and request_body(): the answer is status, edits and body;
                         * nothing is run */
#define TERSE_UNCODE                                                                               \
    6 /* request() only: stream_open (it is set up: cannot fail), run every byte of
                         * the request's body, then request_body */

#define TERSE_LENGTH_UNKNOWN (-1) /* remove Content-Length, frame by other means */
#define TERSE_LENGTH_KEEP (-2)    /* leave the framing as it is */

/* What is to be done.  The caller sets struct_size and zeroes nothing else; the plugin fills what
 * fits.  Edits and their bytes stay valid until the next call with the same pool. */
typedef struct terse_decision {
    uint32_t struct_size;
    int32_t action;     /* TERSE_PASS .. TERSE_UNCODE; an unknown one is to be taken as PASS */
    uint32_t reason;    /* number of the reason, as in query("terse.reasons/1") */
    uint32_t status;    /* replaces the response status; 0: keep */
    int64_t length;     /* of the body that leaves, or TERSE_LENGTH_* */
    uint64_t need;      /* PEEK: body bytes wanted (fewer at the body's end) */
    uint64_t piece;     /* STREAM: most input bytes for one turn of the event loop; 0: no limit */
    const char *coding; /* static name of the coding that leaves; NULL: identity */
    const char *reason_name; /* static: "coded", "too-small", ... */
    const char *reason_text; /* static: the reason as a sentence */
    const terse_edit *edits;
    uint32_t n_edits;
    uint32_t hold_ms; /* longest time that the headers may be held back; 0: no limit set */
    terse_str body;   /* REPLY: of the answer; valid as the edits are */
} terse_decision;
#define TERSE_DECISION_SIZE_V0 TERSE_OFFSETOFEND(terse_decision, hold_ms)

#define TERSE_ENCODE 1
#define TERSE_DECODE 2

/* What stream is wanted.  Filled by the caller. */
typedef struct terse_spec {
    uint32_t struct_size;
    int32_t direction;          /* TERSE_ENCODE or TERSE_DECODE */
    const terse_policy *policy; /* levels and limits; sealed */
    terse_exchange *exchange;   /* the stream belongs to it and ends with it; may be NULL */
    terse_str coding;           /* decision.coding, or a name; case-insensitive */
    int64_t length;             /* of the input, as a hint; -1 when not known */
} terse_spec;
#define TERSE_SPEC_SIZE_V0 TERSE_OFFSETOFEND(terse_spec, length)

#define TERSE_RUN 0    /* take input; give output when there is some */
#define TERSE_FLUSH 1  /* as RUN, then give all that was taken, decodable */
#define TERSE_FINISH 2 /* as RUN, then end the coded body; it wins over a flush */

/* How a run went, beside its status.  The caller sets struct_size. */
typedef struct terse_report {
    uint32_t struct_size;
    uint32_t flush_ms;  /* flush within so many ms of the source's pause; 0: no need */
    uint64_t unflushed; /* input bytes taken whose output has not been given in full */
} terse_report;
#define TERSE_REPORT_SIZE_V0 TERSE_OFFSETOFEND(terse_report, unflushed)

#define TERSE_DONE 0         /* the response was sent as decided */
#define TERSE_ABORTED 1      /* the client or the server gave up */
#define TERSE_SOURCE_BROKE 2 /* the body's source ended early or failed */

/* The account of an exchange.  The caller sets struct_size. */
typedef struct terse_outcome {
    uint32_t struct_size;
    uint32_t reason;
    const char *coding;      /* static; NULL: identity */
    const char *reason_name; /* static */
    uint64_t bytes_in;       /* body bytes given to the codec */
    uint64_t bytes_out;      /* coded bytes it gave */
} terse_outcome;
#define TERSE_OUTCOME_SIZE_V0 TERSE_OFFSETOFEND(terse_outcome, bytes_out)

/* Result of negotiate.  The caller sets struct_size, weights and weights_cap. */
typedef struct terse_choice {
    uint32_t struct_size;
    uint32_t flags;        /* TERSE_CHOICE_* */
    const char *coding;    /* static; NULL: identity */
    terse_weight *weights; /* the caller's array, filled in the policy's order; may be NULL */
    uint32_t weights_cap;
    uint32_t n_weights; /* out: how many there are, also when more than weights_cap */
} terse_choice;
#define TERSE_CHOICE_SIZE_V0 TERSE_OFFSETOFEND(terse_choice, n_weights)
#define TERSE_CHOICE_NO_IDENTITY (UINT32_C(1) << 0) /* identity is refused by the field */
#define TERSE_CHOICE_NOTHING (UINT32_C(1) << 1)     /* and no coding on offer is acceptable */

/* ---- extensions of the plugin, by query ------------------------------------------------------- */

/* query("terse.keys/1"): the settings this plugin knows. */
typedef struct terse_key {
    uint32_t struct_size;
    uint32_t reserved0;
    const char *key;
    const char *type;    /* "list", "choice", "integer", "bytes", "time", "switch", "types" */
    const char *range;   /* in words: "1 to 9, or auto" */
    const char *initial; /* the default, as it would be written */
    const char *help;    /* one sentence */
} terse_key;
typedef struct terse_keys {
    uint32_t struct_size;
    uint32_t count;
    const terse_key *(*at)(uint32_t index); /* [any] static; NULL past the end */
} terse_keys;
#define TERSE_QUERY_KEYS "terse.keys/1"

/* query("terse.reasons/1"): every reason that a decision can have. */
typedef struct terse_reason {
    uint32_t struct_size;
    uint32_t number;
    const char *name;
    const char *sentence;
    uint32_t rule; /* its number in "terse.rules/1"; 0: none */
    uint32_t reserved0;
} terse_reason;
typedef struct terse_reasons {
    uint32_t struct_size;
    uint32_t count;
    const terse_reason *(*at)(uint32_t index); /* [any] static; NULL past the end */
} terse_reasons;
#define TERSE_QUERY_REASONS "terse.reasons/1"

/* query("terse.rules/1"): what decisions go by, as numbered in the plugin's RULES.md. */
typedef struct terse_rule {
    uint32_t struct_size;
    uint32_t number;    /* 1 is shown as R01 */
    const char *title;  /* one sentence */
    const char *fields; /* header fields whose edits go by it, in lower case, with spaces between */
} terse_rule;
typedef struct terse_rules {
    uint32_t struct_size;
    uint32_t count;
    const terse_rule *(*at)(uint32_t index); /* [any] static; NULL past the end */
} terse_rules;
#define TERSE_QUERY_RULES "terse.rules/1"

/* ---- the table -------------------------------------------------------------------------------- */

/* Constant, of the plugin, valid to the end of the process.  All slots are since 1.0. */
typedef struct terse_api {
    uint32_t struct_size;
    uint16_t abi_major;
    uint16_t abi_minor;
    uint32_t caps;          /* TERSE_CAP_*; unknown bits are to be ignored */
    uint32_t exchange_size; /* bytes of a terse_exchange; 1 to 65,536 */
    const char *version;    /* of the plugin: "1.0.0"; to show, not to parse */
    const char *build;      /* build id, to tell two builds of one version apart */

    /* An extension by id ("name/REV").  NULL when this plugin has none of that id.
     * Owner: the plugin, to the end of the process.  [any] */
    const void *(*query)(const char *id);

    /* Starts the plugin for one host.  Checks the codec libraries.
     * E_ARG, E_TOOBIG, E_NOMEM, E_LIBRARY; why (NUL-terminated, cut at why_len) says it in words.
     * Owner of *out: the caller, until close.  host is copied.  [config] */
    terse_status (*open)(const terse_host *host, terse_instance **out, char *why, size_t why_len);
    /* Ends an instance; its policies and pools are gone before.  NULL is fine.  [config] */
    void (*close)(terse_instance *instance);
    /* Pair index (from 0) of what is running: plugin, build, and each codec with its library.
     * OK, or E_ARG past the end.  Owner of both strings: the instance.  [any] */
    terse_status (*info)(const terse_instance *instance, uint32_t index, terse_str *name,
                         terse_str *value);
    /* Negotiates, codes and decodes a sample in each coding of a sealed policy; some milliseconds.
     * OK, or the failing step's status with words in why.  [config] */
    terse_status (*self_test)(terse_instance *instance, const terse_policy *policy, char *why,
                              size_t why_len);

    /* An unsealed policy that holds the defaults.  E_NOMEM.
     * Owner: the caller, by count; policy_unref gives it back.  [config] */
    terse_status (*policy_new)(terse_instance *instance, terse_policy **out);
    /* Sets one key.  A key written "?key" that this plugin does not know is passed over.
     * E_KEY, E_VALUE, E_STATE (sealed), E_NOMEM; why names key, value, what is allowed, and for an
     * unknown key the nearest known one.  Nothing is changed on failure.  [config] */
    terse_status (*policy_set)(terse_policy *policy, terse_str key, terse_str value, char *why,
                               size_t why_len);
    /* Ends the setting of keys; from now on the policy may be used, by any thread.
     * E_STATE, E_NOMEM.  [config] */
    terse_status (*policy_seal)(terse_policy *policy, char *why, size_t why_len);
    /* A new sealed policy: base, and over it in turn the keys that each overlay set, key by key.
     * All are sealed.  Cannot fail but for E_ARG, E_STATE and E_NOMEM: any subset fits.
     * Owner of *out: the caller, by count.  [any] */
    terse_status (*policy_derive)(const terse_policy *base, const terse_policy *const *overlays,
                                  size_t n_overlays, terse_policy **out);
    /* Counts one more user.  [any] */
    void (*policy_ref)(const terse_policy *policy);
    /* Counts one user less; the last one frees it.  NULL is fine.  [any] */
    void (*policy_unref)(const terse_policy *policy);

    /* The compiled preference of a sealed policy; NULL when not sealed.
     * Owner: the policy.  [any] */
    const terse_negotiator *(*negotiator)(const terse_policy *policy);
    /* Ranks Accept-Encoding as RFC 9110 sections 12.4.2 and 12.5.3 say; all lines count as one
     * list.  n_fields 0: no such header, identity.  Malformed members never fail it.
     * E_ARG.  No memory is taken.  [any] */
    terse_status (*negotiate)(const terse_negotiator *negotiator, const terse_str *fields,
                              size_t n_fields, terse_choice *out);

    /* The codecs and buffers of one worker; policy says how much memory they may hold.
     * E_ARG, E_STATE, E_NOMEM.  Owner: the caller, until pool_free.  [worker] */
    terse_status (*pool_new)(terse_instance *instance, const terse_policy *policy,
                             terse_pool **out);
    /* Frees a pool whose exchanges have ended.  NULL is fine.  [worker] */
    void (*pool_free)(terse_pool *pool);
    /* Tells the time (any monotonic clock, milliseconds), about once a second; idle memory may be
     * given back, and codecs of streams that have paused.  The plugin reads no clock of its own.
     * [worker] */
    void (*pool_tick)(terse_pool *pool, uint64_t now_ms);
    /* Counter index (from 0): a static name and its value.  The order is fixed for one build.
     * OK, or E_ARG past the end.  [worker] */
    terse_status (*pool_counter)(const terse_pool *pool, uint32_t index, const char **name,
                                 uint64_t *value);
    /* Lends a buffer of at least min bytes, kept warm by the pool (out->pos is 0).
     * E_NOMEM.  Owner: the pool; given back by pool_return.  [worker] */
    terse_status (*pool_lend)(terse_pool *pool, size_t min, terse_out *out);
    /* Takes back what pool_lend gave.  ptr NULL is fine.  [worker] */
    void (*pool_return)(terse_pool *pool, void *ptr);

    /* The request's headers are here.  Remembers what the client accepts; its decision has edits
     * of the request, if any.  Hosts run their hooks twice: a second call changes nothing.
     * E_ARG, E_TOOBIG, E_STATE; on failure: go on as if it had not been called.  [worker] */
    terse_status (*request)(terse_exchange *x, const terse_facts *facts, terse_decision *out);
    /* The response's headers are here.  Works also when request was not called.
     * E_ARG, E_TOOBIG, E_STATE: send the response as it is.  [worker] */
    terse_status (*decide)(terse_exchange *x, const terse_facts *facts, terse_decision *out);
    /* After PEEK: the first bytes of the body.  how: 0 there are more, 1 they are all,
     * 2 the source has paused.  Never answers PEEK when how is not 0.
     * As decide; E_STATE when PEEK was not the answer.  [worker] */
    terse_status (*decide_more)(terse_exchange *x, const terse_facts *facts, terse_str bytes,
                                int32_t how, terse_decision *out);
    /* After WHOLE: codes a body in one call.  When it did not shrink, or the codec failed,
     * out->coding is NULL, and the body leaves as identity, with out's edits.  Never answers
     * anything but PASS.
     * *coded: the coded body, when out->coding is set.  Owner: the pool; valid until its next call.
     * E_ARG, E_STATE: send the response as it is.  [worker] */
    terse_status (*encode_whole)(terse_exchange *x, const terse_facts *facts, terse_str body,
                                 terse_str *coded, terse_decision *out);
    /* The exchange is over; gives back its stream.  out may be NULL.  A second call, or one for an
     * exchange that was never used, changes nothing and counts nothing.  [worker] */
    void (*exchange_end)(terse_exchange *x, int32_t how, terse_outcome *out);

    /* Borrows an encoder or decoder from the pool, set up and clean.  For an exchange whose
     * decision was STREAM or UNCODE: hands over the stream that the decision has set up already;
     * spec's exchange is all that counts then, and it does not fail.
     * E_ARG, E_TOOBIG, E_CODING, E_NOMEM, E_STATE (policy not sealed): nothing was changed.
     * Owner: the pool; given back by stream_free, or by exchange_end of spec->exchange.  [worker] */
    terse_status (*stream_open)(terse_pool *pool, const terse_spec *spec, terse_stream **out);
    /* Moves bytes.  OK: all input was taken and the operation is complete.  MORE: output room ran
     * out, the same operation is to be called again (with the rest of the input).  END: an answer
     * to FINISH alone: the coded body is complete; of a decoder, that it was whole, for until then
     * another gzip member, zstd frame or a byte that does not belong there may follow.
     * E_BROKEN (encoder), E_DATA, E_LIMIT, E_NOMEM (decoder): the stream is of no more use.
     * A stream with decoders takes at most 64 KB and gives at most 256 KB in one call; MORE may
     * then come when nothing was moved.  What the coded bytes are is not promised: they differ between versions and settings.
     * report may be NULL.  Never blocks.  [worker] */
    terse_status (*stream_run)(terse_stream *stream, int32_t operation, terse_in *in,
                               terse_out *out, terse_report *report);
    /* Gives a stream back, at any point of its life.  NULL is fine.  [worker] */
    void (*stream_free)(terse_stream *stream);

    /* After UNCODE: how the decoding of the request's body went.  status: the last one of
     * stream_run, END when the body is whole, or E_BROKEN when it did not come in full; length: of
     * the decoded body.  Its decision is PASS, with edits of the request and the length that the
     * body has now, or REPLY.  Gives the stream back.
     * E_ARG, E_TOOBIG; E_STATE when UNCODE was not the answer: refuse the request.  [worker] */
    terse_status (*request_body)(terse_exchange *x, const terse_facts *facts, terse_status status,
                                 uint64_t length, terse_decision *out);
    /* ---- 1.0 ends here ---- */
} terse_api;
#define TERSE_API_SIZE_V0 TERSE_OFFSETOFEND(terse_api, stream_free)

/* caps: none is defined yet. */

typedef const terse_api *(*terse_entry_fn)(uint32_t abi_major);
#define TERSE_ENTRY_NAME "terse_plugin_entry"

#ifdef TERSE_BUILDING_PLUGIN
#if defined(__GNUC__)
__attribute__((visibility("default")))
#endif
const terse_api *
terse_plugin_entry(uint32_t abi_major);
#endif

#ifdef __cplusplus
}
#endif

#endif
