/* SPDX-License-Identifier: MIT */
/*
 * journal.c -- see journal.h. The first record that cannot be written ends the
 * file in use. The file is whole, and journal_error says why it has no more.
 *
 * The hard thing about rotation is to know all that belongs to the first file.
 * Numbers and places in it are forgotten in one function, forget_numbers,
 * except those that thread times hold (thread_time_rotate).
 */
#include <errno.h>
#include <stddef.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "base/arch.h"
#include "base/clock.h"
#include "base/proc.h"
#include "base/state.h"
#include "base/sys.h"
#include "process/jitdumps.h"
#include "store/layout.h"
#include "store/writer.h"
#include "id_table.h"
#include "journal_process.h"
#include "journal.h"

static OF_PROFILE struct journal_options options;
static OF_PROFILE uint64_t start_realtime; /* ns since the epoch */
/* A file: its writer (NULL: no file), and the records of its head as they are
 * in the file, with their places. */
static OF_PROFILE struct file {
    struct writer *writer;
    uint64_t counts_place, rate_place, control_place;
    struct counts {
        struct record_counts record;
        uint64_t lost[LOSS_COUNT], cut[CUT_COUNT], expired, missed;
    } counts;
    struct rates {
        struct record_rate record;
        struct rate_entry entries[LIMIT_COUNT];
    } rate;
    struct record_control control;
    uint32_t jitdump_count; /* number of the files of jitdumps.h that it has */
} present, next;
static OF_PROFILE int failure; /* of the last file, after its end */
static uint32_t generation;
static uint32_t *thread_written; /* by thread index: its serial */
static struct id_table texts = {.first_size = 1u << 12, .most = 1u << 22};

int
journal_error(void)
{
    return present.writer != NULL ? writer_error(present.writer) : failure;
}

uint32_t
journal_generation(void)
{
    return generation;
}

bool
journal_is_followed(void)
{
    return present.writer != NULL && writer_is_followed(present.writer);
}

uint64_t
journal_append(enum record_kind kind, const void *record, size_t fixed,
               const struct writer_tail *tail, size_t parts)
{
    return present.writer != NULL
               ? writer_append(present.writer, kind, record, fixed, tail, parts)
               : 0;
}

void
journal_change(uint64_t place, size_t skip, const void *bytes, size_t length)
{
    if (present.writer != NULL && place != 0)
        writer_change(present.writer, place, skip, bytes, length);
}

void
journal_flush(void)
{
    if (present.writer != NULL)
        (void)writer_flush(present.writer);
}

static void
write_process(void)
{
    struct process_record made;
    journal_process_record(&made, &options.process, options.exe,
                           options.command);
    journal_append(RECORD_PROCESS, &made.fixed, sizeof(made.fixed), made.tail,
                   PROCESS_RECORD_PARTS);
}

/* Append the records that are changed in place to the present file, so that a
 * killed process leaves its last counts. The counters are zero; the control
 * record is that of the file before. */
static void
write_changing(void)
{
    present.counts = (struct counts){
        .record = {.loss_count = LOSS_COUNT, .cut_count = CUT_COUNT}};
    present.rate = (struct rates){.record = {.period = options.process.period,
                                             .tick = clock_tick(),
                                             .count = LIMIT_COUNT}};
    present.counts_place = journal_append(RECORD_COUNTS, &present.counts,
                                          sizeof(present.counts), NULL, 0);
    present.rate_place = journal_append(RECORD_RATE, &present.rate,
                                        sizeof(present.rate), NULL, 0);
    present.control_place = journal_append(RECORD_CONTROL, &present.control,
                                           sizeof(present.control), NULL, 0);
}

/* Replace the bytes of the record at PLACE, from offset FROM up to its SIZE, by
 * those in RECORD. */
static void
change(uint64_t place, const void *record, size_t from, size_t size)
{
    journal_change(place, from, (const char *)record + from, size - from);
}

/* A command that reaches the process must see this at once. */
static void
store_control(void)
{
    change(present.control_place, &present.control,
           offsetof(struct record_control, time), sizeof(present.control));
    journal_flush();
}

void
journal_state(uint32_t state, uint64_t now)
{
    present.control.time = journal_time(now);
    present.control.state = state;
    store_control();
}

void
journal_signal(int signo)
{
    present.control.signal = (uint32_t)signo;
    store_control();
}

