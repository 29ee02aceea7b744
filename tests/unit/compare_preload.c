/* SPDX-License-Identifier: MIT */
/*
 * compare_preload.c -- preloaded into a real program, walks the stacks that it
 * really has twice: by rules, and by libunwind alone; and writes how often they
 * agreed, and where not, to the file that SPROF_COMPARE names (with the pid
 * after it).
 *
 * A thread of the library sends SIGPROF to running threads. Their handler does
 * both walks on the spot, one thread at a time. The program stands still
 * meanwhile, which does not matter here.
 */
#include <dirent.h>
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/sys.h"
#include "process/modules.h"
#include "unwind/learn.h"
#include "unwind/walk.h"

#include "unwinder.h"

#define DEPTH_MOST 4096
#define DIFFERENCES_MOST 256
#define REFRESH_NS 5000000u

/* A place where the walks part, and how often they did. */
struct difference {
    uint64_t frame;        /* the last one that both have */
    uint64_t ours, theirs; /* what follows; 0: nothing */
    enum walk_outcome outcome;
    enum cut cut;
    int result;      /* libunwind's last, where it ended */
    bool has_tables; /* of all frames up to there */
    unsigned count;
};

/* A walk that is finished. */
struct trace {
    struct frame frames[DEPTH_MOST];
    uint32_t depth;
};

static struct unwinder unwinder;
static struct trace ours, theirs;
static uint8_t window[VIEW_WINDOW];
static struct difference differences[DIFFERENCES_MOST];
static unsigned difference_count;
static unsigned long compared, equal, frame_count, hard_steps, rules_learned;
static atomic_flag is_busy = ATOMIC_FLAG_INIT;
static _Atomic unsigned long answered;
static _Atomic int is_over = 1;
static pthread_t sender;
static uint64_t next_refresh;

static void
on_module(const struct module *module, bool gone)
{
    (void)gone;
    rules_forget(module->start, module->end);
}

static void
refresh(void)
{
    learn_forget_pages();
    rules_forget_nowhere();
    modules_refresh();
    next_refresh = clock_now() + REFRESH_NS;
}

static void
learn(uint64_t pc, bool is_return)
{
    if (modules_code_kind(pc) == CODE_NONE && clock_now() >= next_refresh)
        refresh();
    learn_rule(pc, is_return);
    rules_learned++;
}

static enum walk_outcome
step_hard(struct walk *walk, struct view *view, const ucontext_t *context)
{
    struct regs caller;
    bool is_root;

    hard_steps++;
    struct hard_registers origin = {.known = HARD_ALL_KNOWN};
    arch_all_registers(context, &origin.registers);
    if (learn_step(&origin, walk->depth - 1, walk->regs.pc, view, &caller,
                   &is_root) != 0) {
        walk->cut = CUT_NO_RULE;
        return WALK_CUT;
    }
    return is_root ? WALK_ROOT : walk_step_to(walk, &caller);
}

/* Walk by rules into OURS, learning what is missing. */
static enum walk_outcome
walk_by_rules(const ucontext_t *context, enum cut *cut)
{
    struct walk walk = {.capacity = DEPTH_MOST, .frames = ours.frames};
    struct view view;
    struct regs regs;
    enum walk_outcome outcome;

    arch_regs(context, &regs);
    view_begin(&view, 0, 0, 0, window);
    walk_begin(&walk, &regs);
    do {
        outcome = walk_run(&walk, &view);
        if (outcome == WALK_HARD)
            outcome = step_hard(&walk, &view, context);
        if (outcome == WALK_MISS)
            learn(walk.regs.pc - walk.is_return, walk.is_return);
        if (outcome == WALK_LOST)
            outcome = WALK_CUT;
    } while (outcome != WALK_ROOT && outcome != WALK_CUT);
    ours.depth = walk.depth < DEPTH_MOST ? walk.depth : DEPTH_MOST;
    *cut = walk.cut;
    return outcome;
}

