/* SPDX-License-Identifier: MIT */
/*
 * write_test.c -- the writers: exact text, a pprof profile that is unpacked
 * again, and files that appear whole or not at all.
 */
#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#include "pprof.pb-c.h"
#include "write/output_file.h"
#include "write/report.h"
#include "show/text_report.h"

#include "profile_maker.h"

/* main;parse (2), main;parse;token (3, inlined in "next;"), main;read (4,
 * waiting), and one stack without a root. */
static struct profile *
example(void)
{
    maker_name(0x10, "main", NULL);
    maker_name(0x20, "parse", NULL);
    maker_name(0x30, "next;", "token");
    maker_name(0x40, "read", NULL);
    maker_add_head();
    maker_add_node(1, 0, 1, 0x11, NODE_RETURN);
    maker_add_node(2, 1, 1, 0x20, 0);
    maker_add_node(3, 1, 1, 0x21, NODE_RETURN);
    maker_add_node(4, 3, 1, 0x30, 0);
    maker_add_node(5, 1, 2, 0x40, 0);
    maker_add_node(6, 0, 0, CUT_NO_RULE, NODE_TRUNCATED);
    maker_add_node(7, 6, 2, 0x40, 0);
    maker_add_sample(1, 2, 1, 0);
    maker_add_sample(2, 2, 1, 0);
    maker_add_sample(1, 4, 3, 0);
    maker_add_sample(1, 5, 4, 202);
    maker_add_sample(2, 7, 1, 0);
    return maker_load(NULL);
}

/* What WRITE makes of PROFILE; the caller frees it. */
static char *
written(int (*write)(FILE *, struct profile *), struct profile *profile,
        size_t *length)
{
    char *text = NULL;
    FILE *stream = open_memstream(&text, length);

    assert_non_null(stream);
    assert_int_equal(write(stream, profile), 0);
    assert_int_equal(fclose(stream), 0);
    return text;
}

static void
folded_stacks_have_their_counts(void **state)
{
    struct profile *profile = example();
    size_t length;
    char *text = written(folded_write, profile, &length);

    (void)state;
    assert_string_equal(text, "[truncated];read 1\n"
                              "main;parse 2\n"
                              "main;parse;next?;token 3\n");
    free(text);
    text = written(folded_write_wall, profile, &length);
    assert_string_equal(text, "[truncated];read 1\n"
                              "main;parse 2\n"
                              "main;parse;next?;token 3\n"
                              "main;read;[waiting] 4\n");
    free(text);
    profile_free(profile);
}

static void
a_text_has_its_tables(void **state)
{
    struct profile *profile = example();
    size_t length;
    char *text = written(text_report_write, profile, &length);
    const char *table = strstr(text, " cpu flat");

    (void)state;
    assert_non_null(strstr(text, "command  app -x\n"));
    assert_non_null(
        strstr(text, "samples  6 of 2 threads, 4 looks at waits\n"));
    assert_non_null(strstr(text, "totals   0.006 s CPU, 0.010 s wall time\n"));
    assert_non_null(table);
    assert_string_equal(
        table, " cpu flat      %    ±   cpu cum      %  wall flat   wall cum  "
               "function\n"
               "    0.003   50.0 31.2     0.003   50.0      0.003      0.003  "
               "token (app)\n"
               "    0.002   33.3 36.7     0.005   83.3      0.002      0.005  "
               "parse (app)\n"
               "    0.001   16.7 39.7     0.001   16.7      0.005      0.005  "
               "read (libx.so)\n"
               "    0.000    0.0 39.0     0.005   83.3      0.000      0.009  "
               "main (app)\n"
               "    0.000    0.0 39.0     0.003   50.0      0.000      0.003  "
               "next; (app)\n"
               "    0.000    0.0 39.0     0.001   16.7      0.000      0.001  "
               "[truncated]\n");
    free(text);
    profile_free(profile);
}

static void
long_names_are_whole_in_files(void **state)
{
    char name[600];
    struct profile *profile;
    size_t length;
    char *text;

    (void)state;
    memset(name, 'x', sizeof name - 1);
    name[sizeof name - 1] = '\0';
    maker_name(0x10, name, NULL);
    maker_add_head();
    maker_add_node(1, 0, 1, 0x10, 0);
    maker_add_sample(1, 1, 1, 0);
    profile = maker_load(NULL);
    text = written(text_report_write, profile, &length);
    assert_non_null(strstr(text, name));
    free(text);
    profile_free(profile);
}