void
journal_counts(const struct journal_sums *sums)
{
    struct counts *counts = &present.counts;
    counts->record = sums->counts;
    counts->record.time = journal_time(sums->counts.time);
    counts->record.loss_count = LOSS_COUNT;
    counts->record.cut_count = CUT_COUNT;
    memcpy(counts->lost, sums->lost, sizeof(counts->lost));
    memcpy(counts->cut, sums->cut, sizeof(counts->cut));
    counts->expired = sums->expired;
    counts->missed = sums->missed;
    change(present.counts_place, counts, offsetof(struct record_counts, time),
           sizeof(*counts));
    for (unsigned i = 0; i < LIMIT_COUNT; i++)
        present.rate.entries[i] =
            (struct rate_entry){.cpu = sums->due_cpu[i],
                                .taken = sums->due_taken[i]};
    change(present.rate_place, &present.rate, sizeof(struct record_rate),
           sizeof(present.rate));
}

void
journal_jitdumps(void)
{
    for (; present.jitdump_count < jitdumps_count(); present.jitdump_count++) {
        const char *path = jitdumps_path(present.jitdump_count);
        struct record_jitdump record = {
            .time = clock_now() - options.start,
            .path_length = (uint16_t)(strlen(path) + 1),
        };
        const struct writer_tail tail = {path, record.path_length};
        journal_append(RECORD_JITDUMP, &record, sizeof(record), &tail, 1);
    }
}

/* A flight recorder has two files at a time. */
static uint64_t
cap_of_file(void)
{
    return options.keep != 0 ? options.max_size / 2 : options.max_size;
}

/* The header of a file that covers the time from BEGIN ns after the start. */
static struct spool_header
header_of(uint64_t begin)
{
    return (struct spool_header){.start_monotonic = options.start,
                                 .start_realtime = start_realtime,
                                 .pid = options.process.pid,
                                 .keep = options.keep,
                                 .begin = begin,
                                 .pid_namespace = proc_namespace(),
                                 .purpose = options.purpose};
}

/* Write the first records of the present file. Returns 0, or -1 with errno. */
static int
write_first(void)
{
    write_process();
    write_changing();
    present.jitdump_count = 0;
    journal_jitdumps();
    journal_flush();
    errno = journal_error();
    return errno == 0 ? 0 : -1;
}

/* Create the file at PATH, which covers the time from BEGIN ns after the start.
 * Returns 0, or -1 with errno and no file. */
static int
make_file(const char *path, uint64_t begin)
{
    struct spool_header header = header_of(begin);
    present.writer =
        writer_create(path, &header, cap_of_file(), options.is_kept_open);
    if (present.writer == NULL)
        return -1;
    writer_gather(present.writer);
    if (!options.is_kept_open)
        spool_file_show(writer_file(present.writer));
    if (write_first() == 0)
        return 0;
    int error = errno;
    writer_discard(present.writer);
    present.writer = NULL;
    errno = error;
    return -1;
}

/* Forget all numbers: a new file has none. Returns 0, or -1 if memory is short.
 */
static int
forget_numbers(void)
{
    generation++;
    thread_written =
        sys_renew(thread_written, THREADS_MAX * sizeof(*thread_written));
    if (thread_written == NULL || id_table_begin(&texts) != 0) {
        errno = ENOMEM;
        return -1;
    }
    return 0;
}

int
journal_begin(const struct journal_options *given)
{
    options = *given;
    start_realtime = clock_realtime() - (clock_now() - options.start);
    return forget_numbers() == 0 ? make_file(options.spool, 0) : -1;
}

/* A file that a killed process has left under the name of the next one is
 * removed. */
int
journal_prepare(void)
{
    struct file before = present;
    (void)!unlink(options.next);
    int result = make_file(options.next, clock_now() - options.start);
    next = present;
    present = before;
    if (result == 0)
        result = writer_succeed(present.writer, next.writer, options.past);
    int error = errno;
    if (result != 0 && next.writer != NULL)
        writer_discard(next.writer);
    errno = error;
    return result;
}

void
journal_rotate(void)
{
    writer_close(present.writer);
    present = next;
    next.writer = NULL;
    /* Use the descriptor number of the file that was just closed. */
    if (options.is_kept_open)
        spool_file_lower(writer_file(present.writer));
    /* This cannot fail: all memory is reserved. */
    (void)forget_numbers();
}

int
journal_restart(uint64_t now)
{
    struct spool_header header = header_of(now - options.start);
    if (present.writer == NULL ||
        writer_restart(present.writer, &header) != 0 || forget_numbers() != 0)
        return -1;
    return write_first();
}

void
journal_put_back(void)
{
    while (present.writer != NULL && writer_put_back(present.writer) != 0 &&
           errno == EEXIST && options.name_beside(options.files))
        writer_call(present.writer, options.spool);
}

void
journal_heed_removal(void)
{
    if (present.writer != NULL)
        writer_heed_removal(present.writer);
}

