/* SPDX-License-Identifier: MIT */
/*
 * page_test.c -- pages: nothing of a profile is markup, and the blocks unpack
 * to what the profile has. tests/page/decode.test.mjs compares sums.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>
#include <zlib.h>

#include "model/wait_text.h"
#include "write/page.h"
#include "write/page_diff.h"
#include "write/page_head.h"
#include "write/page_stream.h"
#include "write/page_template.h"

#include "profile_maker.h"

#define OPEN "<script type=\"application/octet-stream\" id=\""
#define CLOSE "</script>\n"

/* A block that was unpacked, and where it is read. */
static uint8_t *block;
static size_t block_size, at;

/* The page of the test. */
static char *page;
static size_t page_size;

static int
forget(void **state)
{
    free(block);
    free(page);
    block = NULL;
    page = NULL;
    return maker_clean(state);
}

static void
make(const struct output_content *content)
{
    free(page);
    page = NULL;
    FILE *stream = open_memstream(&page, &page_size);

    assert_non_null(stream);
    assert_int_equal(content->write(stream, content), 0);
    assert_int_equal(fclose(stream), 0);
}

static void
make_page(struct profile *profile)
{
    const struct page content = {{page_make}, profile, false};
    make(&content.content);
}

/* A profile with its events, of the spool at hand. */
static struct profile *
load(void)
{
    const struct symbolizer_options options = {.inlines = true};
    struct profile *profile = profile_new(&options);

    assert_non_null(profile);
    profile->keeps_events = true;
    return maker_load(profile);
}

static int
digit(char character)
{
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrs"
                                 "tuvwxyz0123456789+/";
    const char *place = strchr(digits, character);

    return character != '\0' && place != NULL ? (int)(place - digits) : -1;
}

/* Append the bytes of the base64 from TEXT on. Returns what stands after it.
 */
static const char *
unpack64(const char *text, uint8_t *to, size_t *length)
{
    for (;; text += 4) {
        uint32_t bits = 0;
        unsigned count = 0;
        for (; count < 4 && digit(text[count]) >= 0; count++)
            bits |= (uint32_t)digit(text[count]) << (18 - 6 * count);
        for (unsigned i = 0; i + 1 < count; i++)
            to[(*length)++] = (uint8_t)(bits >> (16 - 8 * i));
        if (count < 4) {
            while (count > 0 && count < 4)
                assert_int_equal(text[count++], '=');
            return text + count;
        }
    }
}

/* Unpack the block ID of the page; false if it has none. */
static bool
unpack(const char *id)
{
    uint8_t *packed = malloc(page_size + 1);
    size_t length = 0;
    char open[128];
    unsigned part = 0;

    assert_non_null(packed);
    for (const char *text;; part++) {
        if (part == 0)
            snprintf(open, sizeof open, OPEN "%s\">", id);
        else
            snprintf(open, sizeof open, OPEN "%s-%u\">", id, part);
        text = strstr(page, open);
        if (text == NULL)
            break;
        text = unpack64(text + strlen(open), packed, &length);
        assert_memory_equal(text, CLOSE, strlen(CLOSE));
    }
    free(block);
    block = malloc(64 << 20);
    assert_non_null(block);
    z_stream stream = {.next_in = packed,
                       .avail_in = (unsigned)length,
                       .next_out = block,
                       .avail_out = (64 << 20) - 1};
    assert_int_equal(inflateInit2(&stream, -15), Z_OK);
    if (part > 0)
        assert_int_equal(inflate(&stream, Z_FINISH), Z_STREAM_END);
    block_size = stream.total_out;
    block[block_size] = '\0';
    at = 0;
    inflateEnd(&stream);
    free(packed);
    return part > 0;
}

static uint64_t
number(void)
{
    uint64_t value = 0;

    for (unsigned shift = 0;; shift += 7) {
        assert_true(at < block_size);
        value |= (uint64_t)(block[at] & 0x7f) << shift;
        if (block[at++] < 0x80)
            return value;
    }
}

static int64_t
change(void)
{
    uint64_t value = number();

    return (int64_t)(value >> 1) ^ -(int64_t)(value & 1);
}

/* Pass a table of COLUMNS. Returns its rows. */
static uint64_t
table(unsigned columns)
{
    uint64_t rows = number();

    for (uint64_t i = 0; i < rows * columns; i++)
        number();
    return rows;
}

/* The tables in front of the strings: how many rows each has. */
static struct {
    uint64_t functions, frames, nodes, processes, threads, states, waits,
        labels, rows, marks, spans;
    uint64_t holders[4]; /* of the first waits */
    char *meta;
} head;

