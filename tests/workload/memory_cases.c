/* SPDX-License-Identifier: MIT */
/*
 * memory_cases.c -- memory that faults because the program wants it so, stacks
 * and code that it makes itself, and mappings of unusual kinds. What the kernel
 * does not have is "not here".
 *
 * Argument: a word of the table at the end.
 */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <ucontext.h>
#include <unistd.h>

#include "cases.h"

#define PAGE 4096u
#define PAGES 64u
/* <linux/signal.h>, which cannot stand beside <signal.h>. */
#define AUTODISARM (1u << 31)

static char *heap;
static atomic_uint faults, strange;

static char *
map(size_t size, int protection, int flags)
{
    char *memory = mmap(NULL, size, protection,
                        MAP_PRIVATE | MAP_ANONYMOUS | flags, -1, 0);

    if (memory == MAP_FAILED)
        work_fail("mmap");
    return memory;
}

/* A collector's write barrier: the handler runs on its own stack, which is
 * disarmed meanwhile, and opens the page. */
static void
open_page(int signo, siginfo_t *info, void *context)
{
    char *page = (char *)((uintptr_t)info->si_addr & ~(uintptr_t)(PAGE - 1));
    stack_t now;

    (void)context;
    sigaltstack(NULL, &now);
    if (signo != SIGSEGV || info->si_code != SEGV_ACCERR || page < heap ||
        page >= heap + PAGES * PAGE || (now.ss_flags & SS_DISABLE) == 0)
        atomic_fetch_add(&strange, 1);
    cases_compute(1);
    atomic_fetch_add(&faults, 1);
    mprotect(page, PAGE, PROT_READ | PROT_WRITE);
}

static void *
write_pages(void *argument)
{
    stack_t stack = {.ss_sp = map(64 * PAGE, PROT_READ | PROT_WRITE, 0),
                     .ss_size = 64 * PAGE,
                     .ss_flags = (int)AUTODISARM},
            now;

    if (sigaltstack(&stack, NULL) != 0)
        work_fail("sigaltstack");
    for (unsigned round = 0; round < 2; round++) {
        mprotect(heap, PAGES * PAGE, PROT_READ);
        for (unsigned i = 0; i < PAGES; i++)
            heap[i * PAGE]++;
    }
    sigaltstack(NULL, &now);
    printf("alternate stack %s, flags %x\n",
           now.ss_sp == stack.ss_sp ? "as set" : "lost",
           (unsigned)now.ss_flags);
    return argument;
}

static void
collector(void)
{
    struct sigaction action = {.sa_sigaction = open_page,
                               .sa_flags = SA_SIGINFO | SA_ONSTACK};
    pthread_t thread;

    heap = map(PAGES * PAGE, PROT_READ | PROT_WRITE, 0);
    sigaction(SIGSEGV, &action, NULL);
    pthread_create(&thread, NULL, write_pages, NULL);
    pthread_join(thread, NULL);
    printf("%u faults, %u strange, %d\n", atomic_load(&faults),
           atomic_load(&strange), heap[PAGE]);
}

/* Coroutines on stacks with a guard page, that move from thread to thread. */
#define COROUTINES 16u
static ucontext_t loops[2], coroutines[COROUTINES];
static unsigned steps[COROUTINES], current;

static void
coroutine(void)
{
    for (;;) {
        unsigned me = current;

        cases_compute(1);
        steps[me]++;
        swapcontext(&coroutines[me], &loops[steps[me] % 2 == 0]);
    }
}

static void *
run_coroutines(void *argument)
{
    unsigned which = argument != NULL;

    for (current = 0; current < COROUTINES; current++)
        swapcontext(&loops[which], &coroutines[current]);
    return argument;
}

