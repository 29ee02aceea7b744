/* SPDX-License-Identifier: MIT */
/* The kinds of files that are no profiles. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include <cmocka.h>

#include "read/file_kind.h"

static void
expect(const void *bytes, size_t length, const char *words)
{
    char text[256];

    file_kind(bytes, length, text, sizeof text);
    if (words == NULL)
        assert_string_equal(text, "");
    else if (strstr(text, words) == NULL)
        fail_msg("\"%s\" does not say %s", text, words);
}

#define EXPECT(bytes, words) expect(bytes, sizeof(bytes) - 1, words)

static void
files_are_known_by_their_first_bytes(void **state)
{
    const uint64_t gperftools[5] = {0, 3, 0, 10000, 0};
    const uint8_t zeros[64] = {0};
    const uint64_t not_gperftools[5] = {0, 3, 1, 10000, 0};

    (void)state;
    EXPECT("PERFILE2\x68\0\0\0\0\0\0\0", "perf.data");
    EXPECT("gmon\1\0\0\0", "gmon.out");
    EXPECT("v8-version,11,3,244,8,-node.20,0\n", "V8");
    EXPECT("# callgrind format\nversion: 1\n", "callgrind");
    EXPECT("version: 1\ncreator: callgrind-3.19.0\n", "callgrind");
    EXPECT("FLR\0\0\2\0\1", "Flight Recorder");
    EXPECT("PK\3\4\x14\0", "zip");
    expect(gperftools, sizeof gperftools, "gperftools");
    expect(not_gperftools, sizeof not_gperftools, NULL);
    EXPECT("\177ELF\2\1\1\0\0\0\0\0\0\0\0\0\3\0\x3e", "a program");
    EXPECT("\177ELF\2\1\1\0\0\0\0\0\0\0\0\0\4\0\x3e", "core dump");
    expect(zeros, sizeof zeros, "zeros");
    expect(zeros, 8, NULL);
    EXPECT("", "an empty file");
}

static void
texts_are_known_by_their_words(void **state)
{
    (void)state;
    EXPECT(
        "{\"$schema\":\"https://www.speedscope.app/file-format-schema.json\"",
        "speedscope");
    EXPECT("{\"meta\":{\"interval\":1,\"startTime\":0", "Firefox");
    EXPECT("{\"nodes\":[{\"id\":1,\"callFrame\":{", "V8");
    EXPECT(" {\"traceEvents\":[]}", "Chrome");
    EXPECT("{\"a\": 1}", "JSON");
    EXPECT("[{\"a\": 1}]", "JSON");
    EXPECT("\n<!DOCTYPE html>\n<html>", "an HTML page");
    EXPECT("<html><head>", "an HTML page");
    EXPECT("<?xml version=\"1.0\"?><svg>", "SVG");
    EXPECT("main;work;leaf 17\nmain 3\n", "folded");
    EXPECT("hello, world\n", "text");
    EXPECT("count 17\n", "text");
    EXPECT("\3\1\4\1\5\x9f\x26", NULL);
}

static void
compressed_files_are_known_by_what_is_in_them(void **state)
{
    static const char page[] = "<!DOCTYPE html><title>404</title>";
    uint8_t packed[256];
    z_stream stream = {.next_in = (Bytef *)page,
                       .avail_in = sizeof page - 1,
                       .next_out = packed,
                       .avail_out = sizeof packed};

    (void)state;
    assert_int_equal(deflateInit2(&stream, 9, Z_DEFLATED, 31, 8, 0), Z_OK);
    assert_int_equal(deflate(&stream, Z_FINISH), Z_STREAM_END);
    expect(packed, sizeof packed - stream.avail_out, "gzip of an HTML page");
    deflateEnd(&stream);
    /* Damaged, or nothing of it is there: it could be anything. */
    EXPECT("\x1f\x8b", NULL);
    EXPECT("\x1f\x8b\x08\xff\xff\xff\xff\xff", NULL);
}

/* No content makes it read beyond its bytes (under a sanitizer), or more than
 * it says that it needs. */
static void
any_bytes_are_harmless(void **state)
{
    uint8_t bytes[2 * FILE_KIND_BYTES];
    char text[256];

    (void)state;
    srand(4711);
    for (unsigned round = 0; round < 2000; round++) {
        size_t length = (size_t)rand() % sizeof bytes;
        for (size_t i = 0; i < length; i++)
            bytes[i] = (uint8_t)(round % 2 ? rand() : ' ' + rand() % 90);
        file_kind(bytes, length, text, sizeof text);
        assert_true(strlen(text) < sizeof text);
    }
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(files_are_known_by_their_first_bytes),
        cmocka_unit_test(texts_are_known_by_their_words),
        cmocka_unit_test(compressed_files_are_known_by_what_is_in_them),
        cmocka_unit_test(any_bytes_are_harmless),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