static void
read_waits(void)
{
    head.waits = number();
    for (uint64_t i = 0; i < head.waits; i++)
        change();
    for (uint64_t i = 0; i < head.waits; i++) {
        uint64_t holder = number();
        if (i < 4)
            head.holders[i] = holder;
    }
}

static void
read_head(void)
{
    assert_true(unpack("sprof-head"));
    assert_int_equal(number(), PAGE_HEAD_VERSION);
    uint64_t length = number();
    head.meta = (char *)block + at;
    at += length;
    table(3);
    head.functions = table(4);
    head.frames = table(3);
    head.nodes = table(2);
    head.processes = table(3);
    head.threads = table(5);
    head.states = table(2);
    read_waits();
    head.labels = number();
    for (uint64_t i = 0; i < head.labels; i++)
        table(2);
    head.rows = table(8);
    head.marks = table(4);
    head.spans = table(4);
}

/* Whether TEXT is one of the strings, which are next in the block. */
static bool
has_string(const char *text)
{
    size_t start = at;
    uint64_t count = number();
    uint64_t *shared = calloc(2 * count, sizeof(*shared));
    char string[16384] = "";
    bool found = false;

    for (uint64_t i = 0; i < 2 * count; i++)
        shared[i] = number();
    for (uint64_t i = 0; i < count; i++) {
        memcpy(string + shared[i], block + at, shared[count + i]);
        string[shared[i] + shared[count + i]] = '\0';
        at += shared[count + i];
        found |= strcmp(string, text) == 0;
    }
    assert_int_equal(at, block_size);
    at = start;
    free(shared);
    return found;
}

/* The page is the template with elements of base64, and nothing else. */
static void
expect_no_markup(void)
{
    static const char place[] = "<!--SPROF-DATA-->";
    size_t length;
    const char *template = page_template(&length);
    const char *data = memmem(template, length, place, strlen(place));
    const char *text = page + (data - template);

    assert_non_null(data);
    assert_memory_equal(page, template, (size_t)(data - template));
    while (strncmp(text, OPEN "sprof-", strlen(OPEN "sprof-")) == 0) {
        text += strlen(OPEN "sprof-");
        text += strspn(text, "abcdefghijklmnopqrstuvwxyz-0123456789");
        assert_memory_equal(text, "\">", 2);
        text += 2;
        while (digit(*text) >= 0 || *text == '=')
            text++;
        assert_memory_equal(text, CLOSE, strlen(CLOSE));
        text += strlen(CLOSE);
    }
    data += strlen(place);
    length -= (size_t)(data - template);
    assert_int_equal(page + page_size - text, length);
    assert_memory_equal(text, data, length);
}

static void
numbers_are_varints(void **state)
{
    static const uint64_t numbers[] = {0,     1,         127,       128,
                                       16383, INT64_MAX, UINT64_MAX};
    enum { COUNT = sizeof numbers / sizeof numbers[0] };

    (void)state;
    FILE *file = open_memstream(&page, &page_size);
    struct page_stream *stream = page_stream_begin(file, "sprof-x");
    assert_non_null(stream);
    for (unsigned i = 0; i < COUNT; i++) {
        page_stream_number(stream, numbers[i]);
        page_stream_change(stream, numbers[i], numbers[(i + 1) % COUNT]);
    }
    page_stream_text(stream, "text", 4);
    assert_int_equal(page_stream_end(stream), 0);
    assert_int_equal(fclose(file), 0);
    assert_true(unpack("sprof-x"));
    for (unsigned i = 0; i < COUNT; i++) {
        assert_int_equal(number(), numbers[i]);
        assert_int_equal(change(),
                         (int64_t)(numbers[i] - numbers[(i + 1) % COUNT]));
    }
    assert_int_equal(number(), 4);
    assert_string_equal(block + at, "text");
}

static void
a_long_block_has_several_elements(void **state)
{
    enum { SIZE = 10 << 20 };
    uint8_t *bytes = malloc(SIZE);
    uint32_t random = 1;

    (void)state;
    assert_non_null(bytes);
    for (size_t i = 0; i < SIZE; i++) {
        random = random * 1664525 + 1013904223;
        bytes[i] = (uint8_t)(random >> 24);
    }
    FILE *file = open_memstream(&page, &page_size);
    assert_int_equal(page_stream_element(file, "sprof-x", bytes, SIZE), 0);
    assert_int_equal(fclose(file), 0);
    assert_non_null(strstr(page, "id=\"sprof-x-3\""));
    for (const char *text = page; (text = strchr(text, '>')) != NULL; text++)
        assert_true(strcspn(text, "<") <= PAGE_STREAM_ELEMENT + 1);
    assert_true(unpack("sprof-x"));
    assert_int_equal(block_size, SIZE);
    assert_memory_equal(block, bytes, SIZE);
    free(bytes);
}

