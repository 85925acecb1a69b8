/* SPDX-License-Identifier: MIT */
/* What a compiled shim or plugin has built in: the place and the type of each member, the sizes of
 * the floor, each number.  A line here changes only together with the ABI's major; a new slot or
 * member gets a new line.  Offsets are those of a 64-bit machine, the rest holds on all. */
#include <terse.h>

#if UINTPTR_MAX == UINT64_MAX
#define AT(T, m, offset) (offsetof(T, m) == (offset))
#define SIZED(T, size) (sizeof(T) == (size))
#define NUMBER_LP64(name, value) _Static_assert((name) == (value), #name " changed its value")
#else
#define AT(T, m, offset) 1
#define SIZED(T, size) 1
#define NUMBER_LP64(name, value) _Static_assert((name) > 0, #name)
#endif

#define TYPED(T, m, ...)                                                                           \
    _Static_assert(_Generic(((T *)0)->m, __VA_ARGS__ : 1, default : 0),                            \
                   #T "." #m " changed its type")
#define FIRST(T, m, ...)                                                                           \
    _Static_assert(offsetof(T, m) == 0, #T "." #m " is not the first member");                     \
    TYPED(T, m, __VA_ARGS__)
#define NEXT(T, before, m, offset, ...)                                                            \
    _Static_assert(AT(T, m, offset), #T "." #m " moved");                                          \
    _Static_assert(offsetof(T, m) == TERSE_OFFSETOFEND(T, before),                                 \
                   #T "." #m " does not follow " #before " without a gap");                        \
    TYPED(T, m, __VA_ARGS__)
#define LAST(T, m, size)                                                                           \
    _Static_assert(SIZED(T, size), #T " changed its size");                                        \
    _Static_assert(sizeof(T) == TERSE_OFFSETOFEND(T, m), #T " does not end with " #m)
#define NUMBER(name, value) _Static_assert((name) == (value), #name " changed its value")

/* clang-format off */
FIRST(terse_str, ptr, const char *);
NEXT(terse_str, ptr, len, 8, size_t);
LAST(terse_str, len, 16);

FIRST(terse_in, ptr, const void *);
NEXT(terse_in, ptr, len, 8, size_t);
NEXT(terse_in, len, pos, 16, size_t);
LAST(terse_in, pos, 24);

FIRST(terse_out, ptr, void *);
NEXT(terse_out, ptr, len, 8, size_t);
NEXT(terse_out, len, pos, 16, size_t);
LAST(terse_out, pos, 24);

FIRST(terse_edit, op, int32_t);
NEXT(terse_edit, op, side, 4, int32_t);
NEXT(terse_edit, side, name, 8, terse_str);
NEXT(terse_edit, name, value, 24, terse_str);
LAST(terse_edit, value, 40);

FIRST(terse_weight, coding, const char *);
NEXT(terse_weight, coding, milli, 8, int32_t);
NEXT(terse_weight, milli, source, 12, int32_t);
LAST(terse_weight, source, 16);

FIRST(terse_host, struct_size, uint32_t);
NEXT(terse_host, struct_size, reserved0, 4, uint32_t);
NEXT(terse_host, reserved0, data, 8, void *);
NEXT(terse_host, data, log, 16, void (*)(void *, int32_t, const char *, size_t));
NEXT(terse_host, log, query, 24, const void *(*)(void *, const char *));
LAST(terse_host, query, 32);

FIRST(terse_facts, struct_size, uint32_t);
NEXT(terse_facts, struct_size, flags, 4, uint32_t);
NEXT(terse_facts, flags, policy, 8, const terse_policy *);
NEXT(terse_facts, policy, pool, 16, terse_pool *);
NEXT(terse_facts, pool, header, 24, terse_header_fn);
NEXT(terse_facts, header, header_ctx, 32, void *);
NEXT(terse_facts, header_ctx, method, 40, terse_str);
NEXT(terse_facts, method, http_version, 56, uint32_t);
NEXT(terse_facts, http_version, status, 60, uint32_t);
NEXT(terse_facts, status, length, 64, int64_t);
NEXT(terse_facts, length, body_limit, 72, uint64_t);
LAST(terse_facts, body_limit, 80);

FIRST(terse_decision, struct_size, uint32_t);
NEXT(terse_decision, struct_size, action, 4, int32_t);
NEXT(terse_decision, action, reason, 8, uint32_t);
NEXT(terse_decision, reason, status, 12, uint32_t);
NEXT(terse_decision, status, length, 16, int64_t);
NEXT(terse_decision, length, need, 24, uint64_t);
NEXT(terse_decision, need, piece, 32, uint64_t);
NEXT(terse_decision, piece, coding, 40, const char *);
NEXT(terse_decision, coding, reason_name, 48, const char *);
NEXT(terse_decision, reason_name, reason_text, 56, const char *);
NEXT(terse_decision, reason_text, edits, 64, const terse_edit *);
NEXT(terse_decision, edits, n_edits, 72, uint32_t);
NEXT(terse_decision, n_edits, hold_ms, 76, uint32_t);
NEXT(terse_decision, hold_ms, body, 80, terse_str);
LAST(terse_decision, body, 96);

FIRST(terse_spec, struct_size, uint32_t);
NEXT(terse_spec, struct_size, direction, 4, int32_t);
NEXT(terse_spec, direction, policy, 8, const terse_policy *);
NEXT(terse_spec, policy, exchange, 16, terse_exchange *);
NEXT(terse_spec, exchange, coding, 24, terse_str);
NEXT(terse_spec, coding, length, 40, int64_t);
LAST(terse_spec, length, 48);

FIRST(terse_report, struct_size, uint32_t);
NEXT(terse_report, struct_size, flush_ms, 4, uint32_t);
NEXT(terse_report, flush_ms, unflushed, 8, uint64_t);
LAST(terse_report, unflushed, 16);

FIRST(terse_outcome, struct_size, uint32_t);
NEXT(terse_outcome, struct_size, reason, 4, uint32_t);
NEXT(terse_outcome, reason, coding, 8, const char *);
NEXT(terse_outcome, coding, reason_name, 16, const char *);
NEXT(terse_outcome, reason_name, bytes_in, 24, uint64_t);
NEXT(terse_outcome, bytes_in, bytes_out, 32, uint64_t);
LAST(terse_outcome, bytes_out, 40);

FIRST(terse_choice, struct_size, uint32_t);
NEXT(terse_choice, struct_size, flags, 4, uint32_t);
NEXT(terse_choice, flags, coding, 8, const char *);
NEXT(terse_choice, coding, weights, 16, terse_weight *);
NEXT(terse_choice, weights, weights_cap, 24, uint32_t);
NEXT(terse_choice, weights_cap, n_weights, 28, uint32_t);
LAST(terse_choice, n_weights, 32);

FIRST(terse_key, struct_size, uint32_t);
NEXT(terse_key, struct_size, reserved0, 4, uint32_t);
NEXT(terse_key, reserved0, key, 8, const char *);
NEXT(terse_key, key, type, 16, const char *);
NEXT(terse_key, type, range, 24, const char *);
NEXT(terse_key, range, initial, 32, const char *);
NEXT(terse_key, initial, help, 40, const char *);
LAST(terse_key, help, 48);

FIRST(terse_keys, struct_size, uint32_t);
NEXT(terse_keys, struct_size, count, 4, uint32_t);
NEXT(terse_keys, count, at, 8, const terse_key *(*)(uint32_t));
LAST(terse_keys, at, 16);

FIRST(terse_reason, struct_size, uint32_t);
NEXT(terse_reason, struct_size, number, 4, uint32_t);
NEXT(terse_reason, number, name, 8, const char *);
NEXT(terse_reason, name, sentence, 16, const char *);
NEXT(terse_reason, sentence, rule, 24, uint32_t);
NEXT(terse_reason, rule, reserved0, 28, uint32_t);
LAST(terse_reason, reserved0, 32);

FIRST(terse_reasons, struct_size, uint32_t);
NEXT(terse_reasons, struct_size, count, 4, uint32_t);
NEXT(terse_reasons, count, at, 8, const terse_reason *(*)(uint32_t));
LAST(terse_reasons, at, 16);

FIRST(terse_rule, struct_size, uint32_t);
NEXT(terse_rule, struct_size, number, 4, uint32_t);
NEXT(terse_rule, number, title, 8, const char *);
NEXT(terse_rule, title, fields, 16, const char *);
LAST(terse_rule, fields, 24);

FIRST(terse_rules, struct_size, uint32_t);
NEXT(terse_rules, struct_size, count, 4, uint32_t);
NEXT(terse_rules, count, at, 8, const terse_rule *(*)(uint32_t));
LAST(terse_rules, at, 16);

FIRST(terse_api, struct_size, uint32_t);
NEXT(terse_api, struct_size, abi_major, 4, uint16_t);
NEXT(terse_api, abi_major, abi_minor, 6, uint16_t);
NEXT(terse_api, abi_minor, caps, 8, uint32_t);
NEXT(terse_api, caps, exchange_size, 12, uint32_t);
NEXT(terse_api, exchange_size, version, 16, const char *);
NEXT(terse_api, version, build, 24, const char *);
NEXT(terse_api, build, query, 32, const void *(*)(const char *));
NEXT(terse_api, query, open, 40, 
     terse_status (*)(const terse_host *, terse_instance **, char *, size_t));
NEXT(terse_api, open, close, 48, void (*)(terse_instance *));
NEXT(terse_api, close, info, 56, 
     terse_status (*)(const terse_instance *, uint32_t, terse_str *, terse_str *));
NEXT(terse_api, info, self_test, 64, 
     terse_status (*)(terse_instance *, const terse_policy *, char *, size_t));
NEXT(terse_api, self_test, policy_new, 72, terse_status (*)(terse_instance *, terse_policy **));
NEXT(terse_api, policy_new, policy_set, 80, 
     terse_status (*)(terse_policy *, terse_str, terse_str, char *, size_t));
NEXT(terse_api, policy_set, policy_seal, 88, terse_status (*)(terse_policy *, char *, size_t));
NEXT(terse_api, policy_seal, policy_derive, 96, 
     terse_status (*)(const terse_policy *, const terse_policy *const *, size_t, terse_policy **));
NEXT(terse_api, policy_derive, policy_ref, 104, void (*)(const terse_policy *));
NEXT(terse_api, policy_ref, policy_unref, 112, void (*)(const terse_policy *));
NEXT(terse_api, policy_unref, negotiator, 120, const terse_negotiator *(*)(const terse_policy *));
NEXT(terse_api, negotiator, negotiate, 128, 
     terse_status (*)(const terse_negotiator *, const terse_str *, size_t, terse_choice *));
NEXT(terse_api, negotiate, pool_new, 136, 
     terse_status (*)(terse_instance *, const terse_policy *, terse_pool **));
NEXT(terse_api, pool_new, pool_free, 144, void (*)(terse_pool *));
NEXT(terse_api, pool_free, pool_tick, 152, void (*)(terse_pool *, uint64_t));
NEXT(terse_api, pool_tick, pool_counter, 160, 
     terse_status (*)(const terse_pool *, uint32_t, const char **, uint64_t *));
NEXT(terse_api, pool_counter, pool_lend, 168, terse_status (*)(terse_pool *, size_t, terse_out *));
NEXT(terse_api, pool_lend, pool_return, 176, void (*)(terse_pool *, void *));
NEXT(terse_api, pool_return, request, 184, 
     terse_status (*)(terse_exchange *, const terse_facts *, terse_decision *));
NEXT(terse_api, request, decide, 192, 
     terse_status (*)(terse_exchange *, const terse_facts *, terse_decision *));
NEXT(terse_api, decide, decide_more, 200, 
     terse_status (*)(terse_exchange *, const terse_facts *, terse_str, int32_t, terse_decision *));
NEXT(terse_api, decide_more, encode_whole, 208, 
     terse_status (*)(terse_exchange *, const terse_facts *, terse_str, terse_str *,
                      terse_decision *));
NEXT(terse_api, encode_whole, exchange_end, 216, 
     void (*)(terse_exchange *, int32_t, terse_outcome *));
NEXT(terse_api, exchange_end, stream_open, 224, 
     terse_status (*)(terse_pool *, const terse_spec *, terse_stream **));
NEXT(terse_api, stream_open, stream_run, 232, 
     terse_status (*)(terse_stream *, int32_t, terse_in *, terse_out *, terse_report *));
NEXT(terse_api, stream_run, stream_free, 240, void (*)(terse_stream *));
NEXT(terse_api, stream_free, request_body, 248, 
     terse_status (*)(terse_exchange *, const terse_facts *, terse_status, uint64_t,
                      terse_decision *));
LAST(terse_api, request_body, 256);

TYPED(terse_facts, header,
      int32_t (*)(void *, int32_t, const char *, size_t, uint32_t, terse_str *));
_Static_assert(_Generic((terse_entry_fn)0, const terse_api *(*)(uint32_t): 1, default: 0),
               "terse_entry_fn changed its type");
_Static_assert(_Generic((terse_status)0, int32_t: 1, default: 0), "terse_status changed its type");

NUMBER_LP64(TERSE_HOST_SIZE_V0, 32);
NUMBER_LP64(TERSE_FACTS_SIZE_V0, 72);
NUMBER_LP64(TERSE_DECISION_SIZE_V0, 80);
NUMBER_LP64(TERSE_SPEC_SIZE_V0, 48);
NUMBER_LP64(TERSE_REPORT_SIZE_V0, 16);
NUMBER_LP64(TERSE_OUTCOME_SIZE_V0, 40);
NUMBER_LP64(TERSE_CHOICE_SIZE_V0, 32);
NUMBER_LP64(TERSE_API_SIZE_V0, 248);

NUMBER(TERSE_ABI_MAJOR, 1);
NUMBER(TERSE_ABI_MINOR, 0);
NUMBER(TERSE_OK, 0);
NUMBER(TERSE_MORE, 1);
NUMBER(TERSE_END, 2);
NUMBER(TERSE_E_ARG, -1);
NUMBER(TERSE_E_NOMEM, -2);
NUMBER(TERSE_E_TOOBIG, -3);
NUMBER(TERSE_E_KEY, -4);
NUMBER(TERSE_E_VALUE, -5);
NUMBER(TERSE_E_CODING, -6);
NUMBER(TERSE_E_STATE, -7);
NUMBER(TERSE_E_BROKEN, -8);
NUMBER(TERSE_E_DATA, -9);
NUMBER(TERSE_E_LIMIT, -10);
NUMBER(TERSE_E_LIBRARY, -11);
NUMBER(TERSE_EDIT_SET, 1);
NUMBER(TERSE_EDIT_ADD, 2);
NUMBER(TERSE_EDIT_REMOVE, 3);
NUMBER(TERSE_WEIGHT_ABSENT, 0);
NUMBER(TERSE_WEIGHT_NAMED, 1);
NUMBER(TERSE_WEIGHT_WILDCARD, 2);
NUMBER(TERSE_WEIGHT_MALFORMED, 3);
NUMBER(TERSE_LOG_ERROR, 0);
NUMBER(TERSE_LOG_WARNING, 1);
NUMBER(TERSE_LOG_INFO, 2);
NUMBER(TERSE_REQUEST, 0);
NUMBER(TERSE_RESPONSE, 1);
NUMBER(TERSE_TRAILER, 2);
NUMBER(TERSE_FACT_COMPLETE, 1);
NUMBER(TERSE_FACT_NO_ACCESS, 2);
NUMBER(TERSE_FACT_NO_STREAM, 4);
NUMBER(TERSE_PASS, 0);
NUMBER(TERSE_WHOLE, 1);
NUMBER(TERSE_PEEK, 2);
NUMBER(TERSE_STREAM, 3);
NUMBER(TERSE_NO_BODY, 4);
NUMBER(TERSE_REPLY, 5);
NUMBER(TERSE_UNCODE, 6);
NUMBER(TERSE_LENGTH_UNKNOWN, -1);
NUMBER(TERSE_LENGTH_KEEP, -2);
NUMBER(TERSE_ENCODE, 1);
NUMBER(TERSE_DECODE, 2);
NUMBER(TERSE_RUN, 0);
NUMBER(TERSE_FLUSH, 1);
NUMBER(TERSE_FINISH, 2);
NUMBER(TERSE_DONE, 0);
NUMBER(TERSE_ABORTED, 1);
NUMBER(TERSE_SOURCE_BROKE, 2);
NUMBER(TERSE_CHOICE_NO_IDENTITY, 1);
NUMBER(TERSE_CHOICE_NOTHING, 2);
/* clang-format on */