void
journal_give(uid_t uid)
{
    if (present.writer != NULL)
        spool_file_give(writer_file(present.writer), uid);
}

uint64_t
journal_room(void)
{
    if (present.writer == NULL || journal_error() != 0)
        return 0;
    return (cap_of_file() - writer_size(present.writer)) * 100 / cap_of_file();
}

void
journal_thread_as(uint32_t id, pid_t tid, const char *name)
{
    struct record_thread record = {.id = id,
                                   .tid = (uint32_t)tid,
                                   .time = clock_now() - options.start,
                                   .name_length = (uint16_t)(strlen(name) + 1)};
    const struct writer_tail tail = {name, record.name_length};
    journal_append(RECORD_THREAD, &record, sizeof(record), &tail, 1);
}

static void
write_thread(uint32_t index)
{
    const struct thread *thread = threads_at(index);
    journal_thread_as(thread->serial, thread->tid, thread->name);
    thread_written[index] = thread->serial;
}

/* Another thread may get the index, but has another serial. */
static bool
is_thread_written(uint32_t index)
{
    return thread_written[index] == threads_at(index)->serial;
}

uint32_t
journal_thread(uint32_t index)
{
    if (!is_thread_written(index)) {
        threads_read_name(index);
        write_thread(index);
    }
    return threads_at(index)->serial;
}

uint64_t
journal_time(uint64_t time)
{
    return time > options.start ? time - options.start : 0;
}

struct record_sample
journal_make_sample(enum state state, struct journal_place place,
                    uint64_t since, uint64_t until)
{
    return (struct record_sample){.time = since,
                                  .duration = until - since,
                                  .wall = until - since,
                                  .count = 1,
                                  .node = place.node,
                                  .depth = place.depth,
                                  .label = place.label,
                                  .system_call = SYSCALL_UNKNOWN,
                                  .state = (uint8_t)state,
                                  .trigger = TRIGGER_KEPT};
}

uint64_t
journal_sample(struct record_sample *sample, uint32_t index)
{
    sample->thread = journal_thread(index);
    sample->time -= options.start;
    return journal_append(RECORD_SAMPLE, sample, sizeof(*sample), NULL, 0);
}

uint32_t
journal_text(const char *text)
{
    bool is_new;
    uint32_t id = id_table_of_text(&texts, text, &is_new);
    if (id == 0 || !is_new)
        return id;
    struct record_text record = {.id = id,
                                 .text_length = (uint16_t)(strlen(text) + 1)};
    const struct writer_tail tail = {text, record.text_length};
    journal_append(RECORD_TEXT, &record, sizeof(record), &tail, 1);
    return id;
}

void
journal_thread_end(uint32_t index, uint64_t cpu, uint64_t flags, uint64_t end)
{
    struct record_thread_end record = {.id = threads_at(index)->serial,
                                       .time = end - options.start,
                                       .cpu = cpu,
                                       .flags = flags};
    if (journal_error() != 0 || (cpu == 0 && !is_thread_written(index)))
        return;
    if (!is_thread_written(index))
        write_thread(index);
    journal_append(RECORD_THREAD_END, &record, sizeof(record), NULL, 0);
}

void
journal_follow_name(uint32_t index)
{
    if (threads_read_name(index) && is_thread_written(index))
        write_thread(index);
}

void
journal_thread_name(uint32_t index, const char *name)
{
    if (threads_set_name(index, name) && is_thread_written(index))
        write_thread(index);
}

static uint64_t
ns_of(const struct timeval *time)
{
    return (uint64_t)time->tv_sec * NS_PER_SECOND +
           (uint64_t)time->tv_usec * 1000;
}

struct record_summary
journal_summary(uint64_t time, enum end_reason reason)
{
    struct rusage usage;
    getrusage(RUSAGE_SELF, &usage);
    return (struct record_summary){.time = time,
                                   .user_cpu = ns_of(&usage.ru_utime),
                                   .system_cpu = ns_of(&usage.ru_stime),
                                   .reason = reason};
}

void
journal_end(uint64_t end, enum end_reason reason)
{
    struct record_summary record = journal_summary(end - options.start, reason);
    if (present.writer == NULL)
        return;
    failure = journal_error();
    /* Also after a failure: the writer keeps room for this record. */
    writer_append(present.writer, RECORD_SUMMARY, &record, sizeof(record), NULL,
                  0);
    journal_put_back();
    writer_close(present.writer);
    present.writer = NULL;
}

void
journal_forget(void)
{
    if (present.writer != NULL)
        writer_forget(present.writer);
    present.writer = NULL;
}
