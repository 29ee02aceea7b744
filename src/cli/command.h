/* SPDX-License-Identifier: MIT */
/*
 * command.h -- what a command is: its name, its help page and its options. A
 * new command is a row of COMMAND_TABLE and a file of its own. Its options are
 * rows of a table. Each row makes the parser, the line on the help page and the
 * message about a wrong argument; the manual page, docs/sprofile.md and the
 * completion are checked against it (tests/lint/check_commands.sh).
 */
#ifndef CLI_COMMAND_H
#define CLI_COMMAND_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

/* The commands, in the order of `sprofile --help`. Each is in a file of its
 * name or of its first word. */
#define COMMAND_TABLE(COMMAND) \
    COMMAND(cmd_record)        \
    COMMAND(cmd_report)        \
    COMMAND(cmd_annotate)      \
    COMMAND(cmd_flame)         \
    COMMAND(cmd_convert)       \
    COMMAND(cmd_convert_merge) \
    COMMAND(cmd_diff)          \
    COMMAND(cmd_info)          \
    COMMAND(cmd_stacks)        \
    COMMAND(cmd_control_start) \
    COMMAND(cmd_control_stop)  \
    COMMAND(cmd_control_dump)  \
    COMMAND(cmd_top)           \
    COMMAND(cmd_push)          \
    COMMAND(cmd_serve)

/* The exit statuses of all commands. */
enum {
    STATUS_DONE = 0,
    STATUS_FAILED = 1,
    STATUS_USAGE = 2,
    STATUS_SLOWER = 3,  /* `sprofile diff --fail-above` found a regression */
    STATUS_HELPED = -1, /* of command_take alone: the help page was printed */
};

/* An option. A table of options ends with a row of zeros. */
struct command_option {
    const char *name; /* NULL: only the letter */
    /* Its argument's name on the help page; NULL: none. "[=NAME]": it may be
     * left out, and VALUE is NULL then. Such an option has no letter. */
    const char *value;
    /* Lines of the help page. NULL: the option stands in front of the next one,
     * whose lines they share. "": the option is not on the page. */
    const char *help;
    /* Store VALUE in the field of this option (arguments.h). Returns
     * STATUS_DONE, or another status after a message. */
    int (*take)(const struct command_option *option, void *field,
                const char *value);
    size_t field;      /* its offset in the command's values */
    const char *words; /* for TAKE: what it expects, as "a|b|c" or in words */
    int number;        /* for TAKE */
    char letter;       /* 0: only the name */
};

/* Options with their own title on the help page. */
struct command_group {
    const char *title;
    const struct command_option *options;
};

struct command {
    const char *name, *summary;
    /* The help page: the rest of the line of usage, the text in front of the
     * options, and the text after them (or NULL). */
    const char *usage, *about, *notes;
    void (*more_about)(void); /* prints what follows ABOUT; NULL: nothing */
    const struct command_option *options;
    struct command_group group; /* after OPTIONS; empty: none */
    bool has_letters;           /* on the help page, letters have a column */
    bool ends_at_operand;       /* what follows an operand is no option */
    /* The fewest and the most operands (0: any number), and their names for
     * "expected ...". */
    int least, most;
    const char *operands;
    bool takes_process; /* without operands, those that run are listed */
    /* The values before any option is taken (NULL: zeros), and their size. If
     * the command has filters (inputs.h), the values begin with them. */
    const void *values;
    size_t size;
    /* Check which options go together, and set defaults that depend on others.
     * Returns as command_option.take does. NULL: no checks. */
    int (*check)(void *values, char *const *operands);
    /* Run. OPERANDS ends with NULL and has COUNT entries. Returns the exit
     * status. */
    int (*run)(void *values, char *const *operands, int count);
    void (*release)(void *values); /* NULL: VALUES own nothing */
};

#define COMMAND(name) extern const struct command name;
COMMAND_TABLE(COMMAND)
#undef COMMAND

/* "sprofile report": begins the messages about arguments. */
extern const char *command_title;

/* Take the arguments of COMMAND into VALUES (of its size): options, then
 * operands, which become the rest of ARGV from getopt's optind on. Returns
 * STATUS_DONE if the command can run. */
int command_take(const struct command *command, int argc, char **argv,
                 void *values);

/* Take the arguments and run. Returns the exit status. */
int command_run(const struct command *command, int argc, char **argv);

/* Whether the command line had the option NAME: "--min" or "-n". */
bool command_was_given(const char *name);

void command_print_help(const struct command *command);

/* Print a message about wrong arguments, and where help is. If FORMAT is NULL,
 * only the hint is printed. Returns STATUS_USAGE. */
__attribute__((format(printf, 1, 2))) int command_usage(const char *format,
                                                        ...);

/* Print why the command cannot go on. Returns STATUS_FAILED. */
__attribute__((format(printf, 1, 2))) int command_fail(const char *format, ...);

/* The same for the command's own part in a recording: the message begins with
 * command_title, because the program's messages surround it. */
__attribute__((format(printf, 1, 2))) int command_complain(const char *format,
                                                           ...);

/* Print that this build has no WHAT, and WHY. Returns STATUS_FAILED. If WHY is
 * empty, the build has it: prints nothing, and returns STATUS_DONE. */
int command_lacks(const char *what, const char *why);

/* For a command that holds many spools open: ask for as many descriptors as it
 * may need. */
void command_raise_files(void);

/* For a command that runs for days, when it has done a piece of work: return to
 * the system what that has freed. glibc keeps free memory, and the more, the
 * larger a block was that it has once returned (mallopt(3), M_MMAP_THRESHOLD).
 * So one round that took long would make the command larger for good. */
void command_return_memory(void);

/* `sprofile help words`: print the meanings of the words in reports. */
void words_print(FILE *stream);

#endif
