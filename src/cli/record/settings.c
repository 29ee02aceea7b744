/* SPDX-License-Identifier: MIT */
/* settings.c -- see settings.h. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/options.h"
#include "cli/command.h"
#include "settings.h"

extern char **environ;

void
settings_add(struct settings *settings, const char *variable, const char *value)
{
    char *setting;
    if (settings->count < SETTINGS_MOST &&
        asprintf(&setting, "%s=%s", variable, value) >= 0)
        settings->values[settings->count++] = setting;
}

/* The library's own parser checks the value, so the two cannot disagree. It
 * complains about VARIABLE=value. The user of -F knows the option only, so the
 * text before the value is cut off. */
bool
settings_take(struct settings *settings, const char *variable,
              const char *value, const char *command, const char *option)
{
    struct options unused;
    char error[512], *setting, *wrong = NULL;
    if (asprintf(&setting, "%s=%s", variable, value) >= 0) {
        char *alone[] = {setting, NULL};
        if (options_parse(&unused, alone, error, sizeof(error)) != 0)
            wrong = strchr(error, '=') + 1;
        free(setting);
    }
    if (wrong != NULL)
        command_usage(command, "%s %s", option, wrong);
    else
        settings_add(settings, variable, value);
    return wrong == NULL;
}

/* A wrong variable is reported once, before the program runs, and not by each
 * of its processes. */
bool
settings_environment_is_right(const char *command)
{
    struct options unused;
    char error[512];
    if (options_parse(&unused, environ, error, sizeof(error)) == 0)
        return true;
    fprintf(stderr, "%s: %s\n", command, error);
    return false;
}

void
settings_release(struct settings *settings)
{
    while (settings->count > 0)
        free((char *)settings->values[--settings->count]);
}