/* Walk by libunwind into THEIRS. Returns what its last step did. */
static int
walk_by_unwinder(const ucontext_t *context)
{
    int result = -1;
    uint64_t pc;
    bool is_return = false;

    pages_begin(&unwinder.pages);
    unwinder_context(&unwinder, context);
    theirs.depth = 0;
    if (unwinder_start(&unwinder) != 0)
        return -1;
    pc = unwinder_get(&unwinder, UNW_REG_IP);
    do {
        theirs.frames[theirs.depth++] =
            is_return ? frame_return(pc) : frame_exact(pc);
        result = unw_step(&unwinder.cursor);
        /* Said of the frame that was left: no call leads to a signal's, and
         * after it pcs are exact. */
        is_return = unw_is_signal_frame(&unwinder.cursor) <= 0;
        if (!is_return)
            theirs.frames[theirs.depth - 1] = frame_exact(pc);
        pc = unwinder_get(&unwinder, UNW_REG_IP);
    } while (result > 0 && pc != 0 && theirs.depth < DEPTH_MOST);
    return result > 0 ? 0 : result;
}

static void
note_difference(const struct difference *found)
{
    struct difference *known = differences;

    while (known < differences + difference_count &&
           (known->frame != found->frame || known->ours != found->ours ||
            known->theirs != found->theirs || known->cut != found->cut ||
            known->result != found->result ||
            known->has_tables != found->has_tables))
        known++;
    if (known == differences + DIFFERENCES_MOST)
        known--; /* the last entry counts all that have none */
    else if (known == differences + difference_count)
        differences[difference_count++] = *found;
    known->count++;
}

static uint64_t
frame_at(const struct trace *trace, uint32_t i)
{
    return i < trace->depth ? trace->frames[i].word : 0;
}

/* Whether the first COUNT frames have an unwind table each. */
static bool
have_tables(uint32_t count)
{
    unw_proc_info_t info;

    for (uint32_t i = 0; i < count; i++)
        if (unwinder_find(unwinder.space, frame_lookup(ours.frames[i]), &info,
                          0, &unwinder) != 0)
            return false;
    return true;
}

static void
compare(enum walk_outcome outcome, enum cut cut, int result)
{
    uint32_t i = 0;

    while (i < ours.depth && i < theirs.depth &&
           ours.frames[i].word == theirs.frames[i].word)
        i++;
    compared++;
    frame_count += i;
    bool is_same = i == ours.depth && i == theirs.depth;
    if (is_same && outcome == WALK_ROOT && result == 0) {
        equal++;
        return;
    }
    uint64_t last = i > 0 ? ours.frames[i - 1].word : 0;
    struct difference found = {.frame = last,
                               .ours = frame_at(&ours, i),
                               .theirs = frame_at(&theirs, i),
                               .outcome = outcome,
                               .cut = cut,
                               .result = result,
                               .has_tables = have_tables(i)};
    note_difference(&found);
}

static void
handle(int signo, siginfo_t *info, void *context)
{
    int error = errno;
    enum cut cut;

    (void)signo;
    if (info->si_code != SI_TKILL || info->si_pid != sys_getpid())
        return;
    if (!atomic_flag_test_and_set(&is_busy)) {
        enum walk_outcome outcome = walk_by_rules(context, &cut);
        int result = walk_by_unwinder(context);
        compare(outcome, cut, result);
        atomic_flag_clear(&is_busy);
    }
    atomic_fetch_add(&answered, 1);
    errno = error;
}

/* Whether the thread TID runs: one that sleeps must not be woken. */
static bool
is_running(int tid)
{
    char path[64], text[512];
    snprintf(path, sizeof(path), "/proc/self/task/%d/stat", tid);
    long length = sys_read_file(path, text, sizeof(text));
    const char *end = length > 0 ? strrchr(text, ')') : NULL;

    return end != NULL && end[1] == ' ' && end[2] == 'R';
}

/* Signal every thread that runs. Returns how many there were. */
static unsigned
signal_all(DIR *tasks)
{
    struct dirent *entry;
    unsigned count = 0;

    rewinddir(tasks);
    while ((entry = readdir(tasks)) != NULL) {
        int tid = atoi(entry->d_name);
        if (tid != 0 && tid != sys_gettid() && is_running(tid))
            count += syscall(SYS_tgkill, getpid(), tid, SIGPROF) == 0;
    }
    return count;
}

