/* SPDX-License-Identifier: MIT */
/*
 * stand_in.c -- stands in for a profiled process: writes a spool with its own
 * pid and answers requests as the library does, or as it should not. `stand_in
 * PATH HOW [THREADS]` prints "ready" and ends when its parent does. HOW is
 *
 *   answer    what is asked is done; 8 threads, or THREADS
 *   refuse    every answer is an error
 *   silent    the signal is taken, and nothing comes
 *   die       it ends instead of answering
 *   torn      STACKS is never complete
 *   late      larger and larger STACKS, the nodes of each after it
 *   deaf      CONTROL names a signal that has no handler
 *   closed    CONTROL names no signal
 *   old       there is no CONTROL
 *
 * The 8 threads: "main" (running), "a" and "b", which wait for each other's
 * mutexes, "c" and "d", which wait for "a", "pool-1" and "pool-2" in accept4
 * with a label each, and "mute" without a stack.
 */
#include <errno.h>
#include <link.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/request.h"
#include "spool.h"

enum { SIGNAL = 35, THREAD_COUNT = 8, MODULE = 1 };

/* What is on the stacks: places in this file. */
__attribute__((noinline)) static void
transfer(void)
{
    __asm__ volatile("nop");
}

__attribute__((noinline)) static void
audit(void)
{
    __asm__ volatile("nop");
}

__attribute__((noinline)) static void
serve(void)
{
    __asm__ volatile("nop");
}

static uint64_t stacks; /* the place of the record */
static uint64_t sequence;
static uint32_t capacity;
static const char *how;

/* Of the program itself. */
static struct program {
    uint64_t base;
    uint8_t build_id[32];
    uint32_t build_id_length;
} program;

static void
find_build_id(const char *notes, size_t size)
{
    const ElfW(Nhdr) *note = (const void *)notes;
    if (size < sizeof *note + 4 || note->n_type != NT_GNU_BUILD_ID ||
        note->n_descsz > sizeof program.build_id)
        return;
    program.build_id_length = note->n_descsz;
    memcpy(program.build_id, notes + sizeof *note + 4, note->n_descsz);
}

static int
find_program(struct dl_phdr_info *info, size_t size, void *unused)
{
    (void)size;
    (void)unused;
    program.base = info->dlpi_addr;
    for (unsigned i = 0; i < info->dlpi_phnum; i++)
        if (info->dlpi_phdr[i].p_type == PT_NOTE)
            find_build_id((const char *)info->dlpi_addr +
                              info->dlpi_phdr[i].p_vaddr,
                          info->dlpi_phdr[i].p_memsz);
    return 1; /* the first is the program */
}

/* FUNCTION on top of PARENT. Returns the id of the new node. */
static uint32_t
place(uint32_t parent, void (*function)(void))
{
    return spool_node(parent, MODULE,
                      (uint64_t)(uintptr_t)function - program.base, 0);
}

static void
label(uint32_t id, uint32_t key, uint32_t value)
{
    const struct record_label record = {.id = id, .key = key, .value = value};
    spool_append(RECORD_LABEL, &record, sizeof record, NULL, 0);
}

/* Room for COUNT entries, after what is there. */
static void
make_room(uint32_t count)
{
    struct stacks_entry *none = calloc(count, sizeof *none);
    const struct writer_tail tail = {none, count * sizeof *none};
    const struct record_stacks record = {.capacity = count};
    stacks = spool_append(RECORD_STACKS, &record, sizeof record, &tail, 1);
    capacity = count;
    sequence = 0;
    free(none);
}

/* Of many threads, each is one of four that differ in their stacks. */
static void
many_threads(struct stacks_entry *entries, uint32_t count)
{
    static uint32_t nodes[4];
    for (uint32_t i = 0; i < 4 && nodes[3] == 0; i++)
        nodes[i] = place(i == 0 ? 0 : nodes[i - 1], i % 2 ? serve : audit);
    for (uint32_t i = 0; i < count; i++)
        entries[i] = (struct stacks_entry){.tid = 5000 + i,
                                           .node = nodes[i % 4],
                                           .depth = 1 + i % 4,
                                           .cpu = i,
                                           .system_call = SYS_accept4,
                                           .state = 'S'};
}

static void
eight_threads(struct stacks_entry *entries)
{
    uint32_t root = place(0, serve), a = place(root, transfer),
             b = place(root, audit), first = (uint32_t)getpid();
    const struct stacks_entry of_mutex = {.system_call = SYS_futex,
                                          .state = 'S',
                                          .depth = 2};
    for (uint32_t i = 0; i < THREAD_COUNT; i++) {
        entries[i] = of_mutex;
        entries[i].tid = first + i;
        entries[i].thread = i + 1;
        entries[i].cpu = (i + 1) * 1000000;
    }
    entries[0].state = 'R';
    entries[0].system_call = SYSCALL_UNKNOWN;
    entries[0].node = root;
    entries[1].node = a;
    entries[2].node = b;
    entries[3].node = entries[4].node = a;
    entries[1].owner = first + 2;
    entries[2].owner = entries[3].owner = entries[4].owner = first + 1;
    entries[1].waits_on = 2;
    entries[2].waits_on = entries[3].waits_on = entries[4].waits_on = 1;
    for (uint32_t i = 5; i < 7; i++) {
        entries[i].node = root;
        entries[i].system_call = SYS_accept4;
        entries[i].waits_on = 3;
        entries[i].label = i - 4;
    }
    entries[7].state = 'R';
    entries[7].cause = STACK_SILENT;
    entries[7].cpu = UINT64_MAX;
}

