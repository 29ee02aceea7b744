/* SPDX-License-Identifier: MIT */
/*
 * settings.h -- what a recording tells the library by environment variables,
 * checked as the library will.
 */
#ifndef CLI_SETTINGS_H
#define CLI_SETTINGS_H

#include <stdbool.h>

enum { SETTINGS_MOST = 8 };

/* NAME=value strings of its own; the entry behind the last is NULL. */
struct settings {
    const char *values[SETTINGS_MOST + 1];
    unsigned count;
};

/* Set VARIABLE to VALUE. For OPTION ("-F") of COMMAND, a value that is not
 * right is complained about as its argument, and nothing is set. */
bool settings_take(struct settings *settings, const char *variable,
                   const char *value, const char *command, const char *option);

/* Set VARIABLE to VALUE, which is right. */
void settings_add(struct settings *settings, const char *variable,
                  const char *value);

/* Whether the environment's own variables are right; else complain. */
bool settings_environment_is_right(const char *command);

void settings_release(struct settings *settings);

#endif
