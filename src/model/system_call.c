/* SPDX-License-Identifier: MIT */
/*
 * system_call.c -- the names of system calls, by number. They are
 * data and not constants of the compiling machine, because a spool may be read
 * on another machine than its writer's. Each architecture has its own list. A
 * name is found by counting, which is quick enough: it is looked up once for
 * each state of a profile, not for each sample.
 */
#include <elf.h>
#include <stddef.h>
#include <string.h>

#include "store/layout.h"
#include "system_call.h"

/* The name for a wait that replaces a system call (SYSCALL_GIL). */
#define GIL "gil"

/* Calls 0, 1, 2, ... without a gap, each name ended by a NUL. */
static const char old_names[] =
    "read\0write\0open\0close\0stat\0fstat\0lstat\0poll\0lseek\0mmap\0"
    "mprotect\0munmap\0brk\0rt_sigaction\0rt_sigprocmask\0rt_sigreturn\0"
    "ioctl\0pread64\0pwrite64\0readv\0writev\0access\0pipe\0select\0"
    "sched_yield\0mremap\0msync\0mincore\0madvise\0shmget\0shmat\0shmctl\0"
    "dup\0dup2\0pause\0nanosleep\0getitimer\0alarm\0setitimer\0getpid\0"
    "sendfile\0socket\0connect\0accept\0sendto\0recvfrom\0sendmsg\0recvmsg\0"
    "shutdown\0bind\0listen\0getsockname\0getpeername\0socketpair\0"
    "setsockopt\0getsockopt\0clone\0fork\0vfork\0execve\0exit\0wait4\0kill\0"
    "uname\0semget\0semop\0semctl\0shmdt\0msgget\0msgsnd\0msgrcv\0msgctl\0"
    "fcntl\0flock\0fsync\0fdatasync\0truncate\0ftruncate\0getdents\0getcwd\0"
    "chdir\0fchdir\0rename\0mkdir\0rmdir\0creat\0link\0unlink\0symlink\0"
    "readlink\0chmod\0fchmod\0chown\0fchown\0lchown\0umask\0gettimeofday\0"
    "getrlimit\0getrusage\0sysinfo\0times\0ptrace\0getuid\0syslog\0getgid\0"
    "setuid\0setgid\0geteuid\0getegid\0setpgid\0getppid\0getpgrp\0setsid\0"
    "setreuid\0setregid\0getgroups\0setgroups\0setresuid\0getresuid\0"
    "setresgid\0getresgid\0getpgid\0setfsuid\0setfsgid\0getsid\0capget\0"
    "capset\0rt_sigpending\0rt_sigtimedwait\0rt_sigqueueinfo\0rt_sigsuspend\0"
    "sigaltstack\0utime\0mknod\0uselib\0personality\0ustat\0statfs\0fstatfs\0"
    "sysfs\0getpriority\0setpriority\0sched_setparam\0sched_getparam\0"
    "sched_setscheduler\0sched_getscheduler\0sched_get_priority_max\0"
    "sched_get_priority_min\0sched_rr_get_interval\0mlock\0munlock\0"
    "mlockall\0munlockall\0vhangup\0modify_ldt\0pivot_root\0_sysctl\0prctl\0"
    "arch_prctl\0adjtimex\0setrlimit\0chroot\0sync\0acct\0settimeofday\0"
    "mount\0umount2\0swapon\0swapoff\0reboot\0sethostname\0setdomainname\0"
    "iopl\0ioperm\0create_module\0init_module\0delete_module\0"
    "get_kernel_syms\0query_module\0quotactl\0nfsservctl\0getpmsg\0putpmsg\0"
    "afs_syscall\0tuxcall\0security\0gettid\0readahead\0setxattr\0lsetxattr\0"
    "fsetxattr\0getxattr\0lgetxattr\0fgetxattr\0listxattr\0llistxattr\0"
    "flistxattr\0removexattr\0lremovexattr\0fremovexattr\0tkill\0time\0"
    "futex\0sched_setaffinity\0sched_getaffinity\0set_thread_area\0io_setup\0"
    "io_destroy\0io_getevents\0io_submit\0io_cancel\0get_thread_area\0"
    "lookup_dcookie\0epoll_create\0epoll_ctl_old\0epoll_wait_old\0"
    "remap_file_pages\0getdents64\0set_tid_address\0restart_syscall\0"
    "semtimedop\0fadvise64\0timer_create\0timer_settime\0timer_gettime\0"
    "timer_getoverrun\0timer_delete\0clock_settime\0clock_gettime\0"
    "clock_getres\0clock_nanosleep\0exit_group\0epoll_wait\0epoll_ctl\0"
    "tgkill\0utimes\0vserver\0mbind\0set_mempolicy\0get_mempolicy\0mq_open\0"
    "mq_unlink\0mq_timedsend\0mq_timedreceive\0mq_notify\0mq_getsetattr\0"
    "kexec_load\0waitid\0add_key\0request_key\0keyctl\0ioprio_set\0"
    "ioprio_get\0inotify_init\0inotify_add_watch\0inotify_rm_watch\0"
    "migrate_pages\0openat\0mkdirat\0mknodat\0fchownat\0futimesat\0"
    "newfstatat\0unlinkat\0renameat\0linkat\0symlinkat\0readlinkat\0"
    "fchmodat\0faccessat\0pselect6\0ppoll\0unshare\0set_robust_list\0"
    "get_robust_list\0splice\0tee\0sync_file_range\0vmsplice\0move_pages\0"
    "utimensat\0epoll_pwait\0signalfd\0timerfd_create\0eventfd\0fallocate\0"
    "timerfd_settime\0timerfd_gettime\0accept4\0signalfd4\0eventfd2\0"
    "epoll_create1\0dup3\0pipe2\0inotify_init1\0preadv\0pwritev\0"
    "rt_tgsigqueueinfo\0perf_event_open\0recvmmsg\0fanotify_init\0"
    "fanotify_mark\0prlimit64\0name_to_handle_at\0open_by_handle_at\0"
    "clock_adjtime\0syncfs\0sendmmsg\0setns\0getcpu\0process_vm_readv\0"
    "process_vm_writev\0kcmp\0finit_module\0sched_setattr\0sched_getattr\0"
    "renameat2\0seccomp\0getrandom\0memfd_create\0kexec_file_load\0bpf\0"
    "execveat\0userfaultfd\0membarrier\0mlock2\0copy_file_range\0preadv2\0"
    "pwritev2\0pkey_mprotect\0pkey_alloc\0pkey_free\0statx\0io_pgetevents\0"
    "rseq";

