/* SPDX-License-Identifier: MIT */
#include "instance.h"

#include <stdlib.h>
#include <string.h>

#include "build.h"
#include "codec.h"
#include "errno_keep.h"
#include "measure.h"
#include "plugin_config.h"
#include "policy.h"
#include "take.h"
#include "text.h"

static terse_status measure_streams(terse_instance *instance)
{
    terse_policy *policy;
    terse_status status = policy_new(instance, &policy);

    if (status < 0)
        return status;
    status = policy_seal(policy, NULL, 0);
    for (int coding = 0; coding < CODING_COUNT && status >= 0; coding++) {
        size_t bytes = 0;

        if (!coding_built(coding))
            continue;
        status = measure_stream(instance, policy, coding, &bytes);
        text_why(instance->stream_bytes[coding], sizeof instance->stream_bytes[coding], "%zu",
                 bytes);
    }
    policy_unref(policy);
    return status < 0 ? status : TERSE_OK;
}

terse_status instance_open(const terse_host *host, terse_instance **out, char *why, size_t why_len)
{
    terse_instance *instance;
    terse_status status;
    int saved = errno;

    if (!out)
        return TERSE_E_ARG;
    status = libraries_check(why, why_len);
    if (status < 0)
        return status;
    instance = calloc(1, sizeof *instance);
    errno_keep(saved);
    if (!instance) {
        text_why(why, why_len, "no memory");
        return TERSE_E_NOMEM;
    }
    instance->n_libraries = libraries_list(instance->libraries);
    status = take(&instance->host, sizeof instance->host, TERSE_HOST_SIZE_V0, host);
    if (status < 0)
        text_why(why, why_len, "the host's table is not one of this ABI");
    else if ((status = measure_streams(instance)) < 0)
        text_why(why, why_len, "a codec could not be set up");
    if (status < 0) {
        free(instance);
        return status;
    }
    *out = instance;
    return TERSE_OK;
}

void instance_close(terse_instance *instance)
{
    free(instance);
}

static terse_str text_of(const char *nul_terminated)
{
    return (terse_str){nul_terminated, strlen(nul_terminated)};
}

/* Pairs: plugin, build, one for each library, one for each coding's stream. */
terse_status instance_info(const terse_instance *instance, uint32_t index, terse_str *name,
                           terse_str *value)
{
    static const char *const stream_names[CODING_COUNT] = {[CODING_GZIP] = "stream bytes gzip",
                                                           [CODING_BR] = "stream bytes br",
                                                           [CODING_ZSTD] = "stream bytes zstd",
                                                           [CODING_DEFLATE] =
                                                               "stream bytes deflate"};

    if (!instance || !name || !value)
        return TERSE_E_ARG;
    if (index < 2) {
        *name = index ? STR("build") : STR("plugin");
        *value = text_of(index ? TERSE_BUILD : TERSE_VERSION);
        return TERSE_OK;
    }
    index -= 2;
    if (index < instance->n_libraries) {
        *name = text_of(instance->libraries[index].name);
        *value = text_of(instance->libraries[index].version);
        return TERSE_OK;
    }
    index -= instance->n_libraries;
    for (int coding = 0; coding < CODING_COUNT; coding++)
        if (coding_built(coding) && index-- == 0) {
            *name = text_of(stream_names[coding]);
            *value = text_of(instance->stream_bytes[coding]);
            return TERSE_OK;
        }
    return TERSE_E_ARG;
}