/* Decompress and unpack what pprof_write made. */
static Perftools__Profiles__Profile *
unpacked(struct profile *profile)
{
    static uint8_t plain[1 << 20];
    Perftools__Profiles__Profile *pprof;
    z_stream stream = {0};
    size_t length;
    char *packed = written(pprof_write, profile, &length);

    assert_int_equal(inflateInit2(&stream, 15 + 16), Z_OK);
    stream.next_in = (uint8_t *)packed;
    stream.avail_in = (unsigned)length;
    stream.next_out = plain;
    stream.avail_out = sizeof plain;
    assert_int_equal(inflate(&stream, Z_FINISH), Z_STREAM_END);
    assert_int_equal(stream.avail_in, 0);
    inflateEnd(&stream);
    free(packed);
    pprof =
        perftools__profiles__profile__unpack(NULL,
                                             sizeof plain - stream.avail_out,
                                             plain);
    assert_non_null(pprof);
    return pprof;
}

static const Perftools__Profiles__Location *
location_of(const Perftools__Profiles__Profile *pprof, uint64_t id)
{
    for (size_t i = 0; i < pprof->n_location; i++)
        if (pprof->location[i]->id == id)
            return pprof->location[i];
    fail_msg("no location %llu", (unsigned long long)id);
    return NULL;
}

/* The name of line INDEX of a location. */
static const char *
function_at(const Perftools__Profiles__Profile *pprof,
            const Perftools__Profiles__Location *location, size_t index)
{
    uint64_t id = location->line[index]->function_id;

    for (size_t i = 0; i < pprof->n_function; i++)
        if (pprof->function[i]->id == id)
            return pprof->string_table[pprof->function[i]->name];
    fail_msg("no function %llu", (unsigned long long)id);
    return NULL;
}

static void
a_pprof_file_has_its_head(void **state)
{
    static const char *const types[] = {"samples", "cpu", "wall"};
    struct profile *profile = example();
    Perftools__Profiles__Profile *pprof = unpacked(profile);
    char **texts = pprof->string_table;

    (void)state;
    assert_string_equal(texts[0], "");
    assert_int_equal(pprof->n_sample_type, 3);
    for (unsigned i = 0; i < 3; i++) {
        assert_string_equal(texts[pprof->sample_type[i]->type], types[i]);
        assert_string_equal(texts[pprof->sample_type[i]->unit],
                            i == 0 ? "count" : "nanoseconds");
    }
    assert_string_equal(texts[pprof->default_sample_type], "cpu");
    assert_string_equal(texts[pprof->period_type->type], "wall");
    assert_int_equal(pprof->period, 1000000);
    assert_int_equal(pprof->time_nanos, 2000);
    assert_int_equal(pprof->duration_nanos, 5000000);
    assert_string_equal(texts[pprof->comment[0]],
                        "process: 4711 on unknown host, /bin/app");
    assert_string_equal(texts[pprof->comment[1]], "command: app -x");
    assert_int_equal(pprof->n_mapping, 2);
    assert_string_equal(texts[pprof->mapping[0]->filename], "/bin/app");
    assert_string_equal(texts[pprof->mapping[0]->build_id], "ab01");
    assert_int_equal(pprof->mapping[0]->memory_start, MAKER_BASE);
    assert_true(pprof->mapping[0]->has_line_numbers);
    assert_true(pprof->mapping[1]->has_functions);
    assert_false(pprof->mapping[1]->has_line_numbers);
    perftools__profiles__profile__free_unpacked(pprof, NULL);
    profile_free(profile);
}

static void
a_pprof_file_has_its_stacks(void **state)
{
    struct profile *profile = example();
    Perftools__Profiles__Profile *pprof = unpacked(profile);
    const Perftools__Profiles__Sample *sample;
    const Perftools__Profiles__Location *location;

    (void)state;
    assert_int_equal(pprof->n_sample, 5);
    sample = pprof->sample[2];
    assert_int_equal(sample->value[0], 3);
    assert_int_equal(sample->value[1], 3000000);
    assert_int_equal(sample->n_location_id, 3);
    location = location_of(pprof, sample->location_id[0]);
    assert_int_equal(location->n_line, 2);
    assert_string_equal(function_at(pprof, location, 0), "token");
    assert_string_equal(function_at(pprof, location, 1), "next;");
    assert_int_equal(location->line[0]->line, 7);
    assert_int_equal(location->address, MAKER_BASE + 0x30);
    assert_int_equal(location->mapping_id, 1);
    /* A return address is looked up, and shown, one byte before. */
    location = location_of(pprof, sample->location_id[1]);
    assert_int_equal(location->address, MAKER_BASE + 0x20);
    /* parse as a leaf and as a caller is the same place here. */
    assert_int_equal(pprof->sample[0]->location_id[0], location->id);
    location = location_of(pprof, pprof->sample[4]->location_id[1]);
    assert_string_equal(function_at(pprof, location, 0), "[truncated]");
    assert_int_equal(location->mapping_id, 0);
    perftools__profiles__profile__free_unpacked(pprof, NULL);
    profile_free(profile);
}

