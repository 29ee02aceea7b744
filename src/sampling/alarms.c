/* SPDX-License-Identifier: MIT */
/*
 * alarms.c -- see alarms.h. The CPU time of the process, and the time that its
 * threads waited for a CPU, are noted several times in the time of a condition.
 * The difference to the latest note that is old enough is compared with the
 * limit.
 *
 * A thread is not stalled while it is found in a call in which loops wait for
 * events, or running after a voluntary wait. So a thread that is busy without a
 * pause is stalled, and one that waits for a lock, too.
 */
#include <string.h>
#include <sys/syscall.h>

#include "base/arch.h"
#include "base/clock.h"
#include "base/proc.h"
#include "base/state.h"
#include "base/sys.h"
#include "process/look.h"
#include "process/task_file.h"
#include "process/threads.h"
#include "alarms.h"

/* LOOKS: number of checks in the time of a condition. NOTES: notes that are
 * kept; the oldest is older than that time. STATUS: bytes of a file "status"
 * that are read. */
enum { LOOKS = 16, NOTES = 2 * LOOKS, STATUS = 4096 };

/* The shortest time between two looks, in ns. */
#define LOOK_LEAST 5000000u

struct alarms_note {
    uint64_t time, cpu, queued; /* ns; TIME 0: none */
};

struct watched {
    uint64_t next;         /* look, CLOCK_MONOTONIC ns */
    uint64_t silent_until; /* CLOCK_MONOTONIC, ns */
    struct alarms_note notes[NOTES];
    unsigned noted;
    pid_t tid;         /* of STALLED; 0: not found */
    uint64_t since;    /* when it was last found in its loop */
    uint64_t switches; /* voluntary waits when it last was running */
};

static OF_PROFILE struct conditions conditions;
/* Reserved where there are conditions. */
static struct memory {
    struct watched watched[CONDITIONS_MOST];
    char status[STATUS];
} * memory;
static OF_PROFILE uint64_t keep, queued; /* ns */
static OF_PROFILE uint32_t raised;       /* bit I: condition I */
static OF_PROFILE uint32_t count;        /* alarms so far */
static OF_PROFILE pid_t process;

void
alarms_begin(const struct settings *settings)
{
    /* It was checked when the options were read. */
    (void)conditions_parse(settings->options->dump_when.string, &conditions);
    if (conditions.count > 0)
        memory = sys_renew(memory, sizeof(*memory));
    if (memory == NULL)
        conditions.count = 0;
    keep = settings->options->keep.number;
    process = settings->pid;
}

/* Condition NUMBER holds. */
static void
raise_alarm(unsigned number, uint64_t now)
{
    struct watched *at = &memory->watched[number];
    if (now < at->silent_until || count >= ALARMS_MOST)
        return;
    at->silent_until = now + keep;
    raised |= 1u << number;
    count++;
}

void
alarms_see_span(const char *name, uint64_t ns)
{
    for (unsigned i = 0; i < conditions.count; i++) {
        const struct condition *condition = &conditions.all[i];
        if (condition->kind == CONDITION_SPAN && ns > condition->ns &&
            strcmp(condition->name, name) == 0)
            raise_alarm(i, clock_now());
    }
}

void
alarms_see_queue(uint64_t ns)
{
    queued += ns;
}

/* The latest note of AT that is at least NS old; NULL if there is none. */
static const struct alarms_note *
note_before(const struct watched *at, uint64_t now, uint64_t ns)
{
    const struct alarms_note *best = NULL;
    for (unsigned i = 0; i < NOTES; i++) {
        const struct alarms_note *note = &at->notes[i];
        if (note->time != 0 && note->time + ns <= now &&
            (best == NULL || note->time > best->time))
            best = note;
    }
    return best;
}

