/* SPDX-License-Identifier: MIT */
/*
 * command.c -- runs a command by its table (command.h). getopt_long(3) splits
 * the arguments and reports an option that does not exist, so only the hint is
 * printed then.
 */
#include <errno.h>
#include <getopt.h>
#include <malloc.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#include "cli/process/discover.h"
#include "command.h"

/* OPTIONS: limit of the options of a command. BY_NAME: getopt's value of the
 * first of them, if it is given by its name; beyond all letters. */
enum { OPTIONS = 64, BY_NAME = 0x100 };

/* FILES_MOST: descriptors that are asked for. */
enum { FILES_MOST = 8192 };

/* Columns of the names of options on a help page. A page on which letters have
 * a column of their own has wider ones. */
enum { NAMES = 19, NAMES_WITH_LETTERS = 21 };

const char *command_title = "sprofile";

/* The options of the command that runs, and which of them were given. */
static const struct command_option *known[OPTIONS];
static bool was_given[OPTIONS];
static int known_count;

/* Every command has it; the letter is not on the page. */
static const struct command_option help[] = {
    {"help", .help = "this page"},
    {.letter = 'h', .help = ""},
};

static void
print_message(const char *title, const char *format, va_list values)
{
    fprintf(stderr, "%s: ", title);
    vfprintf(stderr, format, values);
    fputc('\n', stderr);
}

int
command_usage(const char *format, ...)
{
    if (format != NULL) {
        va_list values;
        va_start(values, format);
        print_message(command_title, format, values);
        va_end(values);
    }
    fprintf(stderr, "Try `%s --help`.\n", command_title);
    return STATUS_USAGE;
}

int
command_fail(const char *format, ...)
{
    va_list values;
    va_start(values, format);
    print_message("sprofile", format, values);
    va_end(values);
    return STATUS_FAILED;
}

int
command_complain(const char *format, ...)
{
    va_list values;
    va_start(values, format);
    print_message(command_title, format, values);
    va_end(values);
    return STATUS_FAILED;
}

int
command_lacks(const char *what, const char *why)
{
    return why[0] == '\0'
               ? STATUS_DONE
               : command_complain("this build has no %s; %s", what, why);
}

/* Print "-o, --output FILE", as far as the option has it, into STREAM. */
static void
print_names(FILE *stream, const struct command_option *option, bool has_letters)
{
    if (option->letter != 0)
        fprintf(stream, "-%c%s", option->letter, option->name ? ", " : "");
    else if (has_letters)
        fputs("    ", stream);
    if (option->name != NULL)
        fprintf(stream, "--%s", option->name);
    if (option->value != NULL)
        fprintf(stream, "%s%s", option->value[0] == '[' ? "" : " ",
                option->value);
}

/* Print the lines of OPTION on the help page, together with the options that
 * share them. Returns the last of these. */
static const struct command_option *
print_option(const struct command_option *option, bool has_letters)
{
    int columns = has_letters ? NAMES_WITH_LETTERS : NAMES;
    char names[64] = "";
    FILE *stream = fmemopen(names, sizeof(names), "w");
    if (stream == NULL)
        return option;
    for (; option->help == NULL; option++) {
        print_names(stream, option, has_letters);
        fputs(", ", stream);
    }
    print_names(stream, option, has_letters);
    fclose(stream);
    printf("  %-*s", columns, names);
    const char *at = option->help, *end;
    for (; (end = strchr(at, '\n')) != NULL; at = end + 1)
        printf("%.*s\n%*s", (int)(end - at), at, columns + 2, "");
    puts(at);
    return option;
}

static void
print_options(const struct command_option *options, bool has_letters)
{
    for (; options->take != NULL; options++)
        if (options->help == NULL || options->help[0] != '\0')
            options = print_option(options, has_letters);
}

void
command_print_help(const struct command *command)
{
    printf("usage: sprofile %s %s\n\n%s", command->name, command->usage,
           command->about);
    if (command->more_about != NULL)
        command->more_about();
    putchar('\n');
    print_options(command->options, command->has_letters);
    (void)print_option(help, command->has_letters);
    if (command->group.options != NULL) {
        printf("\n%s:\n", command->group.title);
        print_options(command->group.options, command->has_letters);
    }
    if (command->notes != NULL)
        printf("\n%s", command->notes);
}

