/* SPDX-License-Identifier: MIT */
/*
 * user_faults.c -- memory whose pages a thread of the program supplies
 * (userfaultfd(2)): as its data, as its stacks, and beside them. What the
 * kernel does not have is "not here".
 *
 * Argument: a word of the table at the end.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/userfaultfd.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <ucontext.h>
#include <unistd.h>

#include "cases.h"

#define PAGE 4096u
#define PAGES 64u

static char *heap;
static atomic_uint faults;

static char *
map(size_t size)
{
    char *memory = mmap(NULL, size, PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

    if (memory == MAP_FAILED)
        work_fail("mmap");
    return memory;
}

/* A thread answers the faults of others, slowly; they wait in the kernel. */
static void *
answer_faults(void *argument)
{
    const int *fd = argument;
    char *page = map(PAGE);
    struct uffd_msg message;

    while (read(*fd, &message, sizeof message) == sizeof message) {
        struct uffdio_copy copy = {.src = (uintptr_t)page, .len = PAGE};

        copy.dst = message.arg.pagefault.address & ~(uint64_t)(PAGE - 1);
        memset(page, 'a' + (int)((char *)copy.dst - heap) / (int)PAGE % 26,
               PAGE);
        cases_compute(1);
        /* A thread that a signal (of a sample, say) interrupts asks once more.
         * */
        if (ioctl(*fd, UFFDIO_COPY, &copy) == 0)
            atomic_fetch_add(&faults, 1);
        else if (errno != EEXIST)
            work_fail("UFFDIO_COPY");
    }
    return NULL;
}

static void *
read_heap(void *argument)
{
    unsigned sum = 0;

    for (unsigned i = 0; i < PAGES; i++)
        sum += (unsigned char)heap[i * PAGE + i];
    printf("sum %u\n", sum);
    return argument;
}

/* Faults in PAGES pages from START on come to the descriptor returned; -1: the
 * kernel has no such thing. */
static int
register_faults(char *start)
{
    struct uffdio_api api = {.api = UFFD_API};
    struct uffdio_register range = {.mode = UFFDIO_REGISTER_MODE_MISSING};
    int fd = (int)syscall(SYS_userfaultfd, O_CLOEXEC);

    range.range.start = (uintptr_t)start;
    range.range.len = PAGES * PAGE;
    if (fd < 0 || ioctl(fd, UFFDIO_API, &api) != 0 ||
        ioctl(fd, UFFDIO_REGISTER, &range) != 0)
        return -1;
    return fd;
}

/* Let START run, with ATTRIBUTES, over a heap that is filled so. */
static void
run_on_faults(const pthread_attr_t *attributes, void *(*start)(void *))
{
    int fd = register_faults(heap);
    pthread_t thread, other;

    if (fd < 0) {
        puts("not here");
        return;
    }
    pthread_create(&thread, NULL, answer_faults, &fd);
    pthread_create(&other, attributes, start, NULL);
    pthread_join(other, NULL);
    pthread_cancel(thread);
    pthread_join(thread, NULL);
}

static void
supplied_heap(void)
{
    heap = map(PAGES * PAGE);
    run_on_faults(NULL, read_heap);
    printf("%u faults\n", atomic_load(&faults));
}

static void *
use_libc(void *argument)
{
    cases_use_libc();
    puts("ran");
    return argument;
}

/* A thread runs on a stack whose pages come from another thread: also those
 * that a signal's frame needs. */
static void
supplied_stack(void)
{
    pthread_attr_t attributes;

    heap = map(PAGES * PAGE);
    pthread_attr_init(&attributes);
    pthread_attr_setstack(&attributes, heap, PAGES * PAGE);
    run_on_faults(&attributes, use_libc);
}

/* A thread's stack, and a coroutine's, end where memory begins that only they
 * themselves can supply. A reader of that memory would wait for ever. */
static void
supply_nothing(void)
{
    for (unsigned i = 0; i < 20; i++) {
        cases_compute(1);
        usleep(1000);
    }
}

static ucontext_t beside_loop, beside;

static void *
run_beside(void *argument)
{
    supply_nothing();
    getcontext(&beside);
    beside.uc_stack.ss_sp = argument;
    beside.uc_stack.ss_size = PAGES * PAGE;
    beside.uc_link = &beside_loop;
    makecontext(&beside, supply_nothing, 0);
    swapcontext(&beside_loop, &beside);
    return argument;
}

static void
neighbours(void)
{
    const size_t size = PAGES * PAGE;
    unsigned char pages[PAGES];
    char *stacks = map(4 * size);
    pthread_attr_t attributes;
    pthread_t thread;

    for (unsigned i = 1; i < 4; i += 2)
        if (register_faults(stacks + i * size) < 0) {
            puts("not here");
            return;
        }
    pthread_attr_init(&attributes);
    pthread_attr_setstack(&attributes, stacks, size);
    pthread_create(&thread, &attributes, run_beside, stacks + 2 * size);
    pthread_join(thread, NULL);
    for (unsigned i = 1; i < 4; i += 2) {
        unsigned touched = 0;

        mincore(stacks + i * size, size, pages);
        for (unsigned page = 0; page < PAGES; page++)
            touched += pages[page] & 1u;
        printf("%u pages touched\n", touched);
    }
}

static const struct named_case cases[] = {
    {"heap", supplied_heap, 0},
    {"stack", supplied_stack, 0},
    {"neighbours", neighbours, 0},
};

int
main(int argc, char **argv)
{
    return cases_run(argc, argv, cases, sizeof cases / sizeof cases[0]);
}