/* Whether the process exceeds the percentage of CONDITION. */
static bool
exceeds(const struct condition *condition, struct watched *at, uint64_t now)
{
    /* This order keeps the sampler's part from exceeding the whole. */
    uint64_t own = clock_own(), all = clock_process();
    const struct alarms_note note = {now, all > own ? all - own : 0, queued};
    const struct alarms_note *before = note_before(at, now, condition->ns);
    bool result = false;
    if (before != NULL) {
        uint64_t cpu = note.cpu > before->cpu ? note.cpu - before->cpu : 0;
        uint64_t waited = note.queued - before->queued;
        uint64_t part = condition->kind == CONDITION_CPU ? cpu : waited;
        uint64_t whole = condition->kind == CONDITION_CPU ? now - before->time
                                                          : cpu + waited;
        result = part * 100 > whole * condition->percent;
    }
    at->notes[at->noted++ % NOTES] = note;
    return result;
}

/* The thread with NAME, "main" for the first one; 0: no such thread. */
static pid_t
find_thread(const char *name)
{
    if (strcmp(name, "main") == 0)
        return process;
    for (uint32_t i = 0; i < threads_limit(); i++)
        if (threads_at(i)->tid != 0 && strcmp(threads_at(i)->name, name) == 0)
            return threads_at(i)->tid;
    return 0;
}

/* Whether the system call NUMBER waits for events. */
static bool
is_for_events(long number)
{
    static const long calls[] = {
        ARCH_CALL_POLL,
        ARCH_CALL_SELECT,
        ARCH_CALL_EPOLL_WAIT,
        ARCH_CALL_PAUSE,
        SYS_ppoll,
        SYS_pselect6,
        SYS_epoll_pwait,
        SYS_io_uring_enter,
        SYS_accept,
        SYS_accept4,
        SYS_nanosleep,
        SYS_clock_nanosleep,
        SYS_rt_sigsuspend,
        SYS_rt_sigtimedwait,
        441, /* epoll_pwait2(2), which older headers lack */
    };
    for (unsigned i = 0; i < sizeof(calls) / sizeof(calls[0]); i++)
        if (calls[i] == number)
            return true;
    return false;
}

/* How often thread TID has waited; 0 if it is not known. */
static uint64_t
read_switches(pid_t tid)
{
    char *status = memory->status;
    if (task_file_read(tid, "/status", status, STATUS) <= 0)
        return 0;
    return proc_number(proc_status_line(status, "voluntary_ctxt_switches"));
}

/* Whether the thread that AT watches is in its loop, as far as the kernel
 * shows. */
static bool
is_in_loop(struct watched *at)
{
    struct look look;
    look_at(at->tid, &look);
    if (look.state == LOOK_WAITING)
        return is_for_events(look.number);
    if (look.state != LOOK_RUNNING)
        return true;
    uint64_t before = at->switches;
    at->switches = read_switches(at->tid);
    return at->switches != before;
}

static bool
is_stalled(const struct condition *condition, struct watched *at, uint64_t now)
{
    pid_t tid = find_thread(condition->name);
    if (tid != at->tid || tid == 0 || at->since == 0 || is_in_loop(at))
        at->since = now;
    at->tid = tid;
    return now - at->since > condition->ns;
}

void
alarms_look(void)
{
    uint64_t now = conditions.count > 0 ? clock_now() : 0;
    for (unsigned i = 0; i < conditions.count; i++) {
        const struct condition *condition = &conditions.all[i];
        struct watched *at = &memory->watched[i];
        uint64_t pause = condition->ns / LOOKS;
        if (condition->kind == CONDITION_SPAN || now < at->next)
            continue;
        at->next = now + (pause > LOOK_LEAST ? pause : LOOK_LEAST);
        if (condition->kind == CONDITION_STALLED
                ? is_stalled(condition, at, now)
                : exceeds(condition, at, now))
            raise_alarm(i, now);
    }
}

const struct condition *
alarms_next(void)
{
    for (unsigned i = 0; i < conditions.count; i++)
        if ((raised & 1u << i) != 0) {
            raised &= ~(1u << i);
            return &conditions.all[i];
        }
    return NULL;
}

bool
alarms_are_there(void)
{
    return raised != 0;
}
