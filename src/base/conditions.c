/* SPDX-License-Identifier: MIT */
/*
 * conditions.c -- see conditions.h. Pure functions; no allocation, no stdio. A
 * name ends at the last ">" of its condition, so the name may have others.
 */
#include <stdbool.h>
#include <string.h>

#include "digits.h"
#include "text.h"
#include "conditions.h"

/* ns. LEAST_NS, MOST_NS: bounds of all times. */
#define SECOND UINT64_C(1000000000)
#define LEAST_NS UINT64_C(10000000)
#define MOST_NS (3600 * SECOND)

/* The largest percentage: 1,000 CPUs. */
#define PERCENT_MOST 100000u

/* WORD_NAME: limit of the bytes of a name in the name of a file. */
enum { WORD_NAME = 32 };

static const struct {
    const char *word;
    bool has_name; /* ":NAME>TIME"; else ">PERCENT%/TIME" */
} kinds[CONDITION_KIND_COUNT] = {
    [CONDITION_CPU] = {"cpu", false},
    [CONDITION_RUNNABLE] = {"runnable", false},
    [CONDITION_SPAN] = {"span", true},
    [CONDITION_STALLED] = {"stalled", true},
};

/* Digits with at most nine after a point, in units of UNIT, which is a power
 * of ten. *AT is moved past them. */
static int
parse_number(const char **at, const char *end, uint64_t *whole,
             uint64_t *billionths)
{
    const char *start = *at;
    *whole = digits_take(at);
    *billionths = 0;
    if (*at == start || *whole > PERCENT_MOST * UINT64_C(100))
        return -1;
    if (*at == end || **at != '.')
        return 0;
    uint64_t unit = SECOND;
    for (start = ++*at; **at >= '0' && **at <= '9' && unit > 1; ++*at) {
        unit /= 10;
        *billionths += unit * (uint64_t)(**at - '0');
    }
    return *at != start ? 0 : -1;
}

/* "5s", "1.5s", "500ms", "2m", up to END. */
static int
parse_time(const char *at, const char *end, uint64_t *ns)
{
    static const struct {
        const char *unit;
        uint64_t ns;
    } units[] = {{"ms", SECOND / 1000}, {"s", SECOND}, {"m", 60 * SECOND}};
    uint64_t whole, billionths;
    if (parse_number(&at, end, &whole, &billionths) != 0)
        return -1;
    for (unsigned i = 0; i < sizeof(units) / sizeof(units[0]); i++) {
        size_t length = strlen(units[i].unit);
        if ((size_t)(end - at) != length ||
            strncmp(at, units[i].unit, length) != 0)
            continue;
        *ns = whole * units[i].ns + billionths * (units[i].ns / 1000000) / 1000;
        return *ns >= LEAST_NS && *ns <= MOST_NS ? 0 : -1;
    }
    return -1;
}

/* ":NAME>TIME" from AT to END. */
static int
parse_named(const char *at, const char *end, struct condition *condition)
{
    const char *limit = end;
    while (limit > at && *limit != '>')
        limit--;
    if (*at != ':' || limit <= at + 1 ||
        (size_t)(limit - at) > sizeof(condition->name))
        return -1;
    size_t length = (size_t)(limit - at) - 1;
    memcpy(condition->name, at + 1, length);
    condition->name[length] = '\0';
    return parse_time(limit + 1, end, &condition->ns);
}

/* ">PERCENT%/TIME" from AT to END. */
static int
parse_share(const char *at, const char *end, struct condition *condition)
{
    uint64_t unused;
    if (*at++ != '>' ||
        parse_number(&at, end, &condition->percent, &unused) != 0 ||
        unused != 0 || condition->percent > PERCENT_MOST)
        return -1;
    if (end - at < 2 || at[0] != '%' || at[1] != '/')
        return -1;
    return parse_time(at + 2, end, &condition->ns);
}

static int
parse_one(const char *at, const char *end, struct condition *condition)
{
    *condition = (struct condition){.percent = 0};
    for (unsigned i = 0; i < CONDITION_KIND_COUNT; i++) {
        size_t length = strlen(kinds[i].word);
        if ((size_t)(end - at) <= length ||
            strncmp(at, kinds[i].word, length) != 0)
            continue;
        condition->kind = (enum condition_kind)i;
        return kinds[i].has_name ? parse_named(at + length, end, condition)
                                 : parse_share(at + length, end, condition);
    }
    return -1;
}

int
conditions_parse(const char *text, struct conditions *conditions)
{
    conditions->count = 0;
    while (*text != '\0') {
        const char *end = text + strcspn(text, ",");
        text += strspn(text, " ");
        if (conditions->count == CONDITIONS_MOST || text >= end ||
            parse_one(text, end, &conditions->all[conditions->count]) != 0)
            return -1;
        conditions->count++;
        if (*end == ',' && end[1] == '\0')
            return -1;
        text = end + (*end == ',');
    }
    return 0;
}

static bool
is_plain(char c)
{
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') ||
           (c >= 'A' && c <= 'Z') || c == '-' || c == '_';
}

void
condition_word(const struct condition *condition, char *word, size_t size)
{
    struct text text;
    text_begin(&text, word, size);
    text_add(&text, kinds[condition->kind].word);
    if (condition->name[0] == '\0')
        return;
    text_add(&text, "-");
    for (unsigned i = 0; i < WORD_NAME && condition->name[i] != '\0'; i++)
        text_add_bytes(&text,
                       is_plain(condition->name[i]) ? &condition->name[i] : "_",
                       1);
}