/* Sample until the end, giving the program time between two samples. */
static void *
send(void *unused)
{
    DIR *tasks = opendir("/proc/self/task");
    unsigned random = 1;

    while (tasks != NULL && !atomic_load(&is_over)) {
        unsigned long before = atomic_load(&answered);
        unsigned count = signal_all(tasks);
        uint64_t until = clock_now() + 10000000;
        while (atomic_load(&answered) < before + count && clock_now() < until)
            usleep(20);
        random = random * 1103515245 + 12345;
        usleep(20 + (random >> 16) % 100);
    }
    if (tasks != NULL)
        closedir(tasks);
    return unused;
}

/* ADDRESS as module+offset, or as what it means. */
static const char *
place(uint64_t word, char *text, size_t size)
{
    struct frame frame = {word};
    uint64_t pc = frame_pc(frame);
    const struct module *module = modules_find(pc);

    if (word == 0)
        snprintf(text, size, "end");
    else if (module == NULL)
        snprintf(text, size, "0x%lx", pc);
    else
        snprintf(text, size, "%s+0x%lx%s", module->path, pc - module->base,
                 frame_kind(frame) == FRAME_RETURN ? "" : " (exact)");
    return text;
}

static void
write_difference(FILE *out, const struct difference *found)
{
    char here[512], our[512], their[512];

    fprintf(out, "differ %u at %s tables %s ours %s %s theirs %s %s\n",
            found->count, place(found->frame, here, sizeof(here)),
            found->has_tables ? "yes" : "no",
            place(found->ours, our, sizeof(our)),
            found->outcome == WALK_ROOT ? "root" : cut_word(found->cut),
            place(found->theirs, their, sizeof(their)),
            found->result < 0 ? "error" : "root");
}

static void finish(void) __attribute__((destructor));
static void start(void) __attribute__((constructor));

static void
finish(void)
{
    char path[512];
    const char *base = getenv("SPROF_COMPARE");

    if (atomic_exchange(&is_over, 1) || base == NULL)
        return;
    pthread_join(sender, NULL);
    while (atomic_flag_test_and_set(&is_busy)) /* for good */
        usleep(20);
    snprintf(path, sizeof(path), "%s.%d", base, (int)getpid());
    FILE *out = fopen(path, "w");
    if (out == NULL)
        return;
    fprintf(out, "compared %lu equal %lu frames %lu hard %lu rules %lu\n",
            compared, equal, frame_count, hard_steps, rules_learned);
    for (unsigned i = 0; i < difference_count; i++)
        write_difference(out, &differences[i]);
    fclose(out);
}

/* In front of libc's own. */
#pragma GCC visibility push(default)
int sigprocmask(int how, const sigset_t *set, sigset_t *old);
int pthread_sigmask(int how, const sigset_t *set, sigset_t *old);
#pragma GCC visibility pop

/* Threads that block all signals, as those of xz do, are to be seen as well. */
static int
change_mask(int how, const sigset_t *set, sigset_t *old)
{
    sigset_t wanted;

    if (set == NULL)
        return (int)syscall(SYS_rt_sigprocmask, how, NULL, old, NSIG / 8);
    wanted = *set;
    if (how != SIG_UNBLOCK)
        sigdelset(&wanted, SIGPROF);
    return (int)syscall(SYS_rt_sigprocmask, how, &wanted, old, NSIG / 8);
}

int
sigprocmask(int how, const sigset_t *set, sigset_t *old)
{
    return change_mask(how, set, old);
}

int
pthread_sigmask(int how, const sigset_t *set, sigset_t *old)
{
    return change_mask(how, set, old) == 0 ? 0 : errno;
}

/* A child has no sender. */
static void
forget_sender(void)
{
    atomic_store(&is_over, 1);
}

static void
start(void)
{
    struct sigaction action = {.sa_sigaction = handle,
                               .sa_flags = SA_SIGINFO | SA_RESTART};
    sigset_t all, old;

    if (getenv("SPROF_COMPARE") == NULL || modules_begin(on_module) != 0 ||
        rules_begin() != 0 || learn_begin() != 0 ||
        unwinder_begin(&unwinder) != 0)
        return;
    refresh();
    sigfillset(&action.sa_mask);
    sigaction(SIGPROF, &action, NULL);
    pthread_atfork(NULL, NULL, forget_sender);
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &old);
    atomic_store(&is_over, 0);
    if (pthread_create(&sender, NULL, send, NULL) != 0)
        atomic_store(&is_over, 1);
    pthread_sigmask(SIG_SETMASK, &old, NULL);
}