static void
coroutine_threads(void)
{
    static unsigned sum;

    for (unsigned i = 0; i < COROUTINES; i++) {
        char *stack = map(9 * PAGE, PROT_NONE, 0);

        mprotect(stack + PAGE, 8 * PAGE, PROT_READ | PROT_WRITE);
        getcontext(&coroutines[i]);
        coroutines[i].uc_stack.ss_sp = stack + PAGE;
        coroutines[i].uc_stack.ss_size = 8 * PAGE;
        makecontext(&coroutines[i], coroutine, 0);
    }
    for (uintptr_t round = 0; round < 6; round++) {
        pthread_t thread;

        pthread_create(&thread, NULL, run_coroutines, (void *)(round % 2));
        pthread_join(thread, NULL);
    }
    for (unsigned i = 0; i < COROUTINES; i++)
        sum += steps[i];
    printf("%u steps\n", sum);
}

/* Code that is written anew while threads are sampled in it; never writable
 * and executable at once. */
static void
generated(void)
{
    /* mov $count, %ecx; L: sub $1, %ecx; jne L; mov $value, %eax; ret */
    unsigned char code[] = {0xb9, 0x40, 0x0d, 0x03, 0, 0x83, 0xe9, 0x01,
                            0x75, 0xfb, 0xb8, 0,    0, 0,    0,    0xc3};
    char *page = map(PAGE, PROT_READ | PROT_WRITE, 0);
    unsigned sum = 0;

    for (unsigned i = 0; i < 300; i++) {
        int (*function)(void);

        code[11] = (unsigned char)i;
        mprotect(page, PAGE, PROT_READ | PROT_WRITE);
        memcpy(page + i % 32 * 16, code, sizeof code);
        mprotect(page, PAGE, PROT_READ | PROT_EXEC);
        *(void **)&function = page + i % 32 * 16;
        sum += (unsigned)function();
    }
    printf("sum %u\n", sum);
}

/* A key that forbids the thread its own data, as a sandbox does. */
static void
keys(void)
{
    char *secret = map(PAGE, PROT_READ | PROT_WRITE, 0);
    int key = pkey_alloc(0, 0);

    if (key < 0) {
        puts("not here");
        return;
    }
    pkey_mprotect(secret, PAGE, PROT_READ | PROT_WRITE, key);
    for (unsigned i = 0; i < 100; i++) {
        pkey_set(key, PKEY_DISABLE_ACCESS);
        cases_compute(1);
        if (pkey_get(key) != PKEY_DISABLE_ACCESS)
            puts("the key was changed");
        pkey_set(key, 0);
        secret[0]++;
    }
    printf("%d\n", secret[0]);
}

