/* SPDX-License-Identifier: MIT */
/*
 * file_kind.c -- see file_kind.h. Most binary formats begin with fixed bytes.
 * file(1) uses the same bytes. A text format is recognised by words near its
 * beginning. The order of the table TRAITS matters, because several formats are
 * JSON.
 */
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <zlib.h>

#include "util/gzip.h"
#include "file_kind.h"

/* WINDOW_BITS limits zlib's window, as a power of 2 in bytes. 15 is the
 * largest. zlib expects a gzip header if 16 is added. */
enum { WINDOW_BITS = 15 + 16 };

/* Kinds of files with fixed bytes at the beginning. The bytes may include NUL.
 */
static const struct magic {
    const char *bytes;
    size_t length;
    const char *words;
} magics[] = {
#define MAGIC(bytes, words)             \
    {                                   \
        bytes, sizeof(bytes) - 1, words \
    }
    MAGIC("PERFILE2", "perf.data, which `perf report` reads"),
    MAGIC("2ELIFREP", "perf.data of another byte order, which `perf report` "
                      "reads"),
    MAGIC("PERFFILE", "perf.data, which `perf report` reads"),
    MAGIC("gmon", "gmon.out, which gprof reads"),
    MAGIC("v8-version,", "a log of V8, which `node --prof-process` reads"),
    MAGIC("# callgrind format", "callgrind's output, which "
                                "callgrind_annotate reads"),
    MAGIC("DTiJ", "jitdump, which `perf inject --jit` reads"),
    MAGIC("JiTD", "jitdump, which `perf inject --jit` reads"),
    MAGIC("FLR\0", "a recording of Java's Flight Recorder, which `jfr` reads"),
    MAGIC("JAVA PROFILE 1.0", "a heap dump of Java"),
    MAGIC("desc: ", "massif's output, which ms_print reads"),
    MAGIC("heap profile:", "a heap profile of gperftools, which `pprof` reads"),
    MAGIC("heap_v2/", "a heap profile of jemalloc, which jeprof reads"),
    MAGIC("\x5e\x97\xca\xfd", "a capture of sysprof, which sysprof reads"),
    MAGIC("\xd4\xc3\xb2\xa1", "a network capture"),
    MAGIC("PK\3\4", "a zip archive"),
    MAGIC("BZh", "data compressed by bzip2"),
    MAGIC("\xfd"
          "7zXZ",
          "data compressed by xz"),
    MAGIC("\x28\xb5\x2f\xfd", "data compressed by zstd"),
    MAGIC("SQLite format 3", "a database of SQLite"),
    MAGIC("#!", "a script; `sprofile record` runs programs"),
    MAGIC("\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0",
          "zeros: a file that nobody has written to"),
#undef MAGIC
};

/* Kinds of text files. ONE and OTHER must occur near the beginning. OTHER may
 * be empty. The first byte that is no blank must be FIRST, unless FIRST is NUL.
 */
static const struct trait {
    char first;
    const char *one, *other;
    const char *words;
} traits[] = {
    {'{', "speedscope.app/file-format", "",
     "a profile for speedscope, which is written and not read"},
    {'{', "\"preprocessedProfileVersion\"", "",
     "a profile for the Firefox Profiler, which is written and not read"},
    {'{', "\"meta\"", "\"interval\"",
     "a profile for the Firefox Profiler, which is written and not read"},
    {'{', "\"callFrame\"", "\"nodes\"", "a CPU profile of V8 (.cpuprofile)"},
    {'{', "\"traceEvents\"", "", "a trace for Chrome or Perfetto"},
    {'{', "\"resourceProfiles\"", "", "profiles of OpenTelemetry"},
    {'{', "\"", "", "JSON"},
    {'[', "\"", "", "JSON"},
    {'<', "<!doctype html", "", "an HTML page"},
    {'<', "<html", "", "an HTML page"},
    {'<', "<svg", "", "an SVG picture"},
    {'<', "<?xml", "", "XML"},
    {0, "creator: callgrind", "",
     "callgrind's output, which callgrind_annotate reads"},
    {0, "fn=", "events:", "callgrind's output, which callgrind_annotate reads"},
    {0, "version https://git-lfs", "", "a pointer of Git LFS to a file"},
};

static const char *
kind_by_magic(const uint8_t *head, size_t length)
{
    for (size_t i = 0; i < sizeof(magics) / sizeof(magics[0]); i++)
        if (length >= magics[i].length &&
            memcmp(head, magics[i].bytes, magics[i].length) == 0)
            return magics[i].words;
    return NULL;
}

/* Distinguish kinds of ELF files by e_type in the header (elf(5)). The file is
 * little endian. */