/* Half a writing: the sequence is odd, or even again. */
static void
step(void)
{
    sequence++;
    writer_change(spool_writer, stacks,
                  offsetof(struct record_stacks, sequence), &sequence,
                  sizeof sequence);
}

/* The stacks, as an answer to NONCE. */
static void
write_stacks(uint32_t nonce, uint32_t count)
{
    struct stacks_entry *entries = calloc(count, sizeof *entries);
    if (strcmp(how, "late") == 0 || capacity < count)
        make_room(count > capacity ? count : capacity + 1);
    step();
    if (count == THREAD_COUNT)
        eight_threads(entries);
    else
        many_threads(entries, count);
    const struct record_stacks record = {.time = 120000000,
                                         .took = 1300000,
                                         .nonce = nonce,
                                         .count = count,
                                         .capacity = capacity};
    const size_t from = offsetof(struct record_stacks, time);
    writer_change(spool_writer, stacks, from, &record.time,
                  sizeof record - from);
    writer_change(spool_writer, stacks, sizeof record, entries,
                  count * sizeof *entries);
    if (strcmp(how, "torn") != 0)
        step();
    free(entries);
}

static void
answer(uint32_t nonce, int error, const char *words)
{
    const struct record_answer record = {.nonce = nonce,
                                         .error = (uint32_t)error,
                                         .text_length =
                                             (uint16_t)(strlen(words) + 1)};
    const struct writer_tail tail = {words, strlen(words) + 1};
    spool_append(RECORD_ANSWER, &record, sizeof record, &tail, 1);
}

static void
control(void)
{
    const struct record_control record = {.state = CONTROL_SAMPLING,
                                          .signal = strcmp(how, "closed") == 0
                                                        ? 0
                                                        : SIGNAL};
    spool_append(RECORD_CONTROL, &record, sizeof record, NULL, 0);
}

static void
threads(void)
{
    static const char *const names[] = {"main", "a",      "b",      "c",
                                        "d",    "pool-1", "pool-2", "mute\n"};
    char words[64];
    uint32_t first = (uint32_t)getpid();
    for (uint32_t i = 0; i < THREAD_COUNT; i++)
        spool_thread(i + 1, first + i, names[i]);
    snprintf(words, sizeof words, "mutex of a (%u)", first + 1);
    spool_text(1, words);
    snprintf(words, sizeof words, "mutex of b (%u)", first + 2);
    spool_text(2, words);
    spool_text(3, "socket:[17]");
    spool_text(4, "user");
    spool_text(5, "alice \"1\"");
    spool_text(6, "bob");
    label(1, 4, 5);
    label(2, 4, 6);
}

static void
handle(int signo)
{
    (void)signo; /* sigwaitinfo takes it; that there is a handler counts */
}

static void
take_request(const siginfo_t *info, uint32_t count)
{
    uint32_t nonce;
    enum request request =
        request_of((uint64_t)(uintptr_t)info->si_value.sival_ptr, &nonce);
    if (info->si_code != SI_QUEUE || strcmp(how, "silent") == 0)
        return;
    if (strcmp(how, "die") == 0)
        _exit(3);
    if (strcmp(how, "refuse") == 0) {
        answer(nonce, ENOSPC, request == REQUEST_STOP ? "" : "no room left");
        return;
    }
    if (request == REQUEST_STACKS)
        write_stacks(nonce, count);
    /* First one of another sender. */
    answer(nonce + 1, EPERM, "not yours");
    answer(nonce, 0,
           request == REQUEST_WRITE ? "/tmp/x.pb.gz\n/tmp/x\033.txt" : "");
}

int
main(int argc, char **argv)
{
    const struct spool_header header = {.start_realtime = 1778311773000000000,
                                        .pid = (uint32_t)getpid()};
    sigset_t set;
    siginfo_t info;
    if (argc < 3)
        return 2;
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    how = argv[2];
    uint32_t count =
        argc > 3 ? (uint32_t)strtoul(argv[3], NULL, 10) : THREAD_COUNT;
    sigemptyset(&set);
    sigaddset(&set, SIGNAL);
    sigprocmask(SIG_BLOCK, &set, NULL);
    if (strcmp(how, "deaf") != 0)
        signal(SIGNAL, handle);
    spool_writer = writer_create(argv[1], &header, 1u << 30, true);
    if (spool_writer == NULL) {
        perror(argv[1]);
        return 1;
    }
    spool_file_show(writer_file(spool_writer));
    spool_process((uint32_t)getpid(), "/opt/bank", "bank --fast");
    if (strcmp(how, "old") != 0)
        control();
    char exe[4096] = "";
    if (readlink("/proc/self/exe", exe, sizeof exe - 1) < 0)
        return 1;
    dl_iterate_phdr(find_program, NULL);
    spool_module(MODULE, program.base, exe, program.build_id,
                 program.build_id_length);
    threads();
    puts("ready");
    fflush(stdout);
    for (;;)
        if (sigwaitinfo(&set, &info) == SIGNAL)
            take_request(&info, count);
}
