/* SPDX-License-Identifier: MIT */
/*
 * command.c -- what commands print when their arguments are wrong. getopt_long
 * has already reported an option that it refused, so only the hint is printed
 * then.
 */
#include <stdarg.h>
#include <stdio.h>

#include "command.h"

int
command_usage(const char *command, const char *format, ...)
{
    if (format != NULL) {
        fprintf(stderr, "%s: ", command);
        va_list arguments;
        va_start(arguments, format);
        vfprintf(stderr, format, arguments);
        va_end(arguments);
        fputc('\n', stderr);
    }
    fprintf(stderr, "Try `%s --help`.\n", command);
    return STATUS_USAGE;
}
