/* SPDX-License-Identifier: MIT */
/*
 * query_test.c -- what `sprofile serve` takes from its clients: paths, values,
 * and the headers Host and Origin.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "cli/serve/listen.h"
#include "cli/serve/query.h"

/* Take METHOD, PATH and TEXT ("a=1&b=2"), as libmicrohttpd splits it. */
static struct query
take(const char *method, const char *path, const char *text)
{
    static struct query query;
    char copy[4096], *rest = copy, *pair;
    snprintf(copy, sizeof(copy), "%s", text);
    query_begin(&query, method, path);
    while ((pair = strsep(&rest, "&")) != NULL && pair[0] != '\0') {
        char *value = strchr(pair, '=');
        if (value != NULL)
            *value++ = '\0';
        query_take(&query, pair, value);
    }
    query_end(&query);
    return query;
}

static void
what_is_right_is_taken(void **state)
{
    (void)state;
    static const struct {
        const char *path, *text;
        enum endpoint endpoint;
        double seconds;
        bool is_past;
    } trials[] = {
        {"/", "", ENDPOINT_INDEX, 0, false},
        {"/debug/pprof", "", ENDPOINT_INDEX, 0, false},
        {"/debug/pprof/", "", ENDPOINT_INDEX, 0, false},
        {"/debug/pprof/profile", "", ENDPOINT_PROFILE, 30, false},
        {"/debug/pprof/profile", "seconds=2", ENDPOINT_PROFILE, 2, false},
        {"/debug/pprof/wall", "last=0.5", ENDPOINT_WALL, .5, true},
        {"/debug/pprof/profile", "debug=1&seconds=3600", ENDPOINT_PROFILE, 3600,
         false},
        {"/page", "", ENDPOINT_PAGE, 60, true},
        {"/page", "seconds=1", ENDPOINT_PAGE, 1, false},
        {"/metrics", "pid=1", ENDPOINT_METRICS, 0, false},
        {"/targets", "", ENDPOINT_TARGETS, 0, false},
    };
    for (unsigned i = 0; i < sizeof(trials) / sizeof(trials[0]); i++) {
        struct query query = take("GET", trials[i].path, trials[i].text);
        assert_string_equal(query.error, "");
        assert_int_equal(query.endpoint, trials[i].endpoint);
        assert_int_equal(query.length, (uint64_t)(trials[i].seconds * 1e9));
        assert_int_equal(query.is_past, trials[i].is_past);
    }
    struct query symbol = take("POST", "/debug/pprof/symbol", "0x1+0x2");
    assert_string_equal(symbol.error, "");
}

static void
what_is_wrong_is_refused(void **state)
{
    (void)state;
    static const struct {
        const char *method, *path, *text, *sentence;
        unsigned status;
    } trials[] = {
        {"GET", "/debug/pprof/heap", "", "heap", 404},
        {"GET", "/debug/pprof/profile/", "", "expected", 404},
        {"POST", "/metrics", "", "GET", 405},
        {"DELETE", "/debug/pprof/symbol", "", "GET", 405},
        {"GET", "/debug/pprof/profile", "seconds=0", "0.1 to 3600", 400},
        {"GET", "/debug/pprof/profile", "seconds=3601", "0.1 to 3600", 400},
        {"GET", "/debug/pprof/profile", "seconds=1e3", "0.1 to 3600", 400},
        {"GET", "/debug/pprof/profile", "seconds=-1", "0.1 to 3600", 400},
        {"GET", "/debug/pprof/profile", "seconds=nan", "0.1 to 3600", 400},
        {"GET", "/debug/pprof/profile", "seconds", "0.1 to 3600", 400},
        {"GET", "/debug/pprof/wall", "last=86401", "0.1 to 86400", 400},
        {"GET", "/debug/pprof/wall", "last=1&seconds=1", "once", 400},
        {"GET", "/debug/pprof/wall", "pid=0", "a number", 400},
        {"GET", "/debug/pprof/wall", "pid=1x", "a number", 400},
        {"GET", "/debug/pprof/wall", "exe=", "executable", 400},
        {"GET", "/debug/pprof/wall", "exe=a&exe=b", "once", 400},
        {"GET", "/debug/pprof/wall", "second=1", "seconds=", 400},
        {"GET", "/metrics", "last=1", "this moment", 400},
        {"GET", "/targets", "seconds=1", "this moment", 400},
    };
    for (unsigned i = 0; i < sizeof(trials) / sizeof(trials[0]); i++) {
        struct query query =
            take(trials[i].method, trials[i].path, trials[i].text);
        if (strstr(query.error, trials[i].sentence) == NULL ||
            query.status != trials[i].status)
            fail_msg("%s?%s: %u, \"%s\"", trials[i].path, trials[i].text,
                     query.status, query.error);
    }
}

