/* SPDX-License-Identifier: MIT */
/*
 * store_limits_test.c -- the writer at its limits: the cap, a full disk, file
 * systems that cannot reserve, RLIMIT_FSIZE, and a file that was replaced. Each
 * must be an error code, leave a spool that reads well, and harm neither the
 * process nor a foreign file.
 *
 * What a process cannot undo (seccomp filters, limits, mounts) happens in a
 * forked child, whose exit status is the line that failed, 0 or SKIPPED.
 */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "store/reader.h"
#include "store/writer.h"

#include "spool_maker.h"

enum { SKIPPED = 255 };

/* In a child: leave with the number of the line as status, modulo 250. */
#define NEED(condition)                \
    do {                               \
        if (!(condition))              \
            _exit(1 + __LINE__ % 250); \
    } while (0)

/* Run PART in a child and expect it to succeed. */
static void
in_child(void (*part)(void))
{
    int status = -1;
    pid_t child = maker_fork();

    if (child == 0) {
        part();
        _exit(0);
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    if (WIFEXITED(status) && WEXITSTATUS(status) == SKIPPED)
        skip();
    assert_int_equal(status, 0);
}

static uint64_t
file_size(const char *path)
{
    struct stat file;

    return stat(path, &file) == 0 ? (uint64_t)file.st_size : 0;
}

/* More than any limit here allows: a writer that keeps none must stop. */
#define NODES_MOST 200000

/* Append nodes until there is no room for one. Returns how many there were. */
static uint32_t
fill_up(struct writer *writer)
{
    uint32_t id = 1;

    while (id < NODES_MOST && maker_node(writer, id) != 0)
        id++;
    return id - 1;
}

/* Whether the spool at PATH holds the nodes 1 to COUNT, then a SUMMARY if one
 * is WANTED, and ends well. */
static bool
holds_nodes(const char *path, uint32_t count, bool wanted)
{
    char error[512];
    struct reader *reader = reader_open(path, error, sizeof(error));
    enum record_kind kind = RECORD_FILLER;
    bool summary = false, good = reader != NULL;
    uint32_t read = 0;
    const struct record_node *node;

    while (good && (node = (const void *)reader_next(reader, &kind)) != NULL) {
        summary = kind == RECORD_SUMMARY;
        good = summary || (kind == RECORD_NODE && node->id == ++read);
    }
    good = good && reader_problem(reader) == NULL && read == count &&
           summary == wanted;
    reader_end(reader);
    return good;
}

/* WRITER fails with CODE, keeps failing, but has room for one SUMMARY. */
static void
check_failure(struct writer *writer, int code)
{
    uint64_t before = writer_size(writer);

    errno = 0;
    NEED(maker_node(writer, 1) == 0 && errno == code);
    errno = 0;
    NEED(maker_mark(writer, 1, "", 1) == 0 && errno == code);
    NEED(writer_size(writer) == before);
    NEED(maker_summary(writer) != 0);
    errno = 0;
    NEED(maker_summary(writer) == 0 && errno == code);
}

static void
reach_cap(uint64_t cap)
{
    const char *path = maker_path("spool");
    struct writer *writer = maker_create(path, cap);
    uint32_t count;

    NEED(writer != NULL);
    NEED(file_size(path) <= cap);
    count = fill_up(writer);
    NEED(errno == EOVERFLOW);
    NEED(file_size(path) <= cap);
    /* Little of it is left unused. */
    NEED(writer_size(writer) + 4096 + 100 > cap);
    check_failure(writer, EOVERFLOW);
    NEED(writer_close(writer) == 0);
    NEED(holds_nodes(path, count, true));
    NEED(unlink(path) == 0);
}

static void
caps(void)
{
    reach_cap(4096);
    reach_cap(5000);
    reach_cap(256 << 10);
    reach_cap((256 << 10) + 1);
    reach_cap((700 << 10) + 8);
    reach_cap(3 << 20);
}

static void
the_cap_is_kept(void **state)
{
    (void)state;
    in_child(caps);
}

/* Make fallocate answer CODE where its offset is at least FROM. */
static void
spoil_fallocate(int code, uint32_t from)
{
    struct sock_filter filter[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_fallocate, 0, 3),
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS,
                 offsetof(struct seccomp_data, args[2])),
        BPF_JUMP(BPF_JMP | BPF_JGE | BPF_K, from, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | (uint32_t)code),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    struct sock_fprog program = {sizeof(filter) / sizeof(filter[0]), filter};

    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 ||
        prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) != 0)
        _exit(SKIPPED);
}

