/* SPDX-License-Identifier: MIT */
/*
 * cmd_flame.c -- `sprofile flame`: writes a profile as a page, and prints the
 * page's name. It opens the page on a desktop. Without -o the page is put
 * beside the first input: app.sprof and app.pb.gz become app.html. It then
 * replaces an older page of sprofile, but no other file.
 */
#include <errno.h>
#include <fcntl.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "model/idle.h"
#include "write/page.h"
#include "arguments.h"
#include "inputs.h"

/* A page of sprofile has MARK in its first MARK_WITHIN bytes. */
#define MARK "id=\"sprof-head\""
enum { MARK_WITHIN = 1 << 20 };

/* The values of the options. */
struct arguments {
    struct filter_options filter;
    const char *out; /* NULL: beside the input */
    bool has_source; /* the page shows lines of source */
};

/* The name for the page of PATH, which the caller frees. NULL if memory is
 * short. Standard input and pipes have no name. The name must not look like an
 * option of the program that opens the page. */
static char *
name_for(const char *path)
{
    static const char *const endings[] = {".sprof", ".pb.gz", ".pb", ".pprof",
                                          ".gz"};
    size_t length = strlen(path);
    if (inputs_is_stream(path))
        return strdup("sprofile.html");
    for (size_t i = 0; i < sizeof(endings) / sizeof(endings[0]); i++) {
        size_t ending = strlen(endings[i]);
        if (length > ending && path[length - ending - 1] != '/' &&
            strcmp(path + length - ending, endings[i]) == 0) {
            length -= ending;
            break;
        }
    }
    char *name;
    return asprintf(&name, "%s%.*s.html", path[0] == '-' ? "./" : "",
                    (int)length, path) < 0
               ? NULL
               : name;
}

/* Whether PATH may be replaced: it is free, or a page of sprofile. A pipe is
 * not opened, because fopen would wait for its other end. */
static bool
is_ours(const char *path)
{
    struct stat status;
    if (lstat(path, &status) != 0)
        return errno == ENOENT;
    FILE *file = S_ISREG(status.st_mode) ? fopen(path, "re") : NULL;
    if (file == NULL)
        return false;
    char *bytes = malloc(MARK_WITHIN);
    size_t length = bytes != NULL ? fread(bytes, 1, MARK_WITHIN, file) : 0;
    bool found =
        bytes != NULL && memmem(bytes, length, MARK, strlen(MARK)) != NULL;
    free(bytes);
    fclose(file);
    return found;
}

static bool
is_set(const char *variable)
{
    const char *value = getenv(variable);
    return value != NULL && value[0] != '\0';
}

/* Open PATH as the desktop does. xdg-open may stay as long as the browser, so
 * sprofile does not wait for it. */
static void
open_page(const char *path)
{
    char *const command[] = {(char *)"xdg-open", (char *)path, NULL};
    posix_spawn_file_actions_t files;
    posix_spawnattr_t attributes;
    pid_t pid;
    if (!isatty(STDOUT_FILENO) ||
        (!is_set("DISPLAY") && !is_set("WAYLAND_DISPLAY")))
        return;
    if (posix_spawn_file_actions_init(&files) != 0)
        return;
    if (posix_spawnattr_init(&attributes) == 0) {
        posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSID);
        for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++)
            posix_spawn_file_actions_addopen(&files, fd, "/dev/null", O_RDWR,
                                             0);
        int error = posix_spawnp(&pid, command[0], &files, &attributes, command,
                                 environ);
        if (error != 0)
            fprintf(stderr, "sprofile: not opened: xdg-open: %s\n",
                    strerror(error));
        posix_spawnattr_destroy(&attributes);
    }
    posix_spawn_file_actions_destroy(&files);
}

/* Write the page of PROFILE to OUT. */
static int
write_page(const struct arguments *arguments, struct profile *profile,
           const char *out)
{
    const struct page page = {
        .content = {page_make},
        .profile = profile,
        .has_source = arguments->has_source,
    };
    char error[4096 + 512];
    if (output_file_make(out, &page.content, error, sizeof(error)) != 0)
        return command_fail("%s", error);
    if (strcmp(out, "-") == 0)
        return STATUS_DONE;
    puts(out);
    fflush(stdout);
    open_page(out);
    return STATUS_DONE;
}

/* Load the files and write the page. The page and the status say whether
 * anything was left out. */
static int
make_page(const struct arguments *arguments, char *const *paths, int count,
          const char *out)
{
    struct profile *profile =
        inputs_load(&arguments->filter, paths, count, true);
    if (profile == NULL)
        return STATUS_FAILED;
    int status = arguments->filter.count == 0 && idle_find(profile) != 0
                     ? command_fail("%s", strerror(errno))
                     : write_page(arguments, profile, out);
    status = inputs_status(profile, status);
    profile_free(profile);
    return status;
}

static int
run_flame(void *values, char *const *paths, int count)
{
    const struct arguments *arguments = values;
    if (arguments->out != NULL)
        return make_page(arguments, paths, count, arguments->out);
    char *out = name_for(paths[0]);
    int status = STATUS_FAILED;
    if (out == NULL)
        command_fail("%s", strerror(ENOMEM));
    else if (!is_ours(out))
        command_fail("%s: it exists, and is no page of sprofile; expected -o "
                     "OUT.html",
                     out);
    else
        status = make_page(arguments, paths, count, out);
    free(out);
    return status;
}

/* Take -o. */
static int
take_out(const struct command_option *option, void *field, const char *value)
{
    const char **out = field;
    bool is_standard = strcmp(value, "-") == 0;
    if (*out != NULL)
        return command_usage("expected one -o OUT.html");
    if (!is_standard && format_of(value) != FORMAT_PAGE)
        return command_usage("-o %s: expected a name that ends with .html",
                             value);
    if (is_standard && isatty(STDOUT_FILENO))
        return command_usage("-o -: standard output is a terminal; expected a "
                             "file or a pipe");
    return arguments_text(option, field, value);
}

#define FIELD(member) .field = offsetof(struct arguments, member)

static const struct command_option options[] = {
    {"output", "OUT",
     "the page, a name that ends with .html (default: beside\n"
     "the first FILE); - is standard output",
     take_out, FIELD(out), .letter = 'o'},
    {"source", NULL,
     "with lines of the hottest functions, for those who\n"
     "may see them",
     arguments_flag, FIELD(has_source)},
    {0},
};

const struct command cmd_flame = {
    .name = "flame",
    .summary = "write a page with pictures: where the time went, and when",
    .usage = "[OPTION]... FILE...",
    .about = "Writes one HTML file that any browser opens, without a network: "
             "flame\n"
             "graph, table, tree and time line of one FILE, or of the sum of "
             "several.\n"
             "Prints its name, and opens it where there is a desktop.\n",
    .options = options,
    .group = {"Which samples", inputs_options},
    .least = 1,
    .operands = "a FILE",
    .size = sizeof(struct arguments),
    .run = run_flame,
    .release = inputs_release,
};