static void
refusals_show_no_control_characters(void **state)
{
    (void)state;
    struct query query = take("GET", "/\r\nSet-Cookie: a\033[2J", "");
    assert_int_equal(query.status, 404);
    assert_null(strpbrk(query.error, "\r\n\033"));
}

static void
pids_and_executables_choose(void **state)
{
    (void)state;
    struct query query = take("GET", "/metrics", "pid=7&pid=8&exe=app*");
    assert_string_equal(query.error, "");
    assert_true(query_wants(&query, 7, "/usr/bin/app"));
    assert_true(query_wants(&query, 8, "app2"));
    assert_false(query_wants(&query, 9, "/usr/bin/app"));
    assert_false(query_wants(&query, 7, "/usr/bin/other"));
    struct query same = take("GET", "/metrics", "pid=7&pid=8&exe=app*");
    struct query other = take("GET", "/metrics", "pid=7&exe=app*");
    assert_true(query_is_same(&query, &same));
    assert_false(query_is_same(&query, &other));
    char many[4096] = "";
    for (int i = 0; i <= QUERY_PIDS_MOST; i++)
        strcat(many, "pid=7&");
    assert_int_equal(take("GET", "/metrics", many).status, 400);
}

static void
only_names_of_this_server_are_hosts(void **state)
{
    (void)state;
    static const char *const names[] = {"app.example"};
    static const char *const right[] = {"localhost",  "localhost:6060",
                                        "LOCALHOST",  "127.0.0.1:6060",
                                        "10.1.2.3",   "[::1]:6060",
                                        "[::1]",      "app.example:80",
                                        "App.Example"};
    static const char *const wrong[] = {"",
                                        "evil.example",
                                        "localhost.evil.example",
                                        "localhost:6060.evil.example",
                                        "127.0.0.1.evil.example",
                                        "127.1",
                                        "app.example.evil.example",
                                        "app",
                                        "::1",
                                        "[::1",
                                        "[::1]evil",
                                        "app.example:x",
                                        "127.0.0.1:123456",
                                        "[]",
                                        ":6060",
                                        "localhost:80:80"};
    for (unsigned i = 0; i < sizeof(right) / sizeof(right[0]); i++)
        if (!query_host_is_ours(right[i], names, 1))
            fail_msg("%s is refused", right[i]);
    for (unsigned i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++)
        if (query_host_is_ours(wrong[i], names, 1))
            fail_msg("\"%s\" is taken", wrong[i]);
    assert_false(query_host_is_ours(NULL, names, 1));
    assert_false(query_host_is_ours("app.example", names, 0));
    char longest[2048];
    memset(longest, 'a', sizeof(longest));
    longest[sizeof(longest) - 1] = '\0';
    assert_false(query_host_is_ours(longest, names, 1));
}

static void
pages_of_other_origins_are_refused(void **state)
{
    (void)state;
    assert_true(query_origin_is_ours(NULL, "localhost:6060"));
    assert_true(
        query_origin_is_ours("http://localhost:6060", "localhost:6060"));
    assert_false(query_origin_is_ours("http://evil.example", "localhost:6060"));
    assert_false(query_origin_is_ours("null", "localhost:6060"));
    assert_false(
        query_origin_is_ours("https://localhost:6060", "localhost:6060"));
    assert_false(query_origin_is_ours("http://", NULL));
}

static void
addresses_are_parsed(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        bool is_right, is_loopback;
    } trials[] = {
        {"127.0.0.1:6060", true, true},    {"localhost:0", true, true},
        {"[::1]:6060", true, true},        {"0.0.0.0:80", true, false},
        {"[::]:80", true, false},          {"unix:/a", true, true},
        {"unix:", false, false},           {"example.org:80", false, false},
        {"127.0.0.1", false, false},       {"127.0.0.1:", false, false},
        {"127.0.0.1:65536", false, false}, {":80", false, false},
        {"[::1:80", false, false},         {"[]:80", false, false},
        {"::1:80", false, false},          {"", false, false},
    };
    for (unsigned i = 0; i < sizeof(trials) / sizeof(trials[0]); i++) {
        struct listener listener;
        bool is_right = listen_parse(&listener, trials[i].text) == 0;
        if (is_right != trials[i].is_right ||
            (is_right && listener.is_loopback != trials[i].is_loopback))
            fail_msg("%s", trials[i].text);
    }
}

int
main(void)
{
    const struct CMUnitTest units[] = {
        cmocka_unit_test(what_is_right_is_taken),
        cmocka_unit_test(what_is_wrong_is_refused),
        cmocka_unit_test(refusals_show_no_control_characters),
        cmocka_unit_test(pids_and_executables_choose),
        cmocka_unit_test(only_names_of_this_server_are_hosts),
        cmocka_unit_test(pages_of_other_origins_are_refused),
        cmocka_unit_test(addresses_are_parsed),
    };
    return cmocka_run_group_tests(units, NULL, NULL);
}
