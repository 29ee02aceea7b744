/* SPDX-License-Identifier: MIT */
/*
 * command.c -- what commands have in common when their arguments are wrong. An
 * option that getopt_long refused has been complained about already, so the
 * hint alone is printed then.
 */
#include "command.h"

#include <stdarg.h>
#include <stdio.h>

int
command_usage(const char *command, const char *format, ...)
{
    va_list arguments;

    if (format != NULL) {
        fprintf(stderr, "%s: ", command);
        va_start(arguments, format);
        vfprintf(stderr, format, arguments);
        va_end(arguments);
        fputc('\n', stderr);
    }
    fprintf(stderr, "Try `%s --help`.\n", command);
    return STATUS_USAGE;
}