/* Reserved but never touched; moved; and what a child gets of it. */
static void
reserve(void)
{
    size_t huge = (size_t)1 << 40;
    char *none = mmap(NULL, huge, PROT_NONE,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    char *block = map(8u << 20, PROT_READ | PROT_WRITE, 0);

    printf("reserved: %s\n", none == MAP_FAILED ? strerror(errno) : "1 TiB");
    for (unsigned i = 0; i < 50; i++) {
        size_t size = (size_t)8 << 20, larger = size + ((size_t)i << 16);

        memset(block, (int)i, PAGE);
        block = mremap(block, i == 0 ? size : larger - (1u << 16), larger,
                       MREMAP_MAYMOVE);
        if (block == MAP_FAILED || block[PAGE - 1] != (char)i)
            work_fail("mremap");
        cases_compute(1);
    }
    puts("moved");
}

static void
inherited(void)
{
    char *kept = map(3 * PAGE, PROT_READ | PROT_WRITE, 0);

    memset(kept, 'x', 3 * PAGE);
    if (madvise(kept, PAGE, MADV_DONTFORK) != 0 ||
        madvise(kept + PAGE, PAGE, MADV_WIPEONFORK) != 0)
        work_fail("madvise");
    for (unsigned i = 0; i < 3; i++) {
        pid_t child = fork();

        if (child == 0) {
            unsigned char there;
            int gone = mincore(kept, PAGE, &there) != 0 && errno == ENOMEM;

            cases_use_libc();
            printf("%s, %d, %c\n", gone ? "gone" : "there", kept[PAGE],
                   kept[2 * PAGE]);
            exit(0);
        }
        cases_say_end(child);
    }
    printf("%.1s\n", kept);
}

static void
grow(unsigned depth)
{
    volatile char room[PAGE];

    room[0] = (char)depth;
    if (depth > 0)
        grow(depth - 1);
    else
        work_sleep(20);
    if (room[0] != (char)depth)
        puts("overwritten");
    KEEP_FRAME();
}

static void
run_on_own_stack(void)
{
    grow(20);
    cases_use_libc();
    cases_compute(20);
}

/* Run and wait on a stack that ends at STACK + SIZE. */
static void
switch_to(char *stack, size_t size)
{
    ucontext_t self, other;

    getcontext(&other);
    other.uc_stack.ss_sp = stack;
    other.uc_stack.ss_size = size;
    other.uc_link = &self;
    makecontext(&other, run_on_own_stack, 0);
    swapcontext(&self, &other);
    puts("ran");
}

/* Memory that even the kernel does not see: no process_vm_readv. */
static void
secret(void)
{
    int fd = (int)syscall(SYS_memfd_secret, 0);
    char *stack;

    if (fd < 0 || ftruncate(fd, PAGES * PAGE) != 0) {
        puts("not here");
        return;
    }
    stack = mmap(NULL, PAGES * PAGE, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    if (stack == MAP_FAILED)
        work_fail("mmap");
    switch_to(stack, PAGES * PAGE);
}

/* The kernel extends these two stacks as they are written. */
static void
grows_down(void)
{
    char *area = map(1024 * PAGE, PROT_NONE, MAP_NORESERVE);
    char *stack = area + 1000 * PAGE;

    munmap(area, 1024 * PAGE);
    if (mmap(stack, 4 * PAGE, PROT_READ | PROT_WRITE,
             MAP_PRIVATE | MAP_ANONYMOUS | MAP_GROWSDOWN | MAP_FIXED, -1,
             0) == MAP_FAILED)
        work_fail("mmap");
    switch_to(stack, 4 * PAGE);
    grow(1000);
}

/* Of many different stacks. */
__attribute__((noinline)) static unsigned
descend(unsigned levels, unsigned path)
{
    volatile unsigned here = path;

    if (levels == 0)
        return path;
    if (path & 1)
        return here + descend(levels - 1, path >> 1);
    return here ^ descend(levels - 1, path >> 1);
}

static void
compute_variously(unsigned ms)
{
    static unsigned path = 1;
    clock_t end = clock() + (clock_t)ms * (CLOCKS_PER_SEC / 1000);

    while (clock() < end)
        for (unsigned i = 0; i < 1000; i++) {
            path = path * 1103515245 + 12345;
            (void)descend(20 + (path >> 8) % 40, path);
        }
}

/* A mapping at the place of one just unmapped, which is still free because no
 * other thread maps. */
static void
vacant(void)
{
    size_t size = 1024 * PAGE;
    unsigned taken = 0;

    for (unsigned i = 0; i < cases_number; i++) {
        char *left = map(size, PROT_NONE, 0);

        munmap(left, size);
        compute_variously(20);
        if (mmap(left, size, PROT_NONE,
                 MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1,
                 0) == left)
            munmap(left, size);
        else
            taken++;
    }
    printf("taken by somebody else: %u\n", taken);
}

static const struct named_case cases[] = {
    {"collector", collector, 0}, {"coroutines", coroutine_threads, 0},
    {"generated", generated, 0}, {"keys", keys, 0},
    {"reserve", reserve, 0},     {"inherited", inherited, 0},
    {"secret", secret, 0},       {"grows_down", grows_down, 0},
    {"vacant", vacant, 100},
};

int
main(int argc, char **argv)
{
    return cases_run(argc, argv, cases, sizeof cases / sizeof cases[0]);
}