/* PROFILE gets another process with a sample of TRIGGER. */
static struct profile *
triggered(struct profile *profile, enum trigger trigger)
{
    const struct record_sample record = {.count = 1,
                                         .wall = 500000,
                                         .thread = 1,
                                         .system_call = 0,
                                         .state = STATE_WAITING,
                                         .trigger = (uint8_t)trigger,
                                         .waits_on = 1};

    maker_add_process(4800, "/bin/other");
    maker_add_thread(1, 4800, "");
    maker_add_text(1, "pipe:[17]");
    maker_append(RECORD_SAMPLE, &record, sizeof record, NULL, 0);
    return maker_load(profile);
}

static void
a_pprof_file_has_its_labels(void **state)
{
    struct profile *profile = example();
    Perftools__Profiles__Profile *pprof = unpacked(profile);
    const Perftools__Profiles__Sample *sample = pprof->sample[3];
    char **texts = pprof->string_table;

    (void)state;
    assert_int_equal(sample->n_label, 3);
    assert_string_equal(texts[sample->label[0]->key], "thread");
    assert_string_equal(texts[sample->label[0]->str], "main");
    assert_string_equal(texts[sample->label[1]->key], "tid");
    assert_int_equal(sample->label[1]->num, 4711);
    assert_string_equal(texts[sample->label[2]->key], "state");
    assert_string_equal(texts[sample->label[2]->str], "futex");
    perftools__profiles__profile__free_unpacked(pprof, NULL);

    /* With a second process, each sample says whose it is. */
    profile = triggered(profile, TRIGGER_KEPT);
    pprof = unpacked(profile);
    texts = pprof->string_table;
    sample = pprof->sample[5];
    assert_int_equal(sample->n_label, 4);
    assert_string_equal(texts[sample->label[1]->str], "read");
    assert_string_equal(texts[sample->label[2]->key], "waits_on");
    assert_string_equal(texts[sample->label[2]->str], "pipe:[17]");
    assert_string_equal(texts[sample->label[3]->key], "process");
    assert_string_equal(texts[sample->label[3]->str], "other.4800");
    perftools__profiles__profile__free_unpacked(pprof, NULL);
    profile_free(profile);
}

/* Only where a thread was asked do the outputs say what that means. */
static void
asking_is_noted(void **state)
{
    struct profile *profile = triggered(example(), TRIGGER_PERF);
    Perftools__Profiles__Profile *pprof = unpacked(profile);
    size_t length;
    char *text = written(text_report_write, profile, &length);

    (void)state;
    assert_null(strstr(text, "note "));
    assert_int_equal(pprof->n_comment, 9);
    free(text);
    perftools__profiles__profile__free_unpacked(pprof, NULL);
    profile = triggered(profile, TRIGGER_ASK);
    pprof = unpacked(profile);
    text = written(text_report_write, profile, &length);
    assert_non_null(strstr(text, "\nnote     running threads were asked"));
    assert_int_equal(pprof->n_comment, 12);
    assert_non_null(strstr(pprof->string_table[pprof->comment[10]],
                           "note: running threads were asked"));
    free(text);
    perftools__profiles__profile__free_unpacked(pprof, NULL);
    profile_free(profile);
}

/* How many files are in the test's directory. */
static unsigned
files(void)
{
    DIR *directory = opendir(maker_path("."));
    unsigned count = 0;

    assert_non_null(directory);
    while (readdir(directory) != NULL)
        count++;
    closedir(directory);
    return count - 2;
}

static void
an_output_appears_whole(void **state)
{
    struct profile *profile = example();
    const char *path = maker_path("out.folded"), *other = maker_path("other");
    unsigned before = files();
    char error[512];
    struct stat status;

    (void)state;
    assert_int_equal(symlink(other, path), 0);
    assert_int_equal(output_file_write(path, profile, error, sizeof error), 0);
    assert_int_equal(lstat(path, &status), 0);
    assert_true(S_ISREG(status.st_mode));
    assert_int_equal(status.st_mode & 07777, 0600);
    assert_int_equal(status.st_size, 57);
    assert_int_equal(access(other, F_OK), -1);
    assert_int_equal(files(), before + 1);
    profile_free(profile);
}

