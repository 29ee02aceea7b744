/* SPDX-License-Identifier: MIT */
/*
 * fuzz_report.c -- any bytes as a spool, through the whole report side: a
 * profile is built, symbols are looked up and every format is written. No
 * number in a spool may make that crash, or take without end.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "model/events.h"
#include "view/filter.h"
#include "read/load.h"
#include "live/watch.h"
#include "store/reader.h"
#include "write/output_file.h"
#include "write/page.h"
#include "write/page_template.h"
#include "show/text_report.h"
#include "otlp.pb-c.h"

#include "fuzz.h"
#include "repair.h"

/* What a text format must not hold, whatever the names in the spool were. */
static void
check_text(const char *text, size_t length)
{
    for (size_t i = 0; i < length; i++)
        if (((unsigned char)text[i] < ' ' && text[i] != '\n') || text[i] == 127)
            abort();
}

static void
write_text(int (*writer)(FILE *, struct profile *), struct profile *profile)
{
    char *text = NULL;
    size_t length = 0;
    FILE *stream = open_memstream(&text, &length);

    if (stream == NULL)
        return;
    writer(stream, profile);
    fclose(stream);
    check_text(text, length);
    free(text);
}

static void
write_pprof(struct profile *profile)
{
    char *bytes = NULL;
    size_t length = 0;
    FILE *stream = open_memstream(&bytes, &length);

    if (stream == NULL)
        return;
    pprof_write(stream, profile);
    fclose(stream);
    free(bytes);
}

/* Abort unless what a sample of DATA refers to is in the dictionary. */
static void
check_references(const Otlp__ProfilesData *data, const Otlp__Profile *profile)
{
    const Otlp__Dictionary *in = data->dictionary;
    for (size_t i = 0; i < profile->n_samples; i++) {
        const Otlp__Sample *sample = profile->samples[i];
        if ((size_t)sample->stack_index >= in->n_stack_table ||
            (size_t)sample->link_index >= in->n_link_table)
            abort();
        for (size_t j = 0; j < sample->n_attribute_indices; j++)
            if ((size_t)sample->attribute_indices[j] >= in->n_attribute_table)
                abort();
        const Otlp__Stack *stack = in->stack_table[sample->stack_index];
        for (size_t j = 0; j < stack->n_location_indices; j++)
            if ((size_t)stack->location_indices[j] >= in->n_location_table)
                abort();
    }
}

/* OpenTelemetry's bytes, decoded. */
static void
write_otlp(struct profile *profile)
{
    char *bytes = NULL;
    size_t length = 0;
    FILE *stream = open_memstream(&bytes, &length);
    if (stream == NULL || otlp_write(stream, profile) != 0 ||
        fclose(stream) != 0)
        abort();
    Otlp__ProfilesData *data =
        otlp__profiles_data__unpack(NULL, length, (const uint8_t *)bytes);
    if (data == NULL)
        abort();
    for (size_t i = 0; i < data->n_resource_profiles; i++) {
        const Otlp__ScopeProfiles *scope =
            data->resource_profiles[i]->scope_profiles[0];
        for (size_t j = 0; j < scope->n_profiles; j++)
            check_references(data, scope->profiles[j]);
    }
    otlp__profiles_data__free_unpacked(data, NULL);
    free(bytes);
}

/* Abort unless TEXT begins with LENGTH bytes of PART. Returns what is after.
 */
static const char *
pass(const char *text, const char *part, size_t length)
{
    if (memcmp(text, part, length) != 0)
        abort();
    return text + length;
}

/* Abort unless a page of LENGTH bytes is the template with elements of base64,
 * whatever the names in the spool were. */
static void
check_page(const char *text, size_t length)
{
    static const char place[] = "<!--SPROF-DATA-->";
    static const char open[] =
        "<script type=\"application/octet-stream\" id=\"";
    static const char close[] = "</script>\n";
    const char *end = text + length;
    size_t whole;
    const char *template = page_template(&whole);
    const char *data = memmem(template, whole, place, strlen(place));

    text = pass(text, template, (size_t)(data - template));
    while (strncmp(text, open, strlen(open)) == 0 &&
           strncmp(text + strlen(open), "sprof-", 6) == 0) {
        text += strlen(open);
        text += strspn(text, "abcdefghijklmnopqrstuvwxyz-0123456789");
        text = pass(text, "\">", 2);
        text += strspn(text, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuv"
                             "wxyz0123456789+/=");
        text = pass(text, close, strlen(close));
    }
    data += strlen(place);
    if (end - text != template + whole - data)
        abort();
    pass(text, data, (size_t)(end - text));
}

static void
write_page(struct profile *profile)
{
    const struct page page = {{page_make}, profile, true};
    char *text = NULL;
    size_t length = 0;
    FILE *stream = open_memstream(&text, &length);

    if (stream == NULL)
        return;
    int status = page_make(stream, &page.content);
    fclose(stream);
    if (status == 0)
        check_page(text, length);
    free(text);
}

/* As a live view sees it: all at once, and then that nothing came. */
static void
watch_twice(const uint8_t *bytes, size_t size,
            const struct symbolizer_options *options)
{
    static const struct filter_options filter;
    char error[512];
    const char *waits_on;
    struct reader *reader =
        reader_open_memory(bytes, size, error, sizeof error);
    struct watch *watch =
        reader == NULL ? NULL : watch_new(reader, &filter, options);

    for (unsigned i = 0; i < 2 && watch != NULL; i++) {
        (void)watch_look(watch);
        for (uint32_t j = 0; j < watch->thread_count; j++)
            (void)watch_state(watch, j, &waits_on);
    }
    watch_free(watch);
    reader_end(reader);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const struct symbolizer_options options = {.inlines = true};
    struct profile *profile = profile_new(&options);
    uint8_t *copy = malloc(size + 1);
    char error[512] = "";

    if (profile == NULL || copy == NULL)
        abort();
    memcpy(copy, data, size);
    profile->keeps_events = true;
    repair(copy, size);
    watch_twice(copy, size, &options);
    if (load_memory(profile, copy, size, "fuzz", error, sizeof(error)) == 0) {
        write_pprof(profile);
        write_otlp(profile);
        write_text(folded_write, profile);
        write_text(firefox_write, profile);
        write_text(speedscope_write, profile);
        write_text(otlp_write_json, profile);
        write_text(text_report_write, profile);
        write_text(nameless_report_write, profile);
        write_page(profile);
        if (events_clip(profile, size, size * 1000) == 0)
            write_text(firefox_write, profile);
    }
    free(copy);
    profile_free(profile);
    return 0;
}