static void
disk_fills_later(void)
{
    const char *path = maker_path("spool");
    struct writer *writer = maker_create(path, MAKER_CAP);
    uint32_t count;

    NEED(writer != NULL);
    spoil_fallocate(ENOSPC, 1 << 20);
    count = fill_up(writer);
    NEED(errno == ENOSPC);
    NEED(count > 10000);
    check_failure(writer, ENOSPC);
    NEED(writer_close(writer) == 0);
    NEED(holds_nodes(path, count, true));
}

static void
disk_is_full_at_once(void)
{
    const char *path = maker_path("spool");

    spoil_fallocate(ENOSPC, 0);
    NEED(maker_create(path, MAKER_CAP) == NULL);
    NEED(errno == ENOSPC);
    NEED(access(path, F_OK) != 0);
}

static void
a_full_disk_is_an_error(void **state)
{
    (void)state;
    in_child(disk_fills_later);
    maker_clean(state);
    in_child(disk_is_full_at_once);
}

/* A file system of 2 MiB that ends before the cap does. */
static void
small_disk(void)
{
    char disk[PATH_MAX], path[PATH_MAX + 16];
    struct writer *writer;
    uint32_t count;

    snprintf(disk, sizeof(disk), "%s", maker_path("disk"));
    if (mkdir(disk, 0700) != 0 || unshare(CLONE_NEWNS) != 0 ||
        mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) != 0 ||
        mount("none", disk, "tmpfs", 0, "size=2m") != 0)
        _exit(SKIPPED);
    snprintf(path, sizeof(path), "%s/spool", disk);
    writer = maker_create(path, MAKER_CAP);
    NEED(writer != NULL);
    count = fill_up(writer);
    NEED(errno == ENOSPC);
    NEED(writer_size(writer) > 1 << 20);
    check_failure(writer, ENOSPC);
    NEED(writer_close(writer) == 0);
    NEED(holds_nodes(path, count, true));
}

static void
a_small_disk_is_an_error(void **state)
{
    (void)state;
    in_child(small_disk);
}

static int
remove_disk(void **state)
{
    rmdir(maker_path("disk"));
    return maker_clean(state);
}

/* The blocks must be there before they are touched. */
static void
zeros_instead(void)
{
    const char *path = maker_path("spool");
    struct stat file;
    struct writer *writer;
    uint32_t id;

    spoil_fallocate(EOPNOTSUPP, 0);
    writer = maker_create(path, MAKER_CAP);
    NEED(writer != NULL);
    for (id = 1; id <= 20000; id++)
        NEED(maker_node(writer, id) != 0);
    NEED(stat(path, &file) == 0);
    NEED(file.st_size == (256 << 10) + (1 << 20));
    NEED(file.st_blocks * 512 >= file.st_size);
    NEED(writer_close(writer) == 0);
    NEED(holds_nodes(path, 20000, false));
}

static void
zeros_are_written_where_nothing_can_be_reserved(void **state)
{
    (void)state;
    in_child(zeros_instead);
}