static void
names_are_never_markup(void **state)
{
    static const char hostile[] = "</script><script>alert(\"1\")</script>";

    (void)state;
    maker_name(0x10, hostile, "a\"'&<b>");
    maker_name(0x20, "esc\x1b[31m\x7f\n", NULL);
    maker_name(0x30, "caf\xc3\xa9 \xff", NULL);
    maker_add_process(4711, "/bin/<!--");
    maker_add_module(1, "/bin/</script>");
    maker_add_thread(1, 4711, "<img src=x onerror=alert(1)>");
    for (uint32_t i = 1; i <= 3; i++) {
        maker_add_node(i, 0, 1, 0x10 * i, 0);
        maker_add_sample(1, i, i, 0);
    }
    struct profile *profile = load();
    make_page(profile);
    expect_no_markup();
    read_head();
    assert_true(has_string(hostile));
    assert_true(has_string("a\"'&<b>"));
    assert_true(has_string("esc?[31m??"));
    assert_true(has_string("caf\xc3\xa9 ?"));
    assert_true(has_string("<img src=x onerror=alert(1)>"));
    profile_free(profile);
}

static void
a_profile_without_samples_is_a_page(void **state)
{
    (void)state;
    maker_add_head();
    struct profile *profile = load();
    make_page(profile);
    expect_no_markup();
    read_head();
    assert_int_equal(head.rows, 0);
    assert_int_equal(head.nodes, 0);
    assert_int_equal(head.threads, 2);
    assert_non_null(strstr(head.meta, "there are no samples"));
    assert_true(unpack("sprof-time"));
    assert_int_equal(number(), 0);
    profile_free(profile);
}

static void
a_sample_has_its_frames_and_its_time(void **state)
{
    (void)state;
    maker_name(0x10, "main", "inlined");
    maker_add_head();
    maker_add_node(1, 0, 1, 0x10, 0);
    maker_add_sample(2, 1, 3, SYS_futex);
    struct profile *profile = load();
    make_page(profile);
    read_head();
    assert_int_equal(head.functions, 2);
    assert_int_equal(head.frames, 2);
    assert_int_equal(head.nodes, 2);
    assert_int_equal(head.rows, 1);
    assert_int_equal(head.states, 1);
    assert_true(has_string("futex"));
    assert_true(unpack("sprof-time"));
    /* One event; a duration of 4 ms, no CPU time, 3 ms of wall time in 3
     * points; none in thread 1, one in thread 2. */
    static const uint64_t expected[] = {1, 4000000, 0, 3000000, 3,
                                        0, 1,       0, 4000000, 0};
    for (unsigned i = 0; i < sizeof expected / sizeof expected[0]; i++)
        assert_int_equal(number(), expected[i]);
    assert_int_equal(change(), -1000000);
    assert_int_equal(change(), 1000000);
    assert_int_equal(number(), 3);
    assert_int_equal(at, block_size);
    profile_free(profile);
}

/* Write LINES lines into NAME of the test's directory. Returns its path. */
static const char *
make_source(const char *name, unsigned lines)
{
    const char *path = maker_path(name);
    FILE *file = fopen(path, "w");

    assert_non_null(file);
    for (unsigned i = 1; i <= lines; i++)
        fprintf(file, "line %u of %s\n", i, name);
    assert_int_equal(fclose(file), 0);
    return path;
}

/* Two functions of b.c have more time than the one of a.c, and each of them has
 * less. The page shows the first file until a function is chosen. */
static void
the_file_with_most_time_is_first(void **state)
{
    static const char *const texts[] = {"/b.c\"", "line 2 of b.c",
                                        "line 5 of b.c", "/a.c\"",
                                        "line 3 of a.c"};
    static const unsigned lines[] = {5, 3, 2}, counts[] = {2, 3, 2};
    char one[4096], two[4096];

    (void)state;
    snprintf(one, sizeof one, "%s", make_source("a.c", 3));
    snprintf(two, sizeof two, "%s", make_source("b.c", 6));
    maker_name(0x10, "last_of_b", NULL);
    maker_name(0x20, "only_one_of_a", NULL);
    maker_name(0x30, "first_of_b", NULL);
    maker_add_head();
    for (unsigned i = 0; i < 3; i++) {
        maker_names[i].frames[0].file = i == 1 ? one : two;
        maker_names[i].frames[0].line = lines[i];
        maker_add_node(i + 1, 0, 1, 0x10 * (i + 1), 0);
        maker_add_sample(1, i + 1, counts[i], 0);
    }
    struct profile *profile = load();
    const struct page content = {{page_make}, profile, true};
    make(&content.content);
    assert_true(unpack("sprof-source"));
    const char *text = (const char *)block;
    for (unsigned i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        text = strstr(text, texts[i]);
        assert_non_null(text);
    }
    profile_free(profile);
}