static void
know_options(const struct command_option *options)
{
    for (; options != NULL && options->take != NULL; options++) {
        was_given[known_count] = false;
        known[known_count++] = options;
    }
}

/* The index of the option for which getopt_long(3) returned KEY. */
static int
index_of(int key)
{
    int i = key - BY_NAME;
    if (key < BY_NAME)
        for (i = 0; known[i]->letter != key; i++)
            continue;
    return i;
}

/* Whether OPTION has an argument, as getopt_long(3) wants it. */
static int
argument_of(const struct command_option *option)
{
    if (option->value == NULL)
        return no_argument;
    return option->value[0] == '[' ? optional_argument : required_argument;
}

/* Take the options of the command into VALUES. */
static int
take_options(const struct command *command, int argc, char **argv, char *values)
{
    struct option names[OPTIONS + 1];
    char letters[2 * OPTIONS + 2] = "+", *letter = letters + 1;
    int name_count = 0, key;
    for (int i = 0; i < known_count; i++) {
        const struct command_option *option = known[i];
        int argument = argument_of(option);
        if (option->name != NULL)
            names[name_count++] =
                (struct option){option->name, argument, NULL, BY_NAME + i};
        if (option->letter != 0)
            *letter++ = option->letter;
        if (option->letter != 0 && argument != no_argument)
            *letter++ = ':';
    }
    names[name_count] = (struct option){0};
    *letter = '\0';
    optind = 0; /* begin anew */
    while ((key = getopt_long(argc, argv, letters + !command->ends_at_operand,
                              names, NULL)) != -1) {
        if (key == '?')
            return command_usage(NULL);
        int i = index_of(key);
        if (known[i]->take == NULL) {
            command_print_help(command);
            return STATUS_HELPED;
        }
        was_given[i] = true;
        int status = known[i]->take(known[i], values + known[i]->field, optarg);
        if (status != STATUS_DONE)
            return status;
    }
    return STATUS_DONE;
}

int
command_take(const struct command *command, int argc, char **argv, void *values)
{
    static char title[32];
    snprintf(title, sizeof(title), "sprofile %s", command->name);
    command_title = argv[0] = title;
    memset(values, 0, command->size);
    if (command->values != NULL)
        memcpy(values, command->values, command->size);
    known_count = 0;
    know_options(command->group.options);
    know_options(command->options);
    known[known_count++] = &help[0];
    known[known_count++] = &help[1];
    int status = take_options(command, argc, argv, values);
    if (status != STATUS_DONE)
        return status;
    int count = argc - optind;
    if (count == 0 && command->takes_process) {
        command_usage("expected %s", command->operands);
        discover_list(stderr);
        return STATUS_USAGE;
    }
    if (count < command->least || (command->most > 0 && count > command->most))
        return command_usage("expected %s", command->operands);
    return command->check != NULL ? command->check(values, argv + optind)
                                  : STATUS_DONE;
}

int
command_run(const struct command *command, int argc, char **argv)
{
    void *values = malloc(command->size);
    if (values == NULL)
        return command_fail("%s", strerror(errno));
    int status = command_take(command, argc, argv, values);
    if (status == STATUS_DONE)
        status = command->run(values, argv + optind, argc - optind);
    if (command->release != NULL)
        command->release(values);
    free(values);
    return status == STATUS_HELPED ? STATUS_DONE : status;
}

void
command_raise_files(void)
{
    struct rlimit limit;
    if (getrlimit(RLIMIT_NOFILE, &limit) != 0 || limit.rlim_cur >= FILES_MOST)
        return;
    limit.rlim_cur = limit.rlim_max < FILES_MOST ? limit.rlim_max : FILES_MOST;
    (void)setrlimit(RLIMIT_NOFILE, &limit);
}

void
command_return_memory(void)
{
    (void)malloc_trim(0);
}

bool
command_was_given(const char *name)
{
    for (int i = 0; i < known_count; i++)
        if (name[1] == '-' ? known[i]->name != NULL &&
                                 strcmp(known[i]->name, name + 2) == 0
                           : known[i]->letter == name[1])
            return was_given[i];
    return false;
}