/* The same for aarch64, which has the numbers of asm-generic/unistd.h. Numbers
 * with an empty name belong to no call. */
static const char generic_names[] =
    "io_setup\0io_destroy\0io_submit\0io_cancel\0io_getevents\0setxattr\0"
    "lsetxattr\0fsetxattr\0getxattr\0lgetxattr\0fgetxattr\0listxattr\0"
    "llistxattr\0flistxattr\0removexattr\0lremovexattr\0fremovexattr\0"
    "getcwd\0lookup_dcookie\0eventfd2\0epoll_create1\0epoll_ctl\0"
    "epoll_pwait\0dup\0dup3\0fcntl\0inotify_init1\0inotify_add_watch\0"
    "inotify_rm_watch\0ioctl\0ioprio_set\0ioprio_get\0flock\0mknodat\0"
    "mkdirat\0unlinkat\0symlinkat\0linkat\0renameat\0umount2\0mount\0"
    "pivot_root\0nfsservctl\0statfs\0fstatfs\0truncate\0ftruncate\0"
    "fallocate\0faccessat\0chdir\0fchdir\0chroot\0fchmod\0fchmodat\0"
    "fchownat\0fchown\0openat\0close\0vhangup\0pipe2\0quotactl\0getdents64\0"
    "lseek\0read\0write\0readv\0writev\0pread64\0pwrite64\0preadv\0pwritev\0"
    "sendfile\0pselect6\0ppoll\0signalfd4\0vmsplice\0splice\0tee\0"
    "readlinkat\0newfstatat\0fstat\0sync\0fsync\0fdatasync\0sync_file_range\0"
    "timerfd_create\0timerfd_settime\0timerfd_gettime\0utimensat\0acct\0"
    "capget\0capset\0personality\0exit\0exit_group\0waitid\0set_tid_address\0"
    "unshare\0futex\0set_robust_list\0get_robust_list\0nanosleep\0getitimer\0"
    "setitimer\0kexec_load\0init_module\0delete_module\0timer_create\0"
    "timer_gettime\0timer_getoverrun\0timer_settime\0timer_delete\0"
    "clock_settime\0clock_gettime\0clock_getres\0clock_nanosleep\0syslog\0"
    "ptrace\0sched_setparam\0sched_setscheduler\0sched_getscheduler\0"
    "sched_getparam\0sched_setaffinity\0sched_getaffinity\0sched_yield\0"
    "sched_get_priority_max\0sched_get_priority_min\0sched_rr_get_interval\0"
    "restart_syscall\0kill\0tkill\0tgkill\0sigaltstack\0rt_sigsuspend\0"
    "rt_sigaction\0rt_sigprocmask\0rt_sigpending\0rt_sigtimedwait\0"
    "rt_sigqueueinfo\0rt_sigreturn\0setpriority\0getpriority\0reboot\0"
    "setregid\0setgid\0setreuid\0setuid\0setresuid\0getresuid\0setresgid\0"
    "getresgid\0setfsuid\0setfsgid\0times\0setpgid\0getpgid\0getsid\0setsid\0"
    "getgroups\0setgroups\0uname\0sethostname\0setdomainname\0getrlimit\0"
    "setrlimit\0getrusage\0umask\0prctl\0getcpu\0gettimeofday\0settimeofday\0"
    "adjtimex\0getpid\0getppid\0getuid\0geteuid\0getgid\0getegid\0gettid\0"
    "sysinfo\0mq_open\0mq_unlink\0mq_timedsend\0mq_timedreceive\0mq_notify\0"
    "mq_getsetattr\0msgget\0msgctl\0msgrcv\0msgsnd\0semget\0semctl\0"
    "semtimedop\0semop\0shmget\0shmctl\0shmat\0shmdt\0socket\0socketpair\0"
    "bind\0listen\0accept\0connect\0getsockname\0getpeername\0sendto\0"
    "recvfrom\0setsockopt\0getsockopt\0shutdown\0sendmsg\0recvmsg\0"
    "readahead\0brk\0munmap\0mremap\0add_key\0request_key\0keyctl\0clone\0"
    "execve\0mmap\0fadvise64\0swapon\0swapoff\0mprotect\0msync\0mlock\0"
    "munlock\0mlockall\0munlockall\0mincore\0madvise\0remap_file_pages\0"
    "mbind\0get_mempolicy\0set_mempolicy\0migrate_pages\0move_pages\0"
    "rt_tgsigqueueinfo\0perf_event_open\0accept4\0recvmmsg\0\0\0\0\0\0\0\0\0"
    "\0\0\0\0\0\0\0\0wait4\0prlimit64\0fanotify_init\0fanotify_mark\0"
    "name_to_handle_at\0open_by_handle_at\0clock_adjtime\0syncfs\0setns\0"
    "sendmmsg\0process_vm_readv\0process_vm_writev\0kcmp\0finit_module\0"
    "sched_setattr\0sched_getattr\0renameat2\0seccomp\0getrandom\0"
    "memfd_create\0bpf\0execveat\0userfaultfd\0membarrier\0mlock2\0"
    "copy_file_range\0preadv2\0pwritev2\0pkey_mprotect\0pkey_alloc\0"
    "pkey_free\0statx\0io_pgetevents\0rseq\0kexec_file_load";

