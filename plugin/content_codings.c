/* SPDX-License-Identifier: MIT */
#include "content_codings.h"

#include <string.h>

#include "coding.h"
#include "edits.h"
#include "view.h"

bool content_codings_read(const terse_facts *f, int32_t side, unsigned most, int codings[CHAIN_MAX],
                          unsigned *n)
{
    terse_str line, member;

    *n = 0;
    for (uint32_t nth = 0; VIEW_LINE(f, side, "content-encoding", nth, &line); nth++)
        while (text_next_member(&line, &member)) {
            int coding = coding_from_name(member.ptr, member.len);

            if (coding == CODING_IDENTITY)
                continue;
            if (coding == CODING_NONE || !coding_built(coding) || *n == most)
                return false;
            codings[(*n)++] = coding;
        }
    return true;
}

bool content_codings_list(struct edits *e, const int *codings, unsigned n, terse_str *list)
{
    terse_str pieces[2 * (CODING_COUNT + 1)];
    size_t count = 0;

    for (unsigned i = 0; i < n; i++) {
        const char *name = coding_name(codings[i]);

        if (count)
            pieces[count++] = STR(", ");
        pieces[count++] = (terse_str){name, strlen(name)};
    }
    return edits_join(e, pieces, count, list);
}