/* The second wait names a thread that is not in the profile. */
static void
a_wait_points_to_its_holder(void **state)
{
    struct record_sample record = {.duration = 4000000,
                                   .wall = 4000000,
                                   .count = 4,
                                   .thread = 1,
                                   .node = 1,
                                   .system_call = SYS_futex,
                                   .state = STATE_WAITING};

    (void)state;
    maker_name(0x10, "lock", NULL);
    maker_add_head();
    maker_add_text(7, "mutex of worker (4712)");
    maker_add_text(8, "mutex of other (4799)");
    maker_add_node(1, 0, 1, 0x10, 0);
    for (record.waits_on = 7; record.waits_on <= 8; record.waits_on++) {
        record.time += 5000000;
        maker_append(RECORD_SAMPLE, &record, sizeof record, NULL, 0);
    }
    struct profile *profile = load();
    make_page(profile);
    read_head();
    assert_int_equal(head.waits, 2);
    assert_int_equal(head.holders[0], 2);
    assert_int_equal(head.holders[1], 0);
    assert_int_equal(head.rows, 2);
    assert_true(has_string("mutex of worker (4712)"));
    profile_free(profile);
}

static void
a_page_without_times_says_so(void **state)
{
    (void)state;
    maker_name(0x10, "main", NULL);
    maker_add_head();
    maker_add_node(1, 0, 1, 0x10, 0);
    maker_add_sample(1, 1, 3, 0);
    struct profile *profile = maker_load(NULL);
    make_page(profile);
    assert_false(unpack("sprof-time"));
    read_head();
    assert_non_null(
        strstr(head.meta, "no time axis: the times of the samples"));
    assert_non_null(strstr(head.meta, "\"hasTime\":false"));
    profile_free(profile);
}

static void
many_threads_and_deep_stacks_are_whole(void **state)
{
    enum { THREADS = 100000, DEPTH = 10000 };
    char name[32];

    (void)state;
    maker_name(0x10, "deep", NULL);
    maker_add_process(4711, "/bin/app");
    maker_add_module(1, "/bin/app");
    for (uint32_t i = 1; i <= DEPTH; i++)
        maker_add_node(i, i - 1, 1, 0x10, 0);
    for (uint32_t i = 1; i <= THREADS; i++) {
        snprintf(name, sizeof name, "thread-%u", i);
        maker_add_thread(i, 4711 + i, name);
        maker_add_sample(i, DEPTH - i % 2, 1, 0);
    }
    struct profile *profile = load();
    make_page(profile);
    read_head();
    assert_int_equal(head.threads, THREADS);
    assert_int_equal(head.nodes, DEPTH);
    assert_int_equal(head.frames, 1);
    assert_int_equal(head.rows, THREADS);
    assert_true(has_string("thread-99999"));
    assert_true(page_size < 2000000);
    profile_free(profile);
}

