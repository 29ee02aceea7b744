/* SPDX-License-Identifier: MIT */
/*
 * options.c -- parses the environment by the option table. No allocation, no
 * stdio. It never changes the environment: the program's children are to see
 * what its parent set.
 *
 * strtoul and its kin are not used. They take "-1", " 5" and "0x10" for good
 * numbers, and depend on the locale. Here a wrong value is refused: a profile
 * with settings that were not meant is worse than none.
 */
#include <limits.h>
#include <signal.h>
#include <stdbool.h>
#include <string.h>

#include "conditions.h"
#include "digits.h"
#include "nearest.h"
#include "text.h"
#include "options.h"

#define NS 1000000000u

const struct option_row option_rows[] = {
#define OPTION(field, variable, kind, min, max, standard, text)          \
    {variable, OPTION_##kind, offsetof(struct options, field), min, max, \
     standard, text},
    OPTION_TABLE(OPTION)
#undef OPTION
};
const unsigned option_row_count = sizeof(option_rows) / sizeof(option_rows[0]);

/* The decimal digits at *AT, which is moved past them. -1 if there are none or
 * too many. */
static int
parse_digits(const char **at, uint64_t *number)
{
    const char *start = *at;
    *number = digits_take(at);
    return *at != start && *number != UINT64_MAX ? 0 : -1;
}

/* Nothing but digits. */
static int
parse_integer(const char *value, uint64_t *number)
{
    if (parse_digits(&value, number) != 0 || *value != '\0')
        return -1;
    return 0;
}

/* Bytes, with an optional K, M or G (powers of 1024). */
static int
parse_size(const char *value, uint64_t *number)
{
    static const char units[] = "KMG";
    if (parse_digits(&value, number) != 0)
        return -1;
    if (*value == '\0')
        return 0;
    /* A letter differs from its capital in one bit. */
    const char *unit = strchr(units, *value & ~0x20);
    if (unit == NULL || value[1] != '\0')
        return -1;
    /* A shift that loses bits would turn a huge cap into a tiny one. */
    unsigned shift = 10u * (unsigned)(unit - units + 1);
    if (*number > UINT64_MAX >> shift)
        return -1;
    *number <<= shift;
    return 0;
}

/* Seconds with up to nine decimals and an optional "s", as nanoseconds. */
static int
parse_duration(const char *value, uint64_t *number)
{
    uint64_t seconds, unit = NS / 10;
    if (parse_digits(&value, &seconds) != 0 || seconds > UINT64_MAX / NS - 1)
        return -1;
    *number = seconds * NS;
    /* From the tenth decimal on UNIT is 0, and digits add nothing. */
    if (*value == '.')
        for (value++; *value >= '0' && *value <= '9'; value++, unit /= 10)
            *number += unit * (uint64_t)(*value - '0');
    if (*value == 's')
        value++;
    return *value == '\0' ? 0 : -1;
}

/* Percent with up to seven decimals, as nanoseconds of a second. */
static int
parse_percent(const char *value, uint64_t *number)
{
    char digits[32];
    size_t length = strlen(value);
    length -= length > 0 && value[length - 1] == '%';
    if (length >= sizeof(digits) || strchr(value, 's') != NULL)
        return -1;
    memcpy(digits, value, length);
    digits[length] = '\0';
    if (parse_duration(digits, number) != 0)
        return -1;
    *number /= 100;
    return 0;
}

/* The index of VALUE among the words "a|b|c:" that begin TEXT, the help of the
 * option. So words and help always agree. */
static int
parse_choice(const char *value, const char *text, uint64_t *number)
{
    size_t length = strlen(value);
    *number = 0;
    for (const char *word = text;; word += strcspn(word, "|:") + 1) {
        size_t size = strcspn(word, "|:");
        if (size == length && memcmp(word, value, size) == 0)
            return 0;
        if (word[size] != '|')
            return -1;
        (*number)++;
    }
}

/* Whether a handler can be set for SIGNO: 32 and 33 are the C library's own
 * (signal(7)), and faults must reach the program at once. */
