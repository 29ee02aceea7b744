/* SPDX-License-Identifier: MIT */
/*
 * main.c -- the sprofile command: finds the command in its table (command.h)
 * and runs it. Failures are reported on stderr. The exit status is 2 for wrong
 * arguments, 1 for any other failure.
 */
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "base/nearest.h"
#include "command.h"

static const struct command *const commands[] = {
#define COMMAND(name) &name,
    COMMAND_TABLE(COMMAND)
#undef COMMAND
};

enum { COMMANDS = sizeof(commands) / sizeof(commands[0]) };

/* The last part of the page of `sprofile --help`. */
static const char page_end[] =
    "For example:\n"
    "\n"
    "  sprofile record -o app.pb.gz -- ./app --fast\n"
    "  sprofile report app.pb.gz\n"
    "  sprofile report --wall --tree app.pb.gz\n"
    "  sprofile flame app.sprof\n"
    "  sprofile convert app.pb.gz app.speedscope.json\n"
    "  sprofile stacks 4711\n"
    "\n"
    "FILE is a pprof file, or a spool (NAME.sprof), also of a process that "
    "was\n"
    "killed or still runs; - is standard input. `sprofile help COMMAND` tells\n"
    "more, `sprofile help words` what reports say.\n";

/* Print the page of `sprofile --help`. `sprofile` alone prints it, too, but is
 * wrong usage: a script must not take it for success. */
static void
print_page(FILE *stream)
{
    fputs("usage: sprofile COMMAND [OPTION]... [FILE]...\n\n", stream);
    for (unsigned i = 0; i < COMMANDS; i++)
        fprintf(stream, "  %-10s%s\n", commands[i]->name, commands[i]->summary);
    fprintf(stream, "\n%s", page_end);
}

/* The command called NAME; NULL if none is. */
static const struct command *
find_command(const char *name)
{
    for (unsigned i = 0; i < COMMANDS; i++)
        if (strcmp(commands[i]->name, name) == 0)
            return commands[i];
    return NULL;
}

/* Report that NAME is no command, and which one may be meant. */
static int
refuse_unknown(const char *name)
{
    const struct command *nearest = commands[0];
    for (unsigned i = 1; i < COMMANDS; i++)
        if (nearest_cost(name, commands[i]->name) <
            nearest_cost(name, nearest->name))
            nearest = commands[i];
    if (nearest_cost(name, nearest->name) > NEAREST_TYPO)
        return command_usage("%s is not a command", name);
    return command_usage("%s is not a command; did you mean %s?", name,
                         nearest->name);
}

/* `sprofile help [COMMAND]`: print the page that COMMAND --help prints, or the
 * meanings of words in reports. */
static int
help(int argc, char **argv)
{
    if (argc < 2) {
        print_page(stdout);
        return STATUS_DONE;
    }
    if (argc > 2) {
        command_title = "sprofile help";
        return command_usage("expected one COMMAND");
    }
    if (strcmp(argv[1], "words") == 0) {
        words_print(stdout);
        return STATUS_DONE;
    }
    const struct command *command = find_command(argv[1]);
    if (command == NULL)
        return refuse_unknown(argv[1]);
    command_print_help(command);
    return STATUS_DONE;
}

/* Run the command that ARGV names. The few options before a command need no
 * parser. */
static int
run_command(int argc, char **argv)
{
    if (argc < 2) {
        print_page(stderr);
        return STATUS_USAGE;
    }
    if (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0 ||
        strcmp(argv[1], "help") == 0)
        return help(argc - 1, argv + 1);
    if (strcmp(argv[1], "--version") == 0 || strcmp(argv[1], "-V") == 0) {
        puts("sprofile " SPROF_VERSION);
        return STATUS_DONE;
    }
    const struct command *command = find_command(argv[1]);
    if (command == NULL)
        return refuse_unknown(argv[1]);
    return command_run(command, argc - 1, argv + 1);
}

int
main(int argc, char **argv)
{
    int status = run_command(argc, argv);
    /* An error of standard output, such as a full disk, shows only here. errno
     * has the cause only if this call fails. */
    bool fails_now = fflush(stdout) != 0;
    if (fails_now || ferror(stdout) != 0) {
        int failed = command_fail("standard output: %s",
                                  fails_now ? strerror(errno)
                                            : "not all could be written");
        if (status == STATUS_DONE)
            status = failed;
    }
    return status;
}