/* NEW_FIRST: from this number on all architectures share their numbers. */
enum { NEW_FIRST = 424 };
static const char new_names[] =
    "pidfd_send_signal\0io_uring_setup\0io_uring_enter\0io_uring_register\0"
    "open_tree\0move_mount\0fsopen\0fsconfig\0fsmount\0fspick\0pidfd_open\0"
    "clone3\0close_range\0openat2\0pidfd_getfd\0faccessat2\0process_madvise\0"
    "epoll_pwait2\0mount_setattr\0quotactl_fd\0landlock_create_ruleset\0"
    "landlock_add_rule\0landlock_restrict_self\0memfd_secret\0"
    "process_mrelease\0futex_waitv\0set_mempolicy_home_node";

/* The name at INDEX in a list of SIZE bytes, NULL if the list is shorter. */
static const char *
name_at(const char *list, size_t size, unsigned index)
{
    const char *end = list + size;
    while (index > 0 && list < end) {
        list += strlen(list) + 1;
        index--;
    }
    return list < end && *list != '\0' ? list : NULL;
}

const char *
system_call_name(uint32_t machine, unsigned number)
{
    if (number == SYSCALL_GIL)
        return GIL;
    if (number >= NEW_FIRST)
        return name_at(new_names, sizeof(new_names), number - NEW_FIRST);
    if (machine == EM_X86_64)
        return name_at(old_names, sizeof(old_names), number);
    if (machine == EM_AARCH64)
        return name_at(generic_names, sizeof(generic_names), number);
    return NULL;
}

/* A search is quick enough: both lists are short, and a caller has few
 * names. */
uint16_t
system_call_number(uint32_t machine, const char *name)
{
    enum { NUMBERS = 1024 };
    if (strcmp(name, GIL) == 0)
        return SYSCALL_GIL;
    for (uint16_t i = 0; i < NUMBERS; i++) {
        const char *other = system_call_name(machine, i);
        if (other != NULL && strcmp(other, name) == 0)
            return i;
    }
    return UINT16_MAX;
}
