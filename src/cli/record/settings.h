/* SPDX-License-Identifier: MIT */
/*
 * settings.h -- the environment variables by which a recording configures the
 * library. They are checked as the library checks them.
 */
#ifndef CLI_RECORD_SETTINGS_H
#define CLI_RECORD_SETTINGS_H

#include <stdbool.h>

enum { SETTINGS_MOST = 8 };

/* Allocated "NAME=value" strings; the entry behind the last is NULL. */
struct settings {
    const char *values[SETTINGS_MOST + 1];
    unsigned count;
};

/* Set VARIABLE to VALUE, which came as the argument of OPTION ("-F") of
 * COMMAND. If the value is wrong, a message about that argument is printed and
 * nothing is set. Returns whether the value is right. */
bool settings_take(struct settings *settings, const char *variable,
                   const char *value, const char *command, const char *option);

/* Set VARIABLE to VALUE, which is known to be right. */
void settings_add(struct settings *settings, const char *variable,
                  const char *value);

/* Whether the environment's own SPROF_ variables are right; if not, a message
 * is printed. */
bool settings_environment_is_right(const char *command);

void settings_release(struct settings *settings);

#endif
