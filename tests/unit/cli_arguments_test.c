/* SPDX-License-Identifier: MIT */
/*
 * cli_arguments_test.c -- what the commands take for a number, a time, a
 * filter, an output, a setting or a program, and the sentence with which they
 * refuse the rest. The sentences go to stderr, which is a file here.
 */
#include <elf.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "cli/command.h"
#include "cli/filters.h"
#include "cli/numbers.h"
#include "cli/outputs.h"
#include "cli/record/program.h"
#include "cli/record/settings.h"
#include "cli/result.h"

static char said[4096];
static int to_stderr = -1, file = -1;

/* What is written to stderr from here on is kept for heard(). */
static void
listen(void)
{
    fflush(stderr);
    assert_int_equal(ftruncate(file, 0), 0);
    assert_int_equal(lseek(file, 0, SEEK_SET), 0);
    to_stderr = dup(STDERR_FILENO);
    assert_true(to_stderr >= 0);
    assert_int_equal(dup2(file, STDERR_FILENO), STDERR_FILENO);
}

static const char *
heard(void)
{
    fflush(stderr);
    ssize_t length = pread(file, said, sizeof(said) - 1, 0);
    assert_true(length >= 0);
    said[length] = '\0';
    assert_int_equal(dup2(to_stderr, STDERR_FILENO), STDERR_FILENO);
    close(to_stderr);
    return said;
}

static int
begin(void **state)
{
    (void)state;
    char path[] = "/tmp/cli_arguments.XXXXXX";
    file = mkstemp(path);
    return file >= 0 ? unlink(path) : -1;
}

static int
end(void **state)
{
    (void)state;
    return close(file);
}

static void
rows_are_digits_alone(void **state)
{
    (void)state;
    static const char *const wrong[] = {"",     " 1",  "+1",         "-1", "1x",
                                        "0x10", "1.5", "4294967296", "ten"};
    uint32_t rows = 7;
    assert_int_equal(numbers_take_rows("sprofile report", "0", &rows), 0);
    assert_int_equal(rows, 0);
    assert_int_equal(numbers_take_rows("sprofile report", "4294967295", &rows),
                     0);
    assert_int_equal(rows, UINT32_MAX);
    for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
        listen();
        int status = numbers_take_rows("sprofile report", wrong[i], &rows);
        assert_non_null(strstr(heard(), "expected a number, 0 for all"));
        assert_int_equal(status, STATUS_USAGE);
    }
    listen();
    int status = numbers_take_depth("sprofile report", "deep", &rows);
    assert_non_null(strstr(heard(), "--depth deep: expected a number"));
    assert_int_equal(status, STATUS_USAGE);
}

static void
a_percentage_may_have_its_sign(void **state)
{
    (void)state;
    static const char *const wrong[] = {"",    "%",     "-5",  "5 %",    "5%%",
                                        "1e3", "1.2.3", "inf", "1000001"};
    double percent = 0;
    assert_int_equal(numbers_percent("5%", &percent), 0);
    assert_true(percent == 5);
    assert_int_equal(numbers_percent("0.25", &percent), 0);
    assert_true(percent == 0.25);
    for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++)
        if (numbers_percent(wrong[i], &percent) == 0)
            fail_msg("%s is %f %%", wrong[i], percent);
}

static void
a_pid_is_from_one_on(void **state)
{
    (void)state;
    static const char *const wrong[] = {"0", "-1", "2147483648", "1 ", ""};
    pid_t pid = 0;
    assert_int_equal(numbers_pid("2147483647", &pid), 0);
    assert_int_equal(pid, 2147483647);
    for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++)
        assert_int_equal(numbers_pid(wrong[i], &pid), -1);
}

