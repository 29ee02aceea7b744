/* SPDX-License-Identifier: MIT */
/*
 * traces_test.c -- the formats with a time axis: the Firefox Profiler's and
 * speedscope's. Whole files are held against their schemas by scenario 66; here
 * it is what each column says of a small profile.
 */
#include <elf.h>
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/arch.h"
#include "write/output_file.h"

#include "profile_maker.h"

#define MS 1000000ull
static void
add(uint32_t node, enum state state, uint64_t time, uint64_t length)
{
    const struct record_sample record = {
        .time = time,
        .duration = state == STATE_RUNNING ? 0 : length,
        .wall = length,
        .cpu = state == STATE_RUNNING ? length : 0,
        .count = length / MS,
        .thread = 1,
        .node = node,
        .system_call = state == STATE_WAITING ? SYS_futex : SYSCALL_UNKNOWN,
        .state = (uint8_t)state,
        .waits_on = state == STATE_WAITING ? 1 : 0};

    maker_append(RECORD_SAMPLE, &record, sizeof record, NULL, 0);
}

/* main runs parse with token inlined, for 1 ms up to 3 ms; waits from 3.5 ms to
 * 7.5 ms; waits for a CPU until 9 ms, as long as it has. */
static struct profile *
example(void)
{
    const struct symbolizer_options options = {.inlines = true};
    struct profile *profile = profile_new(&options);

    assert_non_null(profile);
    profile->keeps_events = true;
    maker_name(0x10, "main", NULL);
    maker_name(0x20, "parse \"x\"", "token");
    maker_add_head();
    maker_add_text(1, "pipe:[7]");
    maker_add_node(1, 0, 1, 0x11, NODE_RETURN);
    maker_add_node(2, 1, 2, 0x20, 0);
    add(2, STATE_RUNNING, 3 * MS, 1 * MS);
    add(2, STATE_WAITING, 3 * MS + MS / 2, 4 * MS);
    add(1, STATE_RUNQUEUE, 7 * MS + MS / 2, 2 * MS);
    add(1, STATE_RUNNING, 9 * MS, 1 * MS);
    return maker_load(profile);
}

static char *
written(int (*write)(FILE *, struct profile *), struct profile *profile)
{
    char *text = NULL;
    size_t length;
    FILE *stream = open_memstream(&text, &length);

    assert_non_null(stream);
    assert_int_equal(write(stream, profile), 0);
    assert_int_equal(fclose(stream), 0);
    return text;
}

/* PARTS, ended by NULL, occur in TEXT in this order. */
static void
expect_parts(const char *text, const char *const *parts)
{
    const char *at = text;

    for (; *parts != NULL; parts++) {
        at = strstr(at, *parts);
        if (at == NULL)
            fail_msg("%s is missing, or not in its place: %s", *parts, text);
        at += strlen(*parts);
    }
}

static void
firefox_gets_its_fields(void **state)
{
    static const char *const parts[] = {
        "\"interval\":1,",
        "\"preprocessedProfileVersion\":61,",
        "\"subcategories\":[\"Other\",\"futex\"]",
        ARCH_MACHINE == EM_X86_64 ? "\"libs\":[{\"arch\":\"x86_64\","
                                  : "\"libs\":[{\"arch\":\"aarch64\",",
        "\"name\":\"app\",\"path\":\"/bin/app\"",
        "\"codeId\":\"ab01\"}",
        "\"stackTable\":{\"frame\":[0,1,2,3,4,5],"
        "\"prefix\":[null,0,1,1,null,null],\"length\":6}",
        "\"address\":[16,32,32,32,16,16]",
        "\"inlineDepth\":[0,0,1,1,0,0]",
        "\"category\":[null,null,1,2,3,1]",
        "\"subcategory\":[null,null,0,1,0,0]",
        "\"func\":[0,1,2,2,0,0]",
        "\"line\":[16,32,7,7,16,16]",
        "\"resource\":[0,1,1]",
        "\"processName\":\"app\",\"pid\":\"4711\",\"tid\":4711,\"name\":"
        "\"main\"",
        "\"stack\":[null,2,3,3,4,4,5]",
        "\"time\":[0,3,3.5,7.5,7.5,9,9]",
        "\"weight\":[0,1,1,3,1,1,1],\"weightType\":\"tracing-ms\"",
        "\"threadCPUDelta\":[0,1000000,0,0,0,0,1000000],\"length\":7",
        "\"data\":[{\"type\":\"Wait\",\"on\":",
        ",\"cause\":{\"stack\":3}},{\"type\":\"Wait\",\"cause\":{\"stack\":4}},"
        "{\"type\":\"Note\"",
        "\"startTime\":[3.5,7.5,0,9.5,9.5],"
        "\"endTime\":[7.5,9.5,null,null,null],\"phase\":[1,1,0,0,0],"
        "\"category\":[2,3,0,0,0],\"length\":5",
        NULL,
    };
    struct profile *profile = example();
    char *text = written(firefox_write, profile);

    (void)state;
    expect_parts(text, parts);
    assert_non_null(strstr(text, "\"parse \\\"x\\\"\""));
    free(text);
    profile_free(profile);
}

static void
speedscope_gets_its_fields(void **state)
{
    static const char *const parts[] = {
        "\"$schema\":\"https://www.speedscope.app/file-format-schema.json\"",
        "\"shared\":{\"frames\":["
        "{\"name\":\"parse \\\"x\\\"\",\"file\":\"file.c\",\"line\":1},"
        "{\"name\":\"token\",\"file\":\"inlined.h\",\"line\":5},"
        "{\"name\":\"main\",\"file\":\"file.c\",\"line\":1},"
        "{\"name\":\"[waiting]\"},{\"name\":\"[runnable]\"}]}",
        "\"type\":\"sampled\",\"name\":\"main (tid 4711 of app 4711): wall "
        "time\",\"unit\":\"nanoseconds\",\"startValue\":0,",
        "\"samples\":[[],[2,0,1],[],[2,0,1,3],[2,4],[2]],"
        "\"weights\":[2000000,1000000,500000,4000000,2000000,1000000],"
        "\"endValue\":10500000",
        "\"activeProfileIndex\":0",
        NULL,
    };
    struct profile *profile = example();
    char *text = written(speedscope_write_wall, profile);

    (void)state;
    expect_parts(text, parts);
    free(text);
    profile_free(profile);
}

/* A profile of nothing is a file all the same, and one without times is none.
 */
static void
without_times_nothing_is_written(void **state)
{
    int (*const writers[])(FILE *, struct profile *) = {firefox_write,
                                                        speedscope_write};
    const struct symbolizer_options options = {.inlines = true};
    struct profile *profile = profile_new(&options);

    (void)state;
    for (unsigned i = 0; i < 2; i++) {
        FILE *stream = fopen("/dev/null", "w");
        profile->keeps_events = false;
        assert_int_equal(writers[i](stream, profile), -1);
        assert_int_equal(errno, EINVAL);
        fclose(stream);
        profile->keeps_events = true;
        free(written(writers[i], profile));
    }
    profile_free(profile);
}

int
main(void)
{
    const struct CMUnitTest units[] = {
        UNIT(firefox_gets_its_fields),
        UNIT(speedscope_gets_its_fields),
        UNIT(without_times_nothing_is_written),
    };

    return cmocka_run_group_tests(units, maker_begin, maker_end);
}
