/* SPDX-License-Identifier: MIT */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "report.h"
#include "say.h"

#define WEIGHTS_MAX 32

static void print_line(const char *head, const char *text)
{
    printf("%-11s", head);
    print_text(stdout, (terse_str){text, strlen(text)});
    putchar('\n');
}

static const char *body_words(int action, bool seen, bool coded)
{
    switch (action) {
    case TERSE_PASS:
        return "left as it is";
    case TERSE_WHOLE:
        return seen ? "taken whole" : "taken whole (here a made-up text; --file takes a real one)";
    case TERSE_PEEK:
        return "not decided yet";
    case TERSE_STREAM:
        return coded ? "coded piece by piece" : "decoded piece by piece";
    case TERSE_NO_BODY:
        return "dropped";
    case TERSE_REPLY:
        return "never asked for: this answer stands in for it";
    default:
        return "left as it is, the plugin asked for something newer";
    }
}

static void print_size(int64_t length)
{
    if (length < 0)
        fputs("not known", stdout);
    else
        printf("%" PRId64 " bytes", length);
}

static void print_length(const struct message *m, const struct outcome *out)
{
    const terse_decision *d = &out->decision;
    bool ran = (d->coding || out->action == TERSE_STREAM) && out->account.bytes_out > 0;

    fputs("length     ", stdout);
    print_size(m->length);
    if (ran && m->body)
        printf(" -> %" PRIu64 " bytes (%.1f %%)", out->account.bytes_out,
               100.0 * (double)out->account.bytes_out / (double)m->body_len);
    else if (d->length >= 0 && !ran)
        printf(" -> %" PRId64 " bytes", d->length);
    if (d->length == TERSE_LENGTH_UNKNOWN)
        fputs(", sent without Content-Length", stdout);
    putchar('\n');
}

static bool has_word(const char *words, terse_str word)
{
    for (size_t n; *words; words += n + (words[n] == ' ')) {
        n = strcspn(words, " ");
        if (n == word.len && memcmp(words, word.ptr, n) == 0)
            return true;
    }
    return false;
}

/* The rule of that number, or the one that edits that field; NULL when the plugin has none. */
static const terse_rule *find_rule(const struct session *s, uint32_t number, terse_str field)
{
    const terse_rules *rules = s->plugin.api->query(TERSE_QUERY_RULES);
    for (uint32_t i = 0; rules && i < rules->count; i++) {
        const terse_rule *rule = rules->at(i);
        if (rule->struct_size < TERSE_OFFSETOFEND(terse_rule, fields))
            return NULL;
        if (number ? rule->number == number : has_word(rule->fields, field))
            return rule;
    }
    return NULL;
}

static uint32_t rule_of_reason(const struct session *s, uint32_t number)
{
    const terse_reasons *reasons = s->plugin.api->query(TERSE_QUERY_REASONS);
    for (uint32_t i = 0; reasons && i < reasons->count; i++) {
        const terse_reason *reason = reasons->at(i);
        if (reason->number == number)
            return TERSE_HAS(reason, terse_reason, rule) ? reason->rule : 0;
    }
    return 0;
}

static void print_rule(const struct session *s, uint32_t reason)
{
    uint32_t number = rule_of_reason(s, reason);
    const terse_rule *rule = number ? find_rule(s, number, (terse_str){"", 0}) : NULL;
    if (rule)
        printf("rule       R%02u %s\n", (unsigned)number, rule->title);
}

static void print_edits(const struct session *s, const terse_edit *edits, unsigned count)
{
    static const char *const words[] = {"?", "set", "add", "remove"};
    static const char *const sides[] = {"request", "response", "trailers"};
    for (unsigned i = 0; i < count; i++) {
        int32_t op = edits[i].op, side = edits[i].side;
        const terse_rule *rule = find_rule(s, 0, edits[i].name);
        char head[16] = "edit";
        if (rule)
            snprintf(head, sizeof head, "edit R%02u", (unsigned)rule->number);
        printf("%-11s%s: %s ", head, sides[side >= 0 && side <= 2 ? side : 1],
               words[op >= 1 && op <= 3 ? op : 0]);
        print_text(stdout, edits[i].name);
        if (op != TERSE_EDIT_REMOVE) {
            fputs(": ", stdout);
            print_text(stdout, edits[i].value);
        }
        putchar('\n');
    }
}

void report_print(const struct session *s, const struct message *m, const struct outcome *out)
{
    const terse_decision *d = &out->decision;
    print_line("coding", d->coding ? d->coding : "identity");
    print_line("reason", d->reason_name ? d->reason_name : "-");
    if (d->reason_text)
        print_line("", d->reason_text);
    print_rule(s, d->reason);
    if (d->status)
        printf("status     %u\n", (unsigned)d->status);
    if (out->uncoded)
        print_line("request", "its body is decoded before it is handled");
    print_line("body", body_words(out->action, m->body != NULL, d->coding != NULL));
    print_length(m, out);
    print_edits(s, out->request_edits, out->n_request_edits);
    print_edits(s, out->response_edits, out->n_response_edits);
}

static const char *source_words(int32_t source)
{
    switch (source) {
    case TERSE_WEIGHT_ABSENT:
        return "not named";
    case TERSE_WEIGHT_NAMED:
        return "named";
    case TERSE_WEIGHT_WILDCARD:
        return "covered by *";
    case TERSE_WEIGHT_MALFORMED:
        return "refused: its weight is malformed";
    default:
        return "?";
    }
}

static void print_weight(const terse_weight *w, uint32_t flags)
{
    bool named = w->source != TERSE_WEIGHT_ABSENT;
    printf("weight     %-9s ", w->coding);
    if (named)
        printf("%d.%03d  ", (int)w->milli / 1000, (int)w->milli % 1000);
    else
        fputs("-      ", stdout);
    fputs(source_words(w->source), stdout);
    if (!named && strcmp(w->coding, "identity") == 0 && !(flags & TERSE_CHOICE_NO_IDENTITY))
        fputs(", but acceptable", stdout);
    putchar('\n');
}

int report_weights(const struct session *s, const struct headers *headers)
{
    static const char name[] = "accept-encoding";
    terse_str fields[HEADERS_MAX];
    terse_weight weights[WEIGHTS_MAX];
    terse_choice choice = {
        .struct_size = sizeof choice, .weights = weights, .weights_cap = WEIGHTS_MAX};
    uint32_t n = 0;

    while (headers_find((void *)(uintptr_t)headers, TERSE_REQUEST, name, sizeof name - 1, n,
                        &fields[n]))
        n++;
    terse_status status =
        s->plugin.api->negotiate(s->plugin.api->negotiator(s->policy), fields, n, &choice);
    if (status < 0)
        return complain("negotiate: %s", status_words(status));
    for (uint32_t i = 0; i < choice.n_weights && i < WEIGHTS_MAX; i++)
        print_weight(&weights[i], choice.flags);
    if (choice.flags & TERSE_CHOICE_NOTHING)
        print_line("", "nothing on offer is acceptable");
    return 0;
}
