/* SPDX-License-Identifier: MIT */
/*
 * slices.h -- work that knows where its time went, for truth.c and idle.c. Each
 * part of the work is a function that calls nothing, so that its time is the
 * time of one leaf. The thread's CPU clock and CLOCK_MONOTONIC are read before
 * and after it. Slices end by the processor's counter, which is read inline.
 * What a signal handler costs is in the slice, in the truth and in the profile
 * alike.
 *
 * print_truth() prints it, times in nanoseconds:
 *
 *   work FUNCTION CPU WALL     a part that computes
 *   wait FUNCTION CPU WALL     a part that waits
 *   thread TID CPU WALL        from thread_begin() to thread_end()
 */
#ifndef BENCH_SLICES_H
#define BENCH_SLICES_H

#include <stdint.h>
#include <time.h>

#define US 1000ll
#define MS 1000000ll

struct span {
    int64_t cpu, wall;
};

/* One function of the work and the sum of its slices over all threads. */
struct part {
    const char *kind, *name;
    void (*run)(int64_t ns);
    struct span sum;
    int listed;
    struct part *next;
};

extern double ticks_per_ns;

#if defined(__x86_64__)
static inline __attribute__((always_inline)) uint64_t
ticks(void)
{
    return __builtin_ia32_rdtsc();
}
#else
static inline __attribute__((always_inline)) uint64_t
ticks(void)
{
    uint64_t value;

    __asm__ volatile("mrs %0, cntvct_el0" : "=r"(value));
    return value;
}
#endif

/* A function that does STEP for the given time, and the part it is. The
 * functions differ in a constant, so that no compiler makes one of two. */
#define WORK(name, number, step)                                        \
    static __attribute__((noinline, noclone)) void name(int64_t ns)     \
    {                                                                   \
        uint64_t end = ticks() + (uint64_t)((double)ns * ticks_per_ns); \
        uint64_t mix = (number);                                        \
        do {                                                            \
            mix = mix * 6364136223846793005u + (number);                \
            __asm__ volatile("" : "+r"(mix));                           \
            step;                                                       \
        } while ((int64_t)(end - ticks()) > 0);                         \
    }                                                                   \
    PART("work", name)

#define PART(kind, name) \
    static struct part name##_part = {kind, #name, name, {0, 0}, 0, 0};

/* Learn how fast the counter is; takes 20 ms. First of all. */
void calibrate(void);

int64_t clock_now(clockid_t clock);

/* At the start and the end of each thread, main's too. */
void thread_begin(uint64_t number);
void thread_end(void);

/* One slice of NS, with the clocks read around it. */
void slice(struct part *part, int64_t ns);

/* Slices until the thread's CPU clock is at TARGET, however often it is
 * preempted. */
void slice_until(struct part *part, int64_t target);

/* A random number of this thread, less than BELOW. */
uint64_t pick(uint64_t below);

void print_truth(void);

/* From now on, log each slice; write the log to PATH, a line a slice:
 *
 *   FUNCTION BEGIN END      CLOCK_MONOTONIC, ns
 */
void log_slices(void);
void write_log(const char *path);

/* In the child of a fork: all so far is the parent's. */
void forget_truth(void);

#endif