static const char *
kind_of_elf(const uint8_t *head, size_t length)
{
    enum { TYPE = 16, CORE = 4 };
    if (length < TYPE + 2 || memcmp(head, "\177ELF", 4) != 0)
        return NULL;
    return head[TYPE] == CORE
               ? "a core dump, which gdb reads"
               : "a program or a library; `sprofile record` runs programs";
}

/* The legacy format of gperftools begins with five words of the machine's size.
 * They are 0, 3, 0, the period in us, and 0 (docs/cpuprofile-fileformat.html of
 * gperftools). */
static const char *
kind_of_gperftools(const uint8_t *head, size_t length)
{
    uint64_t words[5];
    if (length < sizeof(words))
        return NULL;
    memcpy(words, head, sizeof(words));
    if (words[0] != 0 || words[1] != 3 || words[2] != 0 || words[4] != 0 ||
        words[3] == 0 || words[3] > 100 * 1000 * 1000)
        return NULL;
    return "a CPU profile of gperftools, which `go tool pprof -proto` makes a "
           "pprof file of";
}

static bool
is_text(const uint8_t *head, size_t length)
{
    for (size_t i = 0; i < length; i++)
        if ((head[i] < ' ' && strchr("\t\n\r\f\033", head[i]) == NULL) ||
            head[i] == '\0' || head[i] == 0x7f)
            return false;
    return length > 0;
}

/* Whether HEAD contains TEXT. Upper and lower case are equal. */
static bool
has(const char *head, const char *text)
{
    return strcasestr(head, text) != NULL;
}

/* Whether the first line is like "main;work;leaf 17". */
static bool
is_folded(const char *head)
{
    size_t line = strcspn(head, "\n"), digits = 0;
    while (digits < line && head[line - 1 - digits] >= '0' &&
           head[line - 1 - digits] <= '9')
        digits++;
    return digits > 0 && digits < line && head[line - 1 - digits] == ' ' &&
           memchr(head, ';', line) != NULL;
}

static const char *
kind_of_text(const uint8_t *bytes, size_t length)
{
    char head[FILE_KIND_BYTES + 1];
    const char *begin = head;
    if (!is_text(bytes, length))
        return NULL;
    memcpy(head, bytes, length);
    head[length] = '\0';
    begin += strspn(begin, " \t\r\n");
    for (size_t i = 0; i < sizeof(traits) / sizeof(traits[0]); i++)
        if ((traits[i].first == '\0' || traits[i].first == *begin) &&
            has(begin, traits[i].one) && has(begin, traits[i].other))
            return traits[i].words;
    return is_folded(begin) ? "folded stacks, which are written and not read"
                            : "text";
}

/* Unpack the beginning of the gzip file at HEAD into TO. Returns the number of
 * bytes in TO. It is 0 if the file cannot be unpacked. */
static size_t
unpack(const void *head, size_t length, uint8_t to[FILE_KIND_BYTES])
{
    z_stream stream = {.next_in = (Bytef *)head,
                       .avail_in = (uInt)length,
                       .next_out = to,
                       .avail_out = FILE_KIND_BYTES};

    if (inflateInit2(&stream, WINDOW_BITS) != Z_OK)
        return 0;
    inflate(&stream, Z_SYNC_FLUSH);
    inflateEnd(&stream);
    return FILE_KIND_BYTES - stream.avail_out;
}

static const char *
known_kind(const uint8_t *head, size_t length)
{
    const char *words = length == 0 ? "an empty file" : NULL;
    if (words == NULL)
        words = kind_of_gperftools(head, length);
    if (words == NULL)
        words = kind_by_magic(head, length);
    if (words == NULL)
        words = kind_of_elf(head, length);
    return words != NULL ? words : kind_of_text(head, length);
}

/* Whether the file is a tar archive. The magic of USTAR is in its first header,
 * at byte 257 (tar(5)). */
static bool
is_tar(const uint8_t *head, size_t length)
{
    enum { MAGIC_AT = 257 };
    return length > MAGIC_AT + 5 && memcmp(head + MAGIC_AT, "ustar", 5) == 0;
}

void
file_kind(const void *head, size_t length, char *text, size_t size)
{
    const char *where = "";
    if (length > FILE_KIND_BYTES)
        length = FILE_KIND_BYTES;
    uint8_t inside[FILE_KIND_BYTES];
    if (gzip_recognize(head, length)) {
        length = unpack(head, length, inside);
        head = inside;
        where = "gzip of ";
    }
    const char *words =
        is_tar(head, length) ? "a tar archive" : known_kind(head, length);
    text[0] = '\0';
    /* A gzip file that cannot be unpacked is damaged. Its kind is unknown. */
    if (words != NULL && (length > 0 || head != inside))
        snprintf(text, size, "it looks like %s%s", where, words);
}
