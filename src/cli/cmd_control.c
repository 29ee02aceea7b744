/* SPDX-License-Identifier: MIT */
/*
 * cmd_control.c -- `sprofile start`, `stop` and `dump`: send a request to a
 * running process and print its answer.
 */
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "cli/process/remote.h"
#include "command.h"
#include "numbers.h"

/* How long an answer is awaited, in seconds. The process symbolizes and writes
 * a profile before it answers `dump`. */
enum { SOON = 10, DUMP_SECONDS = 600 };

static const struct control {
    enum request request;
    unsigned seconds; /* to wait for the answer */
    const char *help;
} controls[] = {
    {REQUEST_START, SOON,
     "usage: sprofile start PID\n"
     "\n"
     "Sampling begins, or goes on, in process PID, which runs with\n"
     "libsprof.so.\n"},
    {REQUEST_STOP, SOON,
     "usage: sprofile stop PID\n"
     "\n"
     "Sampling stops in process PID until `sprofile start`. What was sampled\n"
     "stays, and is in the profile that is written in the end.\n"},
    {REQUEST_WRITE, DUMP_SECONDS,
     "usage: sprofile dump PID\n"
     "\n"
     "Process PID writes the profile of what was sampled so far, to the files\n"
     "that SPROF_OUTPUT names, and goes on. Prints their names. With\n"
     "SPROF_KEEP, which makes it a flight recorder, it is the last of it.\n"},
};

/* Print TEXT, which has several lines, without the control characters within
 * its lines. */
static void
print_lines(char *text)
{
    for (char *line = strtok(text, "\n"); line != NULL;
         line = strtok(NULL, "\n")) {
        text_hide_controls(line);
        puts(line);
    }
}

/* Send the request and print the answer. Returns the exit status. */
static int
ask_and_print(const struct control *control, pid_t pid)
{
    struct remote *remote = malloc(sizeof(*remote));
    char *answer = NULL;
    if (remote == NULL) {
        perror("sprofile");
        return STATUS_FAILED;
    }
    char error[PATH_MAX + 512];
    if (remote_open(remote, pid, error, sizeof(error)) == 0)
        answer = remote_ask(remote, control->request, control->seconds, error,
                            sizeof(error));
    if (answer != NULL)
        print_lines(answer);
    else
        fprintf(stderr, "sprofile: %s\n", error);
    remote_close(remote);
    free(remote);
    free(answer);
    return answer != NULL ? STATUS_DONE : STATUS_FAILED;
}

/* Parse the arguments, which the three commands share, and run the command. */
static int
control_command(const struct control *control, int argc, char **argv)
{
    static const struct option options[] = {
        {"help", no_argument, NULL, 'h'},
        {NULL, 0, NULL, 0},
    };
    int option;
    while ((option = getopt_long(argc, argv, "h", options, NULL)) != -1) {
        if (option != 'h')
            return command_usage(argv[0], NULL);
        fputs(control->help, stdout);
        fputs("\n  --help             this page\n", stdout);
        return STATUS_DONE;
    }
    if (optind + 1 != argc)
        return command_usage(argv[0], "expected one PID");
    pid_t pid;
    if (numbers_pid(argv[optind], &pid) != 0)
        return command_usage(argv[0], "%s: expected the PID of a process",
                             argv[optind]);
    return ask_and_print(control, pid);
}

int
cmd_control_start(int argc, char **argv)
{
    return control_command(&controls[0], argc, argv);
}

int
cmd_control_stop(int argc, char **argv)
{
    return control_command(&controls[1], argc, argv);
}

int
cmd_control_dump(int argc, char **argv)
{
    return control_command(&controls[2], argc, argv);
}
