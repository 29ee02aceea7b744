/* SPDX-License-Identifier: MIT */
/*
 * deny_call.c -- runs a program under a seccomp filter, as containers do, in
 * which one system call fails with EPERM, or as on a kernel that lacks it; or
 * under Landlock, which lets nothing be written.
 *
 * Usage: deny_call [-n | -k] CALL COMMAND..., CALL being a name of the table
 * below or "writing"; -n: the call fails with ENOSYS; -k: it kills
 */
#include <errno.h>
#include <linux/filter.h>
#include <linux/landlock.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

static const struct {
    const char *name;
    long number;
} calls[] = {
    {"perf_event_open", SYS_perf_event_open},
    {"timer_create", SYS_timer_create},
    {"process_vm_readv", SYS_process_vm_readv},
    {"unshare", SYS_unshare},
    {"wait4", SYS_wait4},
    {"prctl", SYS_prctl},
    {"close_range", SYS_close_range},
    {"clone3", SYS_clone3},
    {"rseq", SYS_rseq},
    {"getrandom", SYS_getrandom},
    {"sched_setattr", SYS_sched_setattr},
    {"memfd_create", SYS_memfd_create},
};

static int
deny(long number, unsigned action)
{
    struct sock_filter code[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (unsigned)number, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, action),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    struct sock_fprog program = {sizeof(code) / sizeof(code[0]), code};

    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0)
        return -1;
    return prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program);
}

static int
deny_writing(void)
{
    struct landlock_ruleset_attr rules = {.handled_access_fs =
                                              LANDLOCK_ACCESS_FS_WRITE_FILE |
                                              LANDLOCK_ACCESS_FS_MAKE_REG |
                                              LANDLOCK_ACCESS_FS_REMOVE_FILE};
    long fd = syscall(SYS_landlock_create_ruleset, &rules, sizeof(rules), 0);

    if (fd < 0 || prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0)
        return -1;
    return (int)syscall(SYS_landlock_restrict_self, fd, 0);
}

int
main(int argc, char **argv)
{
    unsigned action = SECCOMP_RET_ERRNO | EPERM;

    if (argc > 3 && strcmp(argv[1], "-n") == 0) {
        action = SECCOMP_RET_ERRNO | ENOSYS;
        argv++;
        argc--;
    } else if (argc > 3 && strcmp(argv[1], "-k") == 0) {
        action = SECCOMP_RET_KILL_PROCESS;
        argv++;
        argc--;
    }
    if (argc > 2 && strcmp(argv[1], "writing") == 0 && deny_writing() == 0)
        execvp(argv[2], argv + 2);
    for (size_t i = 0; argc > 2 && i < sizeof(calls) / sizeof(calls[0]); i++)
        if (strcmp(argv[1], calls[i].name) == 0 &&
            deny(calls[i].number, action) == 0)
            execvp(argv[2], argv + 2);
    perror("deny_call");
    return 77;
}