static int
is_usable(uint64_t signo)
{
    static const uint8_t taken[] = {SIGKILL, SIGSTOP, SIGSEGV, SIGBUS, SIGFPE,
                                    SIGILL,  SIGABRT, 32,      33};
    for (size_t i = 0; i < sizeof(taken); i++)
        if (signo == taken[i])
            return 0;
    return 1;
}

/* A signal's number or name, with or without SIG. Real-time signals have
 * numbers only: SIGRTMIN is not the same for every C library. */
static int
parse_signal(const char *value, uint64_t *number)
{
    if (parse_integer(value, number) == 0)
        return 0;
    if (strncmp(value, "SIG", 3) == 0)
        value += 3;
    for (int signo = 1; signo < 32; signo++) {
        const char *name = sigabbrev_np(signo);
        if (name != NULL && strcmp(name, value) == 0) {
            *number = (uint64_t)signo;
            return 0;
        }
    }
    return -1;
}

static int
parse_usable(const char *value, uint64_t *number)
{
    return parse_signal(value, number) == 0 && is_usable(*number) ? 0 : -1;
}

/* The bounds of a text bound its length. */
static int
parse_length(const char *value, uint64_t *number)
{
    *number = strlen(value);
    return 0;
}

/* Here the bounds bound the text's length, too. */
static int
parse_conditions(const char *value, uint64_t *number)
{
    struct conditions conditions;
    *number = strlen(value);
    return conditions_parse(value, &conditions);
}

/* Signals that end a program by default, and that its own calls or errors
 * raise. */
static const uint8_t fatal[] = {SIGQUIT, SIGILL,  SIGTRAP, SIGABRT, SIGBUS,
                                SIGFPE,  SIGSEGV, SIGXCPU, SIGXFSZ, SIGSYS};

/* Names or numbers of signals that are FATAL, with commas between, or none. */
static int
parse_signals(const char *value, uint64_t *numbers)
{
    *numbers = 0;
    while (*value != '\0') {
        char name[16] = "";
        size_t length = strcspn(value, ",");
        uint64_t signo;
        if (length >= sizeof(name))
            return -1;
        memcpy(name, value, length);
        if (parse_signal(name, &signo) != 0 || signo > 64 ||
            memchr(fatal, (int)signo, sizeof(fatal)) == NULL)
            return -1;
        *numbers |= 1ull << (signo - 1);
        value += length;
        value += *value == ',';
    }
    return 0;
}

/* Store VALUE in OPTION as ROW demands. -1 if VALUE is wrong or out of range;
 * OPTION then keeps the default. */
static int
parse_value(const struct option_row *row, const char *value,
            union option *option)
{
    static int (*const parsers[])(const char *, uint64_t *) = {
        [OPTION_INTEGER] = parse_integer,
        [OPTION_SIZE] = parse_size,
        [OPTION_DURATION] = parse_duration,
        [OPTION_SPAN] = parse_duration,
        [OPTION_SIGNALS] = parse_signals,
        [OPTION_SIGNAL] = parse_usable,
        [OPTION_STRING] = parse_length,
        [OPTION_PERCENT] = parse_percent,
        [OPTION_CONDITIONS] = parse_conditions,
    };
    uint64_t number = 0;
    const char *word = row->kind == OPTION_SPAN      ? "all"
                       : row->kind == OPTION_PERCENT ? "off"
                                                     : NULL;
    if (word != NULL && strcmp(value, word) == 0) {
        option->number = 0;
        return 0;
    }
    int result = row->kind == OPTION_CHOICE
                     ? parse_choice(value, row->text, &number)
                     : parsers[row->kind](value, &number);
    if (result != 0 || number < row->min || number > row->max)
        return -1;
    if (row->kind == OPTION_STRING || row->kind == OPTION_CONDITIONS)
        option->string = value;
    else
        option->number = number;
    return 0;
}

