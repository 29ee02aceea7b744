/* SPDX-License-Identifier: MIT */
/* proc_test.c -- paths below /proc, and the fields of stat and status. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/proc.h"

static void
paths_name_a_process_or_a_thread(void **state)
{
    char path[PROC_PATH_SIZE];
    (void)state;
    assert_string_equal(proc_path(path, 0, PROC_PROCESS, "/stat"),
                        "/proc/self/stat");
    assert_string_equal(proc_path(path, 12, PROC_PROCESS, "/maps"),
                        "/proc/12/maps");
    assert_string_equal(proc_path(path, 0, 34, "/comm"),
                        "/proc/self/task/34/comm");
    assert_string_equal(proc_path(path, 12, 34, "/status"),
                        "/proc/12/task/34/status");
    assert_string_equal(proc_path(path, 0, PROC_CALLER, "/mem"),
                        "/proc/thread-self/mem");
    /* No thread has the number 0. */
    assert_string_equal(proc_path(path, 0, 0, "/stat"),
                        "/proc/self/task/0/stat");
    proc_path(path, INT32_MAX, INT32_MAX, "/12345678901234567");
    assert_int_equal(strlen(path), 50);
}

static void
a_name_in_stat_may_hold_anything(void **state)
{
    static const char stat[] = "7 (a) Z 1 (b) R 5 6 70\n";
    (void)state;
    assert_int_equal(*proc_stat_field(stat, 3), 'R');
    assert_int_equal(proc_number(proc_stat_field(stat, 6)), 70);
    assert_string_equal(proc_stat_field(stat, 7), "");
    assert_string_equal(proc_stat_field("7 (cut", 3), "");
    assert_string_equal(proc_stat_field("", 3), "");
}

static void
lines_of_status_are_found_by_their_whole_name(void **state)
{
    static const char status[] =
        "Name:\tTgid:\\nTgid:\t9\nState:\tS (sleeping)\n"
        "NSTgid:\t1\nTgid:\t25\nSigBlk:\t00ff\nEnd:";
    (void)state;
    assert_int_equal(*proc_status_line(status, "State"), 'S');
    assert_int_equal(proc_number(proc_status_line(status, "Tgid")), 25);
    assert_int_equal(proc_bits(proc_status_line(status, "SigBlk")), 0xff);
    assert_int_equal(*proc_status_line(status, "Name"), 'T');
    assert_string_equal(proc_status_line(status, "End"), "");
    assert_string_equal(proc_status_line(status, "Sig"), "");
    assert_string_equal(proc_status_line("", "State"), "");
}

static void
the_files_of_this_process_are_read(void **state)
{
    char text[4096];
    (void)state;
    assert_true(proc_read(0, PROC_PROCESS, "/stat", text, sizeof(text)) > 0);
    assert_int_equal(*proc_stat_field(text, 3), 'R');
    assert_true(proc_read(0, getpid(), "/status", text, sizeof(text)) > 0);
    assert_int_equal(proc_number(proc_status_line(text, "Pid")), getpid());
    assert_true(proc_read(0, 0, "/status", text, sizeof(text)) <= 0);
    assert_int_equal(proc_tracer(),
                     proc_number(proc_status_line(text, "TracerPid")));
    assert_int_not_equal(proc_namespace(), 0);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(paths_name_a_process_or_a_thread),
        cmocka_unit_test(a_name_in_stat_may_hold_anything),
        cmocka_unit_test(lines_of_status_are_found_by_their_whole_name),
        cmocka_unit_test(the_files_of_this_process_are_read),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