static void
a_comparison_has_rows_with_verdicts(void **state)
{
    const struct diff_options test = {.value = VALUE_CPU,
                                      .absolute = true,
                                      .level = 0.01,
                                      .least = 1,
                                      .fail_above = -1};

    (void)state;
    maker_name(0x10, "same", NULL);
    maker_name(0x20, "slow", NULL);
    maker_name(0x30, "</script>", NULL);
    maker_add_head();
    for (uint32_t i = 1; i <= 3; i++)
        maker_add_node(i, 0, 1, 0x10 * i, 0);
    maker_add_sample(1, 1, 1000, 0);
    maker_add_sample(1, 2, 1000, 0);
    struct profile *old = load();
    maker_add_head();
    for (uint32_t i = 1; i <= 3; i++)
        maker_add_node(i, 0, 1, 0x10 * i, 0);
    maker_add_sample(1, 1, 1000, 0);
    maker_add_sample(1, 2, 1700, 0);
    maker_add_sample(1, 3, 500, 0);
    struct profile *new = load();
    const struct page_diff content = {{page_diff_make}, old, new, &test};
    make(&content.content);
    expect_no_markup();
    read_head();
    assert_non_null(strstr(head.meta, "\"kind\":\"diff\""));
    assert_true(unpack("sprof-head-old"));
    assert_true(unpack("sprof-diff"));
    const char *slow = strstr((char *)block, "{\"name\":\"slow\"");
    const char *gone = strstr((char *)block, "{\"name\":\"</script>\"");
    const char *same = strstr((char *)block, "{\"name\":\"same\"");
    assert_non_null(slow);
    assert_non_null(gone);
    assert_non_null(same);
    assert_memory_equal(strstr(slow, "\"verdict\""), "\"verdict\":\"slower\"",
                        18);
    assert_memory_equal(strstr(gone, "\"verdict\""), "\"verdict\":\"new\"", 15);
    assert_memory_equal(strstr(same, "\"verdict\""), "\"verdict\":\"noise\"",
                        17);
    assert_memory_equal(strstr(slow, "\"oldCount\""),
                        "\"oldCount\":1000,\"newCount\":1700", 31);
    profile_free(old);
    profile_free(new);
}

static void
source_is_there_on_request_only(void **state)
{
    (void)state;
    assert_int_equal(chdir(maker_path("")), 0);
    FILE *file = fopen("file.c", "w");
    assert_non_null(file);
    for (unsigned i = 1; i <= 40; i++)
        fprintf(file, i == 16 ? "\tx = \"</script>\";\x1b\r\n" : "line %u\n",
                i);
    assert_int_equal(fclose(file), 0);
    maker_name(0x10, "main", "inlined");
    maker_add_head();
    maker_add_node(1, 0, 1, 0x10, 0);
    maker_add_sample(1, 1, 3, 0);
    struct profile *profile = load();
    make_page(profile);
    assert_false(unpack("sprof-source"));
    const struct page content = {{page_make}, profile, true};
    make(&content.content);
    expect_no_markup();
    assert_true(unpack("sprof-source"));
    assert_non_null(strstr((char *)block, "{\"name\":\"file.c\""));
    assert_non_null(
        strstr((char *)block, "[16,\"        x = \\\"</script>\\\";?\"]"));
    assert_non_null(strstr((char *)block, "[1,\"line 1\"]"));
    assert_null(strstr((char *)block, "[20,"));
    assert_non_null(strstr((char *)block, "{\"name\":\"inlined.h\",\"problem\":"
                                          "\"No such file or directory\"}"));
    profile_free(profile);
}

static void
waits_name_their_holders(void **state)
{
    (void)state;
    assert_int_equal(wait_text_holder("mutex of worker (4713)"), 4713);
    assert_int_equal(wait_text_holder("end of a (b) (12)"), 12);
    assert_int_equal(wait_text_holder("GIL of a (12) in f.g"), 12);
    assert_int_equal(wait_text_holder(
                         "GIL of a (b) (12) in f, garbage collection"),
                     12);
    assert_int_equal(wait_text_holder("mutex of a (7) in b (12)"), 12);
    assert_int_equal(wait_text_holder("GIL of a (12), garbage collection"), 12);
    assert_int_equal(wait_text_holder("mutex of a (12) b"), 0);
    assert_int_equal(wait_text_holder("/tmp/file (12)"), 0);
    assert_int_equal(wait_text_holder("pipe:[17]"), 0);
    assert_int_equal(wait_text_holder("mutex of worker (4713"), 0);
    assert_int_equal(wait_text_holder("mutex of (99999999999)"), 0);
    assert_int_equal(wait_text_holder("(12)"), 0);
    assert_int_equal(wait_text_holder(""), 0);
}

#define PAGE(name) cmocka_unit_test_setup_teardown(name, maker_forget, forget)

int
main(void)
{
    const struct CMUnitTest units[] = {
        PAGE(numbers_are_varints),
        PAGE(a_long_block_has_several_elements),
        PAGE(names_are_never_markup),
        PAGE(a_profile_without_samples_is_a_page),
        PAGE(a_sample_has_its_frames_and_its_time),
        PAGE(the_file_with_most_time_is_first),
        PAGE(a_wait_points_to_its_holder),
        PAGE(a_page_without_times_says_so),
        PAGE(many_threads_and_deep_stacks_are_whole),
        PAGE(a_comparison_has_rows_with_verdicts),
        PAGE(source_is_there_on_request_only),
        PAGE(waits_name_their_holders),
    };

    return cmocka_run_group_tests(units, maker_begin, maker_end);
}
