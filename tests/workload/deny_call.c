/* SPDX-License-Identifier: MIT */
/*
 * deny_call.c -- runs a program under a seccomp filter, as containers do, in
 * which one system call fails with EPERM.
 *
 * Usage: deny_call CALL COMMAND..., CALL being a name of the table below
 */
#include <errno.h>
#include <linux/filter.h>
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
};

static int
deny(long number)
{
    struct sock_filter code[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (unsigned)number, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    struct sock_fprog program = {sizeof(code) / sizeof(code[0]), code};

    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0)
        return -1;
    return prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program);
}

int
main(int argc, char **argv)
{
    for (size_t i = 0; argc > 2 && i < sizeof(calls) / sizeof(calls[0]); i++)
        if (strcmp(argv[1], calls[i].name) == 0 && deny(calls[i].number) == 0)
            execvp(argv[2], argv + 2);
    perror("deny_call");
    return 77;
}