static void
seconds_are_from_a_tenth_to_a_day(void **state)
{
    (void)state;
    static const char *const wrong[] = {"0.09", "86401", "1s", "-1", ".", ""};
    uint64_t time = 0;
    assert_int_equal(numbers_seconds("0.1", &time), 0);
    assert_int_equal(time, 100000000);
    assert_int_equal(numbers_seconds("86400", &time), 0);
    assert_int_equal(time, 86400000000000);
    for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++)
        assert_int_equal(numbers_seconds(wrong[i], &time), -1);
}

/* The status of --time TEXT; what it says is in FILTER. */
static int
take_time(struct filter_options *filter, const char *text)
{
    listen();
    int status = filters_take(filter, "sprofile report", FILTERS_TIME, text);
    heard();
    return status;
}

static void
a_time_has_two_ends(void **state)
{
    (void)state;
    static const char *const wrong[] = {"-",    "",    "3",   "3-2", "2-2",
                                        "1-2-", "a-b", "1s-", "1-2 "};
    struct filter_options filter = {0};
    assert_int_equal(take_time(&filter, "1.5-3"), STATUS_DONE);
    assert_true(filter.has_time);
    assert_int_equal(filter.from, 1500000000);
    assert_int_equal(filter.to, 3000000000);
    assert_int_equal(take_time(&filter, "2-"), STATUS_DONE);
    assert_int_equal(filter.from, 2000000000);
    assert_true(filter.to == UINT64_MAX);
    assert_int_equal(take_time(&filter, "-2"), STATUS_DONE);
    assert_int_equal(filter.from, 0);
    assert_int_equal(filter.to, 2000000000);
    for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++)
        if (take_time(&filter, wrong[i]) != STATUS_USAGE)
            fail_msg("--time %s was taken", wrong[i]);
    filter_release(&filter);
}

static void
a_filter_that_is_wrong_is_named(void **state)
{
    (void)state;
    static const struct {
        int option;
        const char *argument, *sentence;
    } wrong[] = {
        {FILTERS_FOCUS, "a(", "--focus a(: "},
        {FILTERS_IGNORE, "[", "--ignore [: "},
        {FILTERS_LABEL, "key", "--label key: "},
        {FILTERS_LABEL, "=value", "--label =value: "},
        {'?', NULL, "--help"},
    };
    struct filter_options filter = {0};
    for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
        listen();
        int status = filters_take(&filter, "sprofile report", wrong[i].option,
                                  wrong[i].argument);
        if (strstr(heard(), wrong[i].sentence) == NULL)
            fail_msg("%s is not in: %s", wrong[i].sentence, said);
        assert_int_equal(status, STATUS_USAGE);
    }
    assert_false(filter_is_set(&filter));
    assert_int_equal(filters_take(&filter, "sprofile report", FILTERS_LABEL,
                                  "a=b=c"),
                     STATUS_DONE);
    assert_true(filter_is_set(&filter));
    filter_release(&filter);
}

static void
outputs_stand_between_commas(void **state)
{
    (void)state;
    static const char *const wrong[] = {"", ",a.folded", "a.folded,",
                                        "a.folded,,b.folded", "a.jpeg"};
    struct outputs outputs = {0};
    assert_int_equal(outputs_add(&outputs, "sprofile record",
                                 "a.sprof,b.pb.gz"),
                     0);
    assert_int_equal(outputs_add(&outputs, "sprofile record", "c.json"), 0);
    assert_int_equal(outputs.count, 3);
    assert_string_equal(outputs.paths[1], "b.pb.gz");
    assert_true(outputs_need_events(&outputs));
    char *names = outputs_names(&outputs);
    assert_string_equal(names, "a.sprof, b.pb.gz, c.json");
    free(names);
    outputs_release(&outputs);
    for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
        outputs = (struct outputs){0};
        listen();
        int result = outputs_add(&outputs, "sprofile record", wrong[i]);
        if (heard()[0] == '\0' || result == 0)
            fail_msg("-o %s was taken", wrong[i]);
        outputs_release(&outputs);
    }
}

