/* SPDX-License-Identifier: MIT */
/* terse compress, terse decompress: a stream of the plugin, from one descriptor to another. */
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "command.h"
#include "say.h"
#include "session.h"

#define BUFFER_BYTES (128 * 1024)

struct state {
    struct session_args session;
    const char *coding;
};

struct conversion {
    struct session s;
    terse_stream *stream;
    int32_t direction;
    int from, to;
    const char *from_name, *to_name;
    bool made;               /* the output file is ours to remove */
    terse_out input, output; /* two of the pool's buffers */
};

static int take_coding(void *state, const char *value)
{
    ((struct state *)state)->coding = value;
    return 0;
}

static const struct arg args[] = {
    {"coding", 'c', "NAME", "the content coding, as in Content-Encoding", take_coding},
    {NULL, 0, NULL, NULL, NULL},
};

static int fail(const char *name)
{
    return complain("%s: %s", name, strerror(errno));
}

static int open_input(struct conversion *c, const char *name)
{
    c->from = STDIN_FILENO;
    c->from_name = "standard input";
    if (!name || strcmp(name, "-") == 0)
        return 0;
    c->from_name = name;
    c->from = open(name, O_RDONLY | O_CLOEXEC);
    return c->from < 0 ? fail(name) : 0;
}

/* Never over a file that is there; a pipe or a device is fine. */
static int open_output(struct conversion *c, const char *name)
{
    struct stat st;
    c->to = STDOUT_FILENO;
    c->to_name = "standard output";
    if (!name || strcmp(name, "-") == 0) {
        if (c->direction == TERSE_ENCODE && isatty(c->to))
            return complain("coded bytes are not written to a terminal");
        return 0;
    }
    c->to_name = name;
    c->to = open(name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    c->made = c->to >= 0;
    if (c->to < 0 && errno == EEXIST && stat(name, &st) == 0 && !S_ISREG(st.st_mode))
        c->to = open(name, O_WRONLY | O_CLOEXEC);
    return c->to < 0 ? fail(name) : 0;
}

static int write_output(struct conversion *c)
{
    const char *from = c->output.ptr;
    size_t left = c->output.pos;
    while (left > 0) {
        ssize_t n = write(c->to, from, left);
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return fail(c->to_name);
        from += n;
        left -= (size_t)n;
    }
    c->output.pos = 0;
    return 0;
}

/* The next bytes of the input; none at its end. */
static int read_input(struct conversion *c, terse_in *in)
{
    ssize_t n;
    do {
        n = read(c->from, c->input.ptr, c->input.len);
    } while (n < 0 && errno == EINTR);
    if (n < 0)
        return fail(c->from_name);
    *in = (terse_in){c->input.ptr, (size_t)n, 0};
    return 0;
}

/* Runs one operation to its end, writing what comes. */
static terse_status run(struct conversion *c, int32_t operation, terse_in *in)
{
    terse_status status;
    do {
        status = c->s.plugin.api->stream_run(c->stream, operation, in, &c->output, NULL);
        if (write_output(c) != 0)
            return TERSE_E_BROKEN;
    } while (status == TERSE_MORE);
    if (status < 0)
        complain("%s: %s", c->from_name, status_words(status));
    return status;
}

static int check_end(struct conversion *c, const terse_in *in)
{
    terse_in more = *in;
    if (in->pos == in->len && read_input(c, &more) != 0)
        return -1;
    if (more.pos < more.len)
        return complain("%s: more bytes follow after the end of the coded ones", c->from_name);
    return 0;
}

static int convert(struct conversion *c)
{
    terse_status status = TERSE_OK;
    terse_in in;
    do {
        if (read_input(c, &in) != 0)
            return -1;
        status = run(c, in.len > 0 ? TERSE_RUN : TERSE_FINISH, &in);
        if (status < 0)
            return -1;
    } while (status != TERSE_END && in.len > 0);
    if (status != TERSE_END)
        return complain("%s: it does not end", c->from_name);
    return check_end(c, &in);
}

static int open_stream(struct conversion *c, const char *coding)
{
    const terse_api *api = c->s.plugin.api;
    struct stat st;
    terse_spec spec = {.struct_size = sizeof spec,
                       .direction = c->direction,
                       .policy = c->s.policy,
                       .coding = {coding, strlen(coding)},
                       .length = -1};
    if (fstat(c->from, &st) == 0 && S_ISREG(st.st_mode))
        spec.length = st.st_size;
    terse_status status = api->pool_lend(c->s.pool, BUFFER_BYTES, &c->input);
    if (status >= 0)
        status = api->pool_lend(c->s.pool, BUFFER_BYTES, &c->output);
    if (status >= 0)
        status = api->stream_open(c->s.pool, &spec, &c->stream);
    if (status < 0) {
        c->stream = NULL;
        return complain("%s: %s", coding, status_words(status));
    }
    return 0;
}

static void end(struct conversion *c, int result)
{
    const terse_api *api = c->s.plugin.api;
    if (api && c->s.pool) {
        api->stream_free(c->stream);
        api->pool_return(c->s.pool, c->input.ptr);
        api->pool_return(c->s.pool, c->output.ptr);
    }
    session_close(&c->s);
    if (c->made && result != 0)
        unlink(c->to_name);
}

static int command(const struct usage *usage, int32_t direction, int argc, char **argv)
{
    /* the limit of a server's worker is not one for a file */
    struct state state = {.session = {.settings = {{"?pool.memory=64g", NULL}}, .n_settings = 1}};
    struct conversion c = {.direction = direction, .from = -1, .to = -1};
    enum args_result parsed = args_parse(usage, &state, &argc, argv);
    if (parsed != ARGS_RUN)
        return parsed == ARGS_HELP ? EXIT_FINE : EXIT_USAGE;
    if (!state.coding) {
        complain("%s: which --coding?", usage->command);
        return EXIT_USAGE;
    }
    int result = session_open(&c.s, &state.session);
    if (result == 0)
        result = open_input(&c, argc > 0 ? argv[0] : NULL);
    if (result == 0)
        result = open_stream(&c, state.coding);
    if (result == 0)
        result = open_output(&c, argc > 1 ? argv[1] : NULL);
    if (result == 0)
        result = convert(&c);
    if (result == 0 && c.made && close(c.to) != 0)
        result = fail(c.to_name);
    end(&c, result);
    return result == 0 ? EXIT_FINE : EXIT_REFUSED;
}

int command_compress(int argc, char **argv)
{
    static const struct usage usage = {
        .command = "compress",
        .operands = "[IN [OUT]]",
        .summary = "Brings IN (standard input) into a content coding and writes OUT (standard\n"
                   "output), which must not be there yet.",
        .args = {args, session_settings_args, session_plugin_arg},
        .operands_max = 2,
    };
    return command(&usage, TERSE_ENCODE, argc, argv);
}

int command_decompress(int argc, char **argv)
{
    static const struct usage usage = {
        .command = "decompress",
        .operands = "[IN [OUT]]",
        .summary = "Takes IN (standard input) out of its content coding and writes OUT (standard\n"
                   "output), which must not be there yet.",
        .args = {args, session_settings_args, session_plugin_arg},
        .operands_max = 2,
    };
    return command(&usage, TERSE_DECODE, argc, argv);
}