/* The kernel would end us by SIGXFSZ if it had to tell us of the limit. */
static void
size_limit(void)
{
    const char *path = maker_path("spool");
    struct rlimit limit = {2 << 20, 2 << 20};
    struct writer *writer;
    uint32_t count;

    signal(SIGXFSZ, SIG_DFL);
    NEED(setrlimit(RLIMIT_FSIZE, &limit) == 0);
    writer = maker_create(path, MAKER_CAP);
    NEED(writer != NULL);
    count = fill_up(writer);
    NEED(errno == EFBIG);
    check_failure(writer, EFBIG);
    NEED(writer_close(writer) == 0);
    NEED(holds_nodes(path, count, true));
    limit.rlim_cur = 1000;
    NEED(setrlimit(RLIMIT_FSIZE, &limit) == 0);
    NEED(maker_create(maker_path("other"), MAKER_CAP) == NULL);
    NEED(errno == EFBIG);
    NEED(access(maker_path("other"), F_OK) != 0);
}

/* Records come to the end of what is reserved, and of the window. */
static void
size_limit_for_a_while(void)
{
    const char *path = maker_path("while");
    struct rlimit limit = {8192, RLIM_INFINITY};
    struct writer *writer = maker_create(path, MAKER_CAP);
    uint32_t id = 0;

    signal(SIGXFSZ, SIG_IGN);
    writer_gather(writer);
    while (writer_size(writer) < (256 << 10) - 2000)
        NEED(maker_node(writer, ++id));
    NEED(writer_flush(writer) == 0);
    NEED(setrlimit(RLIMIT_FSIZE, &limit) == 0);
    for (unsigned i = 0; i < 1000; i++) {
        NEED(maker_node(writer, ++id));
        NEED(writer_flush(writer) == 0);
    }
    limit.rlim_cur = RLIM_INFINITY;
    NEED(setrlimit(RLIMIT_FSIZE, &limit) == 0);
    NEED(maker_node(writer, ++id) && maker_summary(writer));
    NEED(writer_close(writer) == 0);
    NEED(holds_nodes(path, id, true));
}

static void
the_file_size_limit_kills_nobody(void **state)
{
    (void)state;
    in_child(size_limit);
    in_child(size_limit_for_a_while);
}

/* What would still fit is refused, and what would work again. */
static void
one_failure_is_the_end(void **state)
{
    static char text[65000];
    const char *path = maker_path("spool");
    struct writer *writer = maker_create(path, 256 << 10);
    uint32_t count = 0;

    (void)state;
    memset(text, 'x', sizeof(text) - 1);
    while (count < 10 && maker_mark(writer, 1, text, sizeof(text)) != 0)
        count++;
    assert_int_equal(count, 4);
    errno = 0;
    assert_false(maker_node(writer, 1));
    assert_int_equal(errno, EOVERFLOW);
    assert_true(maker_summary(writer));
    assert_int_equal(writer_close(writer), 0);
    assert_int_equal(file_size(path),
                     64 + 4 * (sizeof(struct record_mark) + 65000) + 40);
}

enum replacement { REMOVED, OTHER_FILE, SYMBOLIC_LINK };

static void
replace(enum replacement how, const char *path, const char *moved)
{
    char text[4096];
    int fd;

    assert_int_equal(rename(path, moved), 0);
    if (how == SYMBOLIC_LINK)
        assert_int_equal(symlink(moved, path), 0);
    if (how != OTHER_FILE)
        return;
    fd = open(path, O_CREAT | O_EXCL | O_WRONLY, 0600);
    memset(text, 'x', sizeof(text));
    assert_int_equal(write(fd, text, sizeof(text)), sizeof(text));
    close(fd);
}

