/* SPDX-License-Identifier: MIT */
/*
 * option_names.c -- the names of the option table, held against those of an
 * environment. Names that other profilers use for the same thing are known as
 * such: no spelling leads from RATE to FREQUENCY.
 */
#include <limits.h>
#include <stdbool.h>
#include <string.h>

#include "nearest.h"
#include "options.h"
#include "option_names.h"

#define PREFIX "SPROF_"
enum { PREFIX_LENGTH = sizeof(PREFIX) - 1, NAME_MOST = 64 };

/* The command's own; the library has no use for them. */
static const char *const of_the_command[] = {"SPROF_PAGER"};

/* Behind the prefix. */
static const struct {
    const char *typed, *meant;
} others[] = {
    {"HZ", "SPROF_FREQUENCY"},       {"RATE", "SPROF_FREQUENCY"},
    {"INTERVAL", "SPROF_FREQUENCY"}, {"PERIOD", "SPROF_FREQUENCY"},
    {"FILE", "SPROF_OUTPUT"},        {"PATH", "SPROF_OUTPUT"},
    {"DIR", "SPROF_OUTPUT"},         {"FORMAT", "SPROF_OUTPUT"},
    {"VERBOSE", "SPROF_LOG"},        {"DEBUG", "SPROF_LOG"},
    {"ENABLE", "SPROF_START"},       {"EXCLUDE", "SPROF_ONLY"},
    {"FILTER", "SPROF_ONLY"},        {"CHILDREN", "SPROF_FORK"},
};

enum { OTHERS = sizeof(others) / sizeof(others[0]) };

/* Whether VARIABLE is NAME=value. */
static bool
is_named(const char *variable, const char *name)
{
    size_t length = strlen(name);
    return strncmp(variable, name, length) == 0 && variable[length] == '=';
}

static bool
is_known(const char *variable)
{
    for (unsigned i = 0; i < option_row_count; i++)
        if (is_named(variable, option_rows[i].variable))
            return true;
    return is_named(variable, of_the_command[0]);
}

const char *
option_names_unknown(char *const **at)
{
    while (**at != NULL) {
        const char *variable = *(*at)++;
        if (strncmp(variable, PREFIX, PREFIX_LENGTH) == 0 &&
            strchr(variable, '=') != NULL && !is_known(variable))
            return variable;
    }
    return NULL;
}

const char *
option_names_nearest(const char *variable)
{
    char typed[NAME_MOST] = "";
    const char *nearest = option_rows[0].variable;
    size_t length = strcspn(variable + PREFIX_LENGTH, "=");
    unsigned least = UINT_MAX;
    memcpy(typed, variable + PREFIX_LENGTH,
           length < sizeof(typed) - 1 ? length : sizeof(typed) - 1);
    for (unsigned i = 0; i < OTHERS; i++)
        if (nearest_cost(typed, others[i].typed) == 0)
            return others[i].meant;
    for (unsigned i = 0; i < option_row_count; i++) {
        unsigned cost =
            nearest_cost(typed, option_rows[i].variable + PREFIX_LENGTH);
        if (cost < least) {
            least = cost;
            nearest = option_rows[i].variable;
        }
    }
    return nearest;
}
