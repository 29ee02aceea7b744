/* SPDX-License-Identifier: MIT */
/*
 * outputs.c -- see outputs.h. For a recording in app.sprof outputs_say_next
 * prints
 *
 *   next  sprofile report app.sprof
 *         sprofile convert app.sprof app.pb.gz
 *         go tool pprof app.pb.gz
 *
 * A shell accepts these lines: names are quoted where they need it, and the
 * command has the name by which it was called.
 */
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/formats.h"
#include "write/output_file.h"
#include "command.h"
#include "outputs.h"

/* Print TEXT as a word of a shell command (POSIX, Shell Command Language, 2.2),
 * in quotes only if it needs them. Within single quotes, every byte except a
 * single quote stands for itself. */
static void
print_word(FILE *stream, const char *text)
{
    static const char plain[] = "abcdefghijklmnopqrstuvwxyz"
                                "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_./+-:@%";
    if (text[0] != '\0' && text[strspn(text, plain)] == '\0') {
        fputs(text, stream);
        return;
    }
    fputc('\'', stream);
    for (; *text != '\0'; text++)
        if (*text == '\'')
            fputs("'\\''", stream);
        else
            fputc(*text, stream);
    fputc('\'', stream);
}

/* The name alone decides, so this is called before a program is run. */
int
outputs_refuse(const char *path)
{
    if (strcmp(path, "-") == 0)
        return command_usage("-: expected a file: standard output is that of "
                             "the program");
    return command_usage("%s: unknown ending, expected one of %s", path,
                         format_endings());
}

/* Add PATH, which malloc(3) made and OUTPUTS then owns, if it is a valid name.
 */
static int
add_one(struct outputs *outputs, char *path)
{
    char **more =
        realloc(outputs->paths, (outputs->count + 1) * sizeof(*outputs->paths));
    if (more != NULL)
        outputs->paths = more;
    if (more == NULL || path == NULL) {
        free(path);
        command_complain("%s", strerror(ENOMEM));
        return STATUS_USAGE;
    }
    int status = STATUS_DONE;
    if (path[0] == '\0')
        status = command_usage("-o: expected a name on each side of a comma");
    else if (format_of(path) == FORMAT_UNKNOWN)
        status = outputs_refuse(path);
    if (status == STATUS_DONE)
        outputs->paths[outputs->count++] = path;
    else
        free(path);
    return status;
}

int
outputs_add(struct outputs *outputs, const char *list)
{
    int status = STATUS_DONE;
    for (const char *comma; status == STATUS_DONE; list = comma + 1) {
        comma = strchrnul(list, ',');
        status = add_one(outputs, strndup(list, (size_t)(comma - list)));
        if (*comma == '\0')
            break;
    }
    return status;
}

bool
outputs_have_place(const struct outputs *outputs)
{
    for (size_t i = 0; i < outputs->count; i++) {
        const char *path = outputs->paths[i], *slash = strrchr(path, '/');
        char directory[PATH_MAX];
        snprintf(directory, sizeof(directory), "%.*s.",
                 slash != NULL ? (int)(slash - path) + 1 : 0, path);
        if (access(directory, W_OK | X_OK) == 0)
            continue;
        command_complain("cannot write beside %s: %s", path, strerror(errno));
        return false;
    }
    return true;
}

bool
outputs_need_events(const struct outputs *outputs)
{
    bool need = false;
    for (size_t i = 0; i < outputs->count; i++)
        need |= format_needs_events(format_of(outputs->paths[i]));
    return need;
}

int
outputs_write(struct outputs *outputs, struct profile *profile, bool wall)
{
    size_t written = 0, count = outputs->count;
    for (size_t i = 0; i < count; i++) {
        char *path = outputs->paths[i], error[4096 + 512];
        enum format format = format_of(path);
        if (wall)
            format = format_with_wall(format);
        if (output_file_write_as(path, format, profile, error, sizeof(error)) ==
            0) {
            outputs->paths[written++] = path;
        } else {
            command_fail("%s", error);
            free(path);
        }
    }
    outputs->count = written;
    return written == count ? 0 : -1;
}

/* The first file of FORMAT; NULL if none is. */
static const char *
first_of(const struct outputs *outputs, enum format format)
{
    for (size_t i = 0; i < outputs->count; i++)
        if (format_of(outputs->paths[i]) == format)
            return outputs->paths[i];
    return NULL;
}

/* Print the command that is running, NAME and PATH. */
static void
print_command(FILE *stream, const char *name, const char *path)
{
    print_word(stream, program_invocation_name);
    fprintf(stream, " %s ", name);
    print_word(stream, path);
}

/* Print the command that converts SPOOL to a file that `go tool pprof` reads.
 */
static void
print_convert(FILE *stream, const char *spool)
{
    size_t length = strlen(spool) - strlen(".sprof");
    char *pprof;
    if (asprintf(&pprof, "%.*s.pb.gz", (int)length, spool) < 0)
        return;
    print_command(stream, "convert", spool);
    fputc(' ', stream);
    print_word(stream, pprof);
    fputs("\n      go tool pprof ", stream);
    print_word(stream, pprof);
    free(pprof);
}

void
outputs_say_next(const struct outputs *outputs, FILE *stream)
{
    const char *spool = first_of(outputs, FORMAT_SPOOL);
    const char *pprof = first_of(outputs, FORMAT_PPROF);
    if (spool == NULL && pprof == NULL)
        return;
    fputs("next  ", stream);
    print_command(stream, "report", spool != NULL ? spool : pprof);
    fputs("\n      ", stream);
    if (pprof == NULL) {
        print_convert(stream, spool);
    } else {
        fputs("go tool pprof ", stream);
        print_word(stream, pprof);
    }
    fputc('\n', stream);
}

char *
outputs_names(const struct outputs *outputs)
{
    size_t size = 1;
    for (size_t i = 0; i < outputs->count; i++)
        size += strlen(outputs->paths[i]) + strlen(", ");
    char *names = calloc(size, 1);
    for (size_t i = 0; i < outputs->count && names != NULL; i++) {
        strcat(names, i > 0 ? ", " : "");
        strcat(names, outputs->paths[i]);
    }
    return names;
}

void
outputs_release(struct outputs *outputs)
{
    for (size_t i = 0; i < outputs->count; i++)
        free(outputs->paths[i]);
    free(outputs->paths);
    *outputs = (struct outputs){.count = 0};
}
