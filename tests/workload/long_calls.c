/* SPDX-License-Identifier: MIT */
/*
 * long_calls.c -- system calls that run for long in the kernel, and return what
 * they have done so far when a signal comes. The program does not make them
 * again, so each must do everything.
 */
#include <fcntl.h>
#include <stdio.h>
#include <sys/sendfile.h>
#include <sys/wait.h>
#include <unistd.h>

#include "work.h"

#define SIZE (1l << 30)

static void
send_all(const char *who)
{
    int from = open("long_calls.data", O_RDWR | O_CREAT | O_TRUNC, 0600);
    int to = open("/dev/null", O_WRONLY);

    unlink("long_calls.data");
    if (from < 0 || to < 0 || ftruncate(from, SIZE) != 0)
        work_fail("a file of zeros");
    for (unsigned i = 0; i < 3; i++) {
        off_t offset = 0;
        printf("%s: %zd\n", who, sendfile(to, from, &offset, (size_t)SIZE));
    }
    fflush(stdout);
}

int
main(void)
{
    send_all("parent");
    if (fork() == 0) {
        send_all("child");
        return 0;
    }
    wait(NULL);
    puts("ok");
    return 0;
}