static void
an_output_fails_cleanly(void **state)
{
    struct profile *profile = example();
    char path[PATH_MAX], error[PATH_MAX + 256];
    unsigned before = files();

    (void)state;
    snprintf(path, sizeof path, "%s", maker_path("out.svg"));
    assert_int_equal(output_file_write(path, profile, error, sizeof error), -1);
    assert_non_null(strstr(error, "out.svg: unknown ending, expected one of"));
    snprintf(path, sizeof path, "%s", maker_path("missing/out.txt"));
    assert_int_equal(output_file_write(path, profile, error, sizeof error), -1);
    assert_non_null(strstr(error, "No such file or directory"));
    assert_int_equal(files(), before);

    /* The name is taken by a directory: rename refuses. */
    snprintf(path, sizeof path, "%s", maker_path("taken.txt"));
    assert_int_equal(mkdir(path, 0700), 0);
    assert_int_equal(output_file_write(path, profile, error, sizeof error), -1);
    assert_int_equal(files(), before + 1);
    assert_int_equal(rmdir(path), 0);
    profile_free(profile);
}

static void
a_full_disk_is_told(void **state)
{
    struct profile *profile = example();
    FILE *full = fopen("/dev/full", "w");

    (void)state;
    assert_non_null(full);
    setbuf(full, NULL);
    assert_int_equal(folded_write(full, profile), -1);
    assert_int_equal(errno, ENOSPC);
    assert_int_equal(pprof_write(full, profile), -1);
    assert_int_equal(errno, ENOSPC);
    assert_int_equal(text_report_write(full, profile), -1);
    fclose(full);
    profile_free(profile);
}

static void
a_report_writes_all_outputs(void **state)
{
    char first[PATH_MAX], wrong[PATH_MAX], last[PATH_MAX];
    const char *const outputs[] = {first, wrong, last};
    struct sprof_report report = {.inlines = 1,
                                  .outputs = outputs,
                                  .output_count = 3};

    (void)state;
    profile_free(example());
    snprintf(first, sizeof first, "%s", maker_path("a.pb.gz"));
    snprintf(wrong, sizeof wrong, "%s", maker_path("missing/b.txt"));
    snprintf(last, sizeof last, "%s", maker_path("c.txt"));
    maker_name_count = 0;
    maker_add_head();
    maker_add_node(1, 0, 1, 0x10, 0);
    maker_add_sample(1, 1, 3, 0);
    report.spool = maker_finish();
    assert_int_equal(sprof_report_write(&report), -1);
    assert_int_equal(report.samples, 3);
    assert_int_equal(report.threads, 1);
    assert_non_null(strstr(report.error, "missing/b.txt"));
    assert_int_equal(access(first, F_OK), 0);
    assert_int_equal(access(last, F_OK), 0);
    report.output_count = 1;
    assert_int_equal(sprof_report_write(&report), 0);
    assert_string_equal(report.error, "");
}

static void
a_report_of_nothing_writes_nothing(void **state)
{
    const char *const output = maker_path("none.txt");
    struct sprof_report report = {.outputs = &output, .output_count = 1};

    (void)state;
    report.spool = maker_path("missing.sprof");
    assert_int_equal(sprof_report_write(&report), -1);
    assert_non_null(strstr(report.error, "missing.sprof"));
    assert_null(strchr(report.error, '\n'));

    /* Without a sample there is nothing to write. */
    maker_add_head();
    report.spool = maker_finish();
    assert_int_equal(sprof_report_write(&report), 0);
    assert_int_equal(report.samples, 0);
    assert_int_equal(access(output, F_OK), -1);
}

int
main(void)
{
    const struct CMUnitTest units[] = {
        UNIT(folded_stacks_have_their_counts),
        UNIT(a_text_has_its_tables),
        UNIT(long_names_are_whole_in_files),
        UNIT(a_pprof_file_has_its_head),
        UNIT(a_pprof_file_has_its_stacks),
        UNIT(a_pprof_file_has_its_labels),
        UNIT(asking_is_noted),
        UNIT(an_output_appears_whole),
        UNIT(an_output_fails_cleanly),
        UNIT(a_full_disk_is_told),
        UNIT(a_report_writes_all_outputs),
        UNIT(a_report_of_nothing_writes_nothing),
    };

    return cmocka_run_group_tests(units, maker_begin, maker_end);
}