static void
an_output_needs_a_directory(void **state)
{
    (void)state;
    struct outputs outputs = {0};
    assert_int_equal(outputs_add(&outputs, "sprofile record",
                                 "/nowhere/a.folded"),
                     0);
    listen();
    bool has_place = outputs_have_place(&outputs, "sprofile record");
    assert_non_null(strstr(heard(), "/nowhere/"));
    assert_false(has_place);
    outputs_release(&outputs);
}

static void
a_setting_is_judged_as_the_library_does(void **state)
{
    (void)state;
    struct settings settings = {0};
    assert_true(settings_take(&settings, "SPROF_FREQUENCY", "99",
                              "sprofile record", "-F"));
    assert_int_equal(settings.count, 1);
    assert_string_equal(settings.values[0], "SPROF_FREQUENCY=99");
    listen();
    bool is_taken = settings_take(&settings, "SPROF_FREQUENCY", "many",
                                  "sprofile record", "-F");
    assert_non_null(strstr(heard(), "-F many"));
    assert_false(is_taken);
    assert_int_equal(settings.count, 1);
    settings_release(&settings);
}

/* A file of LENGTH bytes that can be run, at PATH, which mkstemp fills in. */
static void
make_program(char *path, const void *bytes, size_t length)
{
    int fd = mkstemp(path);
    assert_true(fd >= 0);
    assert_int_equal(write(fd, bytes, length), (ssize_t)length);
    assert_int_equal(fchmod(fd, 0755), 0);
    close(fd);
}

static void
a_program_that_cannot_be_preloaded_is_named(void **state)
{
    (void)state;
    char why[512] = "";
    assert_int_equal(program_check("/bin/true", why, sizeof(why)), 0);
    /* The exec is to complain of these. */
    assert_int_equal(program_check("/nowhere/program", why, sizeof(why)), 0);
    assert_int_equal(program_check("/tmp", why, sizeof(why)), 0);

    /* No program header is PT_INTERP: there is none. */
    Elf64_Ehdr head = {.e_ident = {0x7f, 'E', 'L', 'F', ELFCLASS64},
                       .e_machine = EM_X86_64,
                       .e_phoff = sizeof(head),
                       .e_phentsize = sizeof(Elf64_Phdr)};
    char fixed[] = "/tmp/cli_static.XXXXXX";
    make_program(fixed, &head, sizeof(head));
    assert_int_equal(program_check(fixed, why, sizeof(why)), -1);
    assert_non_null(strstr(why, "static"));

    head.e_machine = EM_AARCH64;
    char foreign[] = "/tmp/cli_foreign.XXXXXX";
    make_program(foreign, &head, sizeof(head));
    assert_int_equal(program_check(foreign, why, sizeof(why)), -1);
    assert_null(strstr(why, "static"));

    char script[] = "/tmp/cli_script.XXXXXX", line[64];
    int length = snprintf(line, sizeof(line), "#!%s\n", fixed);
    make_program(script, line, (size_t)length);
    assert_int_equal(program_check(script, why, sizeof(why)), -1);
    assert_non_null(strstr(why, "static"));
    unlink(fixed);
    unlink(foreign);
    unlink(script);
}

int
main(void)
{
    const struct CMUnitTest units[] = {
        cmocka_unit_test(rows_are_digits_alone),
        cmocka_unit_test(a_percentage_may_have_its_sign),
        cmocka_unit_test(a_pid_is_from_one_on),
        cmocka_unit_test(seconds_are_from_a_tenth_to_a_day),
        cmocka_unit_test(a_time_has_two_ends),
        cmocka_unit_test(a_filter_that_is_wrong_is_named),
        cmocka_unit_test(outputs_stand_between_commas),
        cmocka_unit_test(an_output_needs_a_directory),
        cmocka_unit_test(a_setting_is_judged_as_the_library_does),
        cmocka_unit_test(a_program_that_cannot_be_preloaded_is_named),
    };
    return cmocka_run_group_tests(units, begin, end);
}