/* "an integer from 1 to 20000": what ROW takes. */
static void
add_expected(struct text *text, const struct option_row *row)
{
    static const char *const nouns[] = {
        [OPTION_INTEGER] = "an integer from ",
        [OPTION_SIZE] = "a size in bytes, with K, M or G, from ",
        [OPTION_DURATION] = "seconds (fractions allowed) up to ",
        [OPTION_SPAN] = "all, or seconds (fractions allowed) from ",
        [OPTION_PERCENT] =
            "off, or percent (fractions allowed) from 0.01 to 100",
        [OPTION_CHOICE] = "one of ",
        [OPTION_SIGNAL] =
            "a signal that a program can handle, by name or number from ",
        [OPTION_SIGNALS] = "signals that end a program by an error of its own, "
                           "with commas between: SIGABRT,SIGSEGV,SIGBUS,SIGFPE,"
                           "SIGILL,SIGQUIT,SIGTRAP,SIGXCPU,SIGXFSZ,SIGSYS",
        [OPTION_STRING] = "text of a length from ",
        [OPTION_CONDITIONS] =
            "up to 8 conditions with commas between, each one of "
            "cpu>150%/5s, runnable>30%/5s, span:NAME>200ms, "
            "stalled:THREAD>500ms, with times from 10ms to 60m",
    };
    bool is_time = row->kind == OPTION_DURATION || row->kind == OPTION_SPAN;
    uint64_t unit = is_time ? NS : 1;
    text_add(text, nouns[row->kind]);
    if (row->kind == OPTION_SIGNALS || row->kind == OPTION_PERCENT ||
        row->kind == OPTION_CONDITIONS)
        return;
    if (row->kind == OPTION_CHOICE) {
        text_add_bytes(text, row->text, strcspn(row->text, ":"));
        return;
    }
    if (row->kind != OPTION_DURATION) {
        text_add_number(text, row->min / unit);
        text_add(text, " to ");
    }
    text_add_number(text, row->max / unit);
}

/* Whether VARIABLE is NAME=value. */
static bool
is_named(const char *variable, const char *name)
{
    size_t length = strlen(name);
    return strncmp(variable, name, length) == 0 && variable[length] == '=';
}

/* Not getenv: the environment is a parameter, so that tests can give their own.
 * A program that changes its environment from another thread does not disturb,
 * either. */
const char *
options_variable(char *const environment[], const char *name)
{
    for (; *environment != NULL; environment++)
        if (is_named(*environment, name))
            return *environment + strlen(name) + 1;
    return NULL;
}

int
options_parse(struct options *options, char *const environment[], char *error,
              size_t size)
{
    int result = 0;
    for (unsigned i = 0; i < option_row_count; i++) {
        const struct option_row *row = &option_rows[i];
        union option *option =
            (union option *)(void *)((char *)options + row->offset);
        /* The default is parsed as a value is, so it is checked, too. */
        parse_value(row, row->standard, option);
        const char *value = options_variable(environment, row->variable);
        if (value == NULL || parse_value(row, value, option) == 0)
            continue;
        /* One line for the first mistake; the next run shows the next one. */
        if (result == 0) {
            struct text text;
            text_begin(&text, error, size);
            text_add(&text, row->variable);
            text_add(&text, "=");
            text_add(&text, value);
            text_add(&text, ": expected ");
            add_expected(&text, row);
        }
        result = -1;
    }
    /* A wanted rate is kept, unless the user bounds its cost, too. */
    options->is_cost_given =
        options_variable(environment, "SPROF_COST") != NULL;
    options->is_output_given =
        options_variable(environment, "SPROF_OUTPUT") != NULL;
    if (options_variable(environment, "SPROF_FREQUENCY") != NULL &&
        !options->is_cost_given)
        options->cost.number = 0;
    return result;
}

#define PREFIX "SPROF_"
enum { PREFIX_LENGTH = sizeof(PREFIX) - 1, NAME_MOST = 64 };

/* Settings of the command, which the library does not use. */
static const char *const of_the_command[] = {"SPROF_PAGER"};

/* Names that other profilers have for a setting, after the prefix: RATE is no
 * misspelling of FREQUENCY. */
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

static bool
is_known(const char *variable)
{
    for (unsigned i = 0; i < option_row_count; i++)
        if (is_named(variable, option_rows[i].variable))
            return true;
    return is_named(variable, of_the_command[0]);
}

const char *
options_unknown(char *const **at)
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
options_nearest(const char *variable)
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
