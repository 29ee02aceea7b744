/* SPDX-License-Identifier: MIT */
/*
 * fuzz_stacks.c -- any bytes as a spool with the stacks of all threads: read,
 * filtered, and shown as text and as JSON. Entries refer to threads, nodes,
 * texts, labels and each other, all of which may be anything.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "view/filter.h"
#include "live/stacks.h"
#include "show/stacks_text.h"

#include "fuzz.h"
#include "repair.h"

/* Nothing that a terminal would obey, and no thread without its tid. */
static void
judge(const char *text, size_t size, const struct stacks *stacks)
{
    for (size_t i = 0; i < size; i++)
        if (((unsigned char)text[i] < ' ' && text[i] != '\n') || text[i] == 127)
            abort();
    if (stacks->thread_count > 0 && strchr(text, '(') == NULL)
        abort();
}

static void
show(struct stacks *stacks, unsigned columns)
{
    const struct stacks_text_options options = {.columns = columns};
    size_t size;
    char *text;
    FILE *stream = open_memstream(&text, &size);

    if (stream == NULL || stacks_text_write(stream, stacks, &options) < 0 ||
        fclose(stream) != 0)
        abort();
    if (stacks->kept_count == stacks->thread_count)
        judge(text, size, stacks);
    free(text);
    stream = open_memstream(&text, &size);
    if (stream == NULL || stacks_json_write(stream, stacks) < 0 ||
        fclose(stream) != 0)
        abort();
    free(text);
}

/* Every thread is in one group, and groups have their threads in order. */
static void
check(const struct stacks *stacks)
{
    uint32_t count = 0;

    for (uint32_t i = 0; i < stacks->group_count; i++) {
        if (stacks->groups[i].count == 0 || stacks->groups[i].first != count)
            abort();
        count += stacks->groups[i].count;
    }
    if (count != stacks->kept_count)
        abort();
}

static void
apply_filter(struct stacks *stacks)
{
    struct filter_options filter = {0};
    char error[256];

    if (filter_add_label(&filter, "state", "waiting") < 0 ||
        filter_add_label(&filter, "user", "b") < 0 ||
        filter_add_expression(&filter, FILTER_IGNORE, "a", error,
                              sizeof error) < 0 ||
        stacks_filter_apply(stacks, &filter) < 0)
        abort();
    filter_release(&filter);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const struct symbolizer_options options = {.inlines = true};
    uint8_t *copy = malloc(size + 1);
    char error[512] = "";
    struct stacks *stacks;

    if (copy == NULL)
        abort();
    memcpy(copy, data, size);
    repair(copy, size);
    stacks = stacks_open_memory(copy, size, &options, error, sizeof error);
    if (stacks != NULL && stacks_read(stacks, error, sizeof error) == 0) {
        check(stacks);
        show(stacks, 0);
        apply_filter(stacks);
        check(stacks);
        show(stacks, 60);
    } else if (error[0] == '\0') {
        abort();
    }
    stacks_close(stacks);
    free(copy);
    return 0;
}