static void
a_replaced_file_is_left_alone(void **state)
{
    enum replacement how;

    for (how = REMOVED; how <= SYMBOLIC_LINK; how++) {
        const char *path = maker_path("spool"), *moved = maker_path("moved");
        struct writer *writer = maker_create(path, MAKER_CAP);
        uint32_t count;

        assert_true(maker_node(writer, 1));
        replace(how, path, moved);
        count = 1;
        while (count < NODES_MOST && maker_node(writer, count + 1) != 0)
            count++;
        assert_int_equal(errno, ESTALE);
        if (how == REMOVED) {
            assert_int_equal(rename(moved, path), 0);
            assert_false(maker_node(writer, 1));
            assert_int_equal(errno, ESTALE);
            assert_int_equal(rename(path, moved), 0);
        }
        assert_int_equal(writer_close(writer), -1);
        assert_int_equal(errno, ESTALE);
        if (how == OTHER_FILE)
            assert_int_equal(file_size(path), 4096);
        assert_true(holds_nodes(moved, count, false));
        maker_clean(state);
    }
}

static void
expect_refusal(const char *path, uint64_t cap, int code)
{
    errno = 0;
    assert_null(maker_create(path, cap));
    assert_int_equal(errno, code);
}

static void
wrong_paths_are_refused(void **state)
{
    char name[PATH_MAX + 2];

    (void)state;
    memset(name, '/', sizeof(name));
    name[PATH_MAX + 1] = '\0';
    expect_refusal(name, MAKER_CAP, ENAMETOOLONG);
    expect_refusal("spool", MAKER_CAP, EINVAL);
    expect_refusal(maker_path("no/spool"), MAKER_CAP, ENOENT);
    expect_refusal(maker_path("spool"), 4095, EFBIG);
    assert_int_not_equal(access(maker_path("spool"), F_OK), 0);
    assert_int_equal(symlink("/dev/null", maker_path("link")), 0);
    expect_refusal(maker_path("link"), MAKER_CAP, EEXIST);
    assert_int_equal(maker_small_spool(maker_path("spool")), 0);
    expect_refusal(maker_path("spool"), MAKER_CAP, EEXIST);
    assert_true(file_size(maker_path("spool")) > 64);
}

/* The file has to be opened again, whatever the program's umask. */
static void
the_umask_is_overruled(void **state)
{
    mode_t before = umask(0777);
    struct writer *writer = maker_create(maker_path("spool"), MAKER_CAP);
    struct stat file;

    (void)state;
    umask(before);
    assert_non_null(writer);
    assert_int_equal(stat(maker_path("spool"), &file), 0);
    assert_int_equal(file.st_mode & 07777, 0600);
    assert_int_equal(writer_close(writer), 0);
}

/* No descriptor stays, and none that the program has is disturbed. */
static void
no_descriptor_is_kept(void **state)
{
    int before = dup(0), after;
    struct writer *writer = maker_create(maker_path("spool"), MAKER_CAP);
    uint32_t id;

    (void)state;
    for (id = 1; id < 20000; id++)
        assert_true(maker_node(writer, id));
    after = dup(0);
    assert_int_equal(after, before + 1);
    assert_int_equal(fcntl(512, F_GETFD), -1);
    assert_int_equal(writer_close(writer), 0);
    close(after);
    close(before);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(the_cap_is_kept, maker_clean),
        cmocka_unit_test_teardown(a_full_disk_is_an_error, maker_clean),
        cmocka_unit_test_teardown(a_small_disk_is_an_error, remove_disk),
        cmocka_unit_test_teardown(
            zeros_are_written_where_nothing_can_be_reserved, maker_clean),
        cmocka_unit_test_teardown(the_file_size_limit_kills_nobody,
                                  maker_clean),
        cmocka_unit_test_teardown(one_failure_is_the_end, maker_clean),
        cmocka_unit_test_teardown(a_replaced_file_is_left_alone, maker_clean),
        cmocka_unit_test_teardown(wrong_paths_are_refused, maker_clean),
        cmocka_unit_test_teardown(the_umask_is_overruled, maker_clean),
        cmocka_unit_test_teardown(no_descriptor_is_kept, maker_clean),
    };

    return cmocka_run_group_tests(tests, maker_begin, maker_end);
}
