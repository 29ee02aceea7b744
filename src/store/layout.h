/* SPDX-License-Identifier: MIT */
/*
 * layout.h -- the spool file, drawn. The recording side (store/writer.c,
 * agent/, journal/) and the reading side (store/reader.c, read/) share this
 * header.
 *
 *   offset 0                                               file size
 *   +--------+---------+--------+------+--------+-- ... --+----------+
 *   | header | PROCESS | MODULE | NODE | SAMPLE |         | 0 0 0 0  |
 *   | 64 B   |         |        |      |        |         | reserved |
 *   +--------+---------+--------+------+--------+-- ... --+----------+
 *
 *   A record, always a multiple of 8 bytes, in the byte order of the machine:
 *   +---------------------------------------------+-------------------+
 *   | head: kind:8 | flags:8 | check:16 | size:32 | payload ...       |
 *   +---------------------------------------------+-------------------+
 *   SIZE counts head and payload in bytes. CHECK is record_check(offset, kind,
 *   size): so stale or foreign bytes are not taken for a record.
 *
 * The writer reserves space (fallocate), writes the payload, and stores the
 * head last with release order. Until its head is stored, which is 0 before, a
 * record does not exist.
 *
 * A reader accepts a record if, in this order:
 *   1. 8 bytes lie between its offset and the end of the file;
 *   2. its head is not 0 (else: the regular end of what was written);
 *   3. CHECK is right for its offset, kind and size;
 *   4. SIZE is a multiple of 8, at least the kind's fixed part, at most
 *      RECORD_SIZE_MAX, and the record ends within the file (for a FILLER and a
 *      kind that the reader does not know: at least 8, and no maximum);
 *   5. every length inside the payload ends within the record, and every string
 *      that is not empty ends with NUL.
 * It stops at the first record that fails, says where, and keeps all before. It
 * skips a kind that it does not know by its size. While the file is written,
 * the head must be read before the payload, by a read of its own. A single read
 * may get the head and not yet what was stored before it.
 *
 * Some fields are written after their head, each as one aligned word that is
 * right before and after: the growing fields of a SAMPLE (count, duration,
 * wall, cpu, and last the word that holds its flags), the counters of COUNTS,
 * RATE and EPOCH, the clock of LIVE, and the fields of CONTROL. A STACKS is
 * written again and again as a whole; its sequence shows when it may be read.
 *
 * Time is CLOCK_MONOTONIC nanoseconds since header.start_monotonic.
 *
 * Version history: 1 first version; 2 samples have flags, ages and what they
 * wait for (TEXT), waits are open, threads have the CPU time that they used; 3
 * several processes in one file (NEXT), as `sprofile convert` writes it; 4 and
 * 5 are 2 and 3 with functions of interpreters (SCRIPT, NODE_SCRIPT). EPOCH,
 * CLOCK, JITDUMP and LIVE came later; a reader may skip them.
 */
#ifndef STORE_LAYOUT_H
#define STORE_LAYOUT_H

#include <stdint.h>

#include "base/loss.h"
#include "base/sample.h"

#define SPOOL_MAGIC "SPROFSP\x01"
#define SPOOL_VERSION 4u
#define SPOOL_VERSION_SEVERAL 5u
/* Readers take these as well. */
#define SPOOL_VERSION_OLDEST 2u
#define SPOOL_VERSION_OLD_SEVERAL 3u

/* Whether readers take VERSION, and whether it has several processes. */
#define SPOOL_IS_READ(version) \
    ((version) >= SPOOL_VERSION_OLDEST && (version) <= SPOOL_VERSION_SEVERAL)
#define SPOOL_HAS_SEVERAL(version)             \
    ((version) == SPOOL_VERSION_OLD_SEVERAL || \
     (version) == SPOOL_VERSION_SEVERAL)

/* Limit of the epochs of a process in a spool; more are damage. */
#define EPOCHS_MOST 1024u

/* Bytes. No record is larger; a reader need not hold more at once. */
#define RECORD_SIZE_MAX (16u << 20)

/* The purpose of a spool. A later process may replace a spool with its name. It
 * may always replace the first kind; the second only by a spool that is to stay
 * as well; the third never. */
enum spool_purpose {
    SPOOL_TEMPORARY, /* a profile is made of it, and then it is removed */
    SPOOL_WANTED,    /* it stays when its process ends */
    SPOOL_RESULT,    /* it was made of others; no process writes to it */
};

struct spool_header {
    char magic[8];
    uint32_t version;
    uint32_t header_size;     /* 64; records begin here */
    uint64_t start_monotonic; /* ns, CLOCK_MONOTONIC */
    uint64_t start_realtime;  /* ns since the epoch, CLOCK_REALTIME */
    uint32_t pid;
    uint32_t machine; /* e_machine of ELF: 62 x86-64, 183 aarch64 */
    /* Of a flight recorder, else 0: it keeps the last KEEP ns, in two spools;
     * this one begins BEGIN ns after the start, where the other one ends. Ids
     * of threads and modules mean the same in both. */
    uint64_t keep, begin;
    /* The PID namespace of PID: the inode of /proc/self/ns/pid (namespaces(7));
     * 0: not known. */
    uint32_t pid_namespace;
    uint32_t purpose; /* enum spool_purpose */
};
_Static_assert(sizeof(struct spool_header) == 64, "drawn as 64 bytes");

enum record_kind {
    RECORD_FILLER = 1, /* payload without meaning, up to a chunk's end */
    RECORD_PROCESS,
    RECORD_MODULE,
    RECORD_MODULE_END,
    RECORD_THREAD,
    RECORD_THREAD_END,
    RECORD_NODE,
    RECORD_SAMPLE,
    RECORD_COUNTS,
    RECORD_MARK,
    RECORD_SUMMARY,
    RECORD_TEXT,
    RECORD_SYMBOL,
    RECORD_NAMED,
    RECORD_NEXT,
    RECORD_LABEL,
    RECORD_CONTROL,
    RECORD_ANSWER,
    RECORD_STACKS,
    RECORD_RATE,
    RECORD_TREE,
    RECORD_WHOLE,
    RECORD_EPOCH,
    RECORD_CLOCK,
    RECORD_JITDUMP,
    RECORD_SCRIPT,
    RECORD_LIVE,
    RECORD_FILE,
    RECORD_KIND_COUNT
};

/* The head word. */
static inline uint16_t
record_check(uint64_t offset, uint8_t kind, uint32_t size)
{
    uint64_t mix = (offset + 0x9e3779b97f4a7c15u) ^ ((uint64_t)size << 32) ^
                   ((uint64_t)kind << 56);
    mix *= 0xff51afd7ed558ccdu;
    return (uint16_t)(mix >> 48);
}

static inline uint64_t
record_head(uint64_t offset, uint8_t kind, uint8_t flags, uint32_t size)
{
    return (uint64_t)kind | (uint64_t)flags << 8 |
           (uint64_t)record_check(offset, kind, size) << 16 |
           (uint64_t)size << 32;
}

/* Strings follow the fixed part, each NUL-terminated, in the order named; the
 * LENGTHs include the NUL. The record is padded with zeros to 8 bytes. */

/* First record after the header, once. */
struct record_process {
    uint64_t head;
    uint64_t period; /* ns between the sample points of a thread */
    uint32_t pid, ppid;
    uint32_t mode;    /* enum option_mode of base/options.h */
    uint32_t trigger; /* enum trigger: the wanted one; TRIGGER_NONE: auto */
    uint16_t exe_length, command_length, version_length, host_length;
    /* char exe[]: path; command[]: arguments joined with spaces, printable;
     * version[] of the library; host[]: its name and, where it is known, after
     * the NUL of that the text of proc_boot. */
};

/* A mapped ELF file (or the vdso). NODE offsets are pc - BASE: addresses as the
 * ELF file itself numbers them (st_value). */
struct record_module {
    uint64_t head;
    uint32_t id;         /* 1, 2, ...; 0 means no module */
    uint32_t generation; /* of the module map when it was first seen */
    uint64_t base;       /* load bias */
    uint64_t start, end; /* addresses that it covers */
    uint64_t time;       /* first seen */
    uint16_t build_id_length, path_length;
    uint32_t flags; /* enum module_flags */
    /* uint8_t build_id[]; char path[] */
};
enum module_flags {
    MODULE_VDSO = 1,
    MODULE_DELETED = 2, /* the file was gone when first seen */
};

/* The file of a module without a build-id, when the module was first seen. */
struct record_file {
    uint64_t head;
    uint32_t module, reserved;
    uint64_t size;     /* bytes */
    uint64_t modified; /* ns since the epoch */
};

struct record_module_end {
    uint64_t head;
    uint32_t id, reserved;
    uint64_t time;
};

/* Written again, with the same id, when a thread's name changes. */
struct record_thread {
    uint64_t head;
    uint32_t id; /* 1, 2, ...; tids are reused, ids are not */
    uint32_t tid;
    uint64_t time; /* first seen */
    uint16_t name_length, reserved[3];
    /* char name[] */
};

/* Written at the end of each time of sampling, too (MARK_STOP): the last one
 * counts, unless the thread has samples after it. */
struct record_thread_end {
    uint64_t head;
    uint32_t id, reserved;
    uint64_t time;
    /* ns of CPU time that it used while it was profiled, by its own clock. Its
     * samples are scaled to this. Also written for threads that are alive at
     * the end of the process. */
    uint64_t cpu;
    uint64_t flags; /* enum thread_end_flags */
};
enum thread_end_flags {
    THREAD_END_EXACT = 1, /* CPU was read at the end of the thread or process;
                             else some time before */
    THREAD_END_ALIVE = 2, /* the process ended, not the thread */
};

/* One frame in the tree of all stacks. The chain from a node over its parents
 * begins at the leaf; PARENT 0 is beyond the root. Parents come before
 * children. A thread's stack is named by the node of its leaf. */
struct record_node {
    uint64_t head;
    uint32_t id;     /* 1, 2, ...: consecutive in a spool */
    uint32_t parent; /* < id */
    uint32_t module; /* 0: OFFSET is an address in no module */
    uint32_t flags;  /* enum node_flags */
    uint64_t offset; /* the pc, relative to the module's base */
};
_Static_assert(sizeof(struct record_node) == 32, "two a cache line");
enum node_flags {
    NODE_RETURN = 1,    /* OFFSET is a return address: look up OFFSET - 1 */
    NODE_ELIDED = 2,    /* no frame: frames were left out here; the sample's
                         * depth tells how many */
    NODE_TRUNCATED = 4, /* no frame: the stack ended before its root; OFFSET is
                         * the enum cut */
    NODE_GUESSED =
        8, /* no frame: the size of the callee's frame is not known. A search of
              the stack found its caller, from which the root was reached */
    NODE_SCRIPT = 16, /* a function of an interpreter: MODULE is the SCRIPT's id
                         (0: it was freed before it was read), OFFSET the byte
                         in its code, negative before the first byte */
    NODE_UNPLACED = 32, /* with NODE_SCRIPT: its place among the native frames
                           is not known */
};

/* A function of an interpreter. */
struct record_script {
    uint64_t head;
    uint32_t id;       /* 1, 2, ... */
    uint32_t language; /* enum script_language */
    uint32_t lines;    /* form of the table, enum script_lines */
    int32_t first_line;
    uint32_t table_length;
    uint16_t name_length, file_length;
    /* char name[], file[]; uint8_t table[]: of the lines of its code, as the
     * interpreter keeps it */
};
enum script_language { SCRIPT_PYTHON = 1, SCRIPT_PHP };
enum script_lines {
    SCRIPT_LNOTAB,    /* co_lnotab of Python 3.9 */
    SCRIPT_LINES_310, /* co_linetable of Python 3.10 */
    SCRIPT_LOCATIONS, /* co_linetable of Python 3.11 and later */
    SCRIPT_NUMBERS,   /* no table: the place is the line */
};

#define SYSCALL_UNKNOWN 0xffffu
/* In place of a system call: a wait for an interpreter's lock. */
#define SYSCALL_GIL 0xfffeu

/* A text that samples refer to, by id: 1, 2, ... */
struct record_text {
    uint64_t head;
    uint32_t id;
    uint16_t text_length, reserved;
    /* char text[] */
};

/*
 * COUNT sample points of one thread with one stack, or CPU time without one.
 *
 * While a thread waits, its SAMPLE is open: beyond its duration it reaches to
 * the last tick (COUNTS.time), or to an earlier end of its thread. WALL grows
 * by that time, and COUNT by its periods. While the wait goes on, the file is
 * not changed. After the wait the final values are stored, the flags last.
 */
struct record_sample {
    uint64_t head;
    uint64_t time;     /* of the first of them */
    uint64_t duration; /* from the first to the last of them, 0 for one */
    uint64_t wall;     /* ns of wall time it stands for */
    uint64_t cpu;      /* ns of CPU time it stands for */
    uint64_t count;    /* sample points */
    uint32_t thread;
    uint32_t node;        /* leaf; 0: no stack is known */
    uint32_t label;       /* 0: none */
    uint16_t system_call; /* number, or SYSCALL_UNKNOWN */
    uint8_t state;        /* enum state */
    uint8_t trigger;      /* enum trigger; NONE: CPU time not sampled */
    uint32_t stopped;     /* ns the thread spent in the handler */
    uint32_t depth;       /* frames of the real stack, elided ones included */
    uint32_t waits_on;    /* TEXT: what it waits for, 0 if that is not known */
    uint32_t flags;       /* enum sample_flags */
    uint64_t age; /* ns of CPU time that the thread had used by then; 0 for
                   * waits */
};
_Static_assert(sizeof(struct record_sample) == 88, "eleven words");
enum sample_flags {
    SAMPLE_OPEN = 1, /* the wait is not over */
    /* Written by `sprofile convert`: values are final sums, and TRIGGER has no
     * meaning. */
    SAMPLE_SUMMED = 2,
    /* CPU time without a sample: a thread could not be interrupted
     * (MARK_TRACED), or `sprofile convert` found the time. */
    SAMPLE_NOT_SAMPLED = 4,
    /* Written by `sprofile convert`, from a file that does not know when
     * samples were. */
    SAMPLE_UNTIMED = 8, /* TIME has no meaning */
    /* Written by `sprofile convert`: it waits for a GPU (model/gpu_wait.h),
     * even if its stack does not show it. */
    SAMPLE_GPU_WAIT = 16,
};

/* Written once, early; its counters then grow in place at every tick. */
struct record_counts {
    uint64_t head;
    uint64_t time; /* of the last tick */
    uint64_t ticks;
    uint64_t asked; /* samples that were asked for = taken + sum of lost */
    uint64_t taken;
    uint64_t parked;      /* of those taken: the thread had to wait */
    uint64_t kept;        /* points answered without a signal */
    uint64_t peeked;      /* stacks of waiting threads that were looked at */
    uint64_t unsure;      /* of those: given up, because the thread moved */
    uint64_t skipped;     /* points merged into others to stay in the budget */
    uint64_t rules;       /* unwind rules learned */
    uint64_t process_cpu; /* ns, the whole process, profiler included */
    uint64_t sampler_cpu; /* ns, the sampler thread */
    uint64_t stopped;     /* ns, sum over all samples */
    uint32_t loss_count, cut_count;
    /* uint64_t lost[loss_count]; uint64_t cut[cut_count]; uint64_t expired:
     * waits of the library that ended at their deadline; uint64_t missed: of
     * the samples taken, those whose walk lacked a rule in the handler. Old
     * files end before one of the last two. */
};

/* The CPU time in which samples of running threads were due, and how many were
 * taken in it. Each entry is for one cause that limited the rate (LIMIT_TABLE
 * of base/loss.h). Written once, early, and then changed in place at every
 * tick, as COUNTS is. */
struct record_rate {
    uint64_t head;
    uint64_t period; /* ns of CPU time between two samples that are due */
    uint64_t tick;   /* ns between two ticks of the kernel, at which timers
                      * expire */
    uint32_t count, reserved;
    /* struct rate_entry entries[count] */
};
struct rate_entry {
    uint64_t cpu; /* ns */
    uint64_t taken;
};

/* From TIME on, until the next EPOCH, each thread that runs is sampled at one
 * rate. CLOCKs follow it, with the CPU time that the threads had used at that
 * instant. Time before the first EPOCH belongs to that EPOCH. The last three
 * fields are changed in place, as COUNTS is. */
struct record_epoch {
    uint64_t head;
    uint64_t time;
    uint64_t period; /* ns of CPU time between two samples of a thread */
    uint64_t each; /* assumed cost of an interruption in ns; 0: not measured */
    uint64_t allowed; /* ns that sampling may cost in a CPU second; 0: any */
    uint64_t cpu;     /* ns that threads ran in it */
    uint64_t taken;   /* samples of threads that ran in it */
    uint64_t spent;   /* ns that sampling cost in it, as the model estimates */
};

/* The CPU time of a thread when the last EPOCH before this record began, as
 * THREAD_END counts it. A thread without a CLOCK had not run since the EPOCH
 * before that one. */
struct record_clock {
    uint64_t head;
    uint32_t thread, reserved;
    uint64_t cpu; /* ns */
};

/* The CPU time of a thread at the sampler's last looks, as THREAD_END counts
 * it. The clock is changed in place. It counts if the thread has no THREAD_END
 * because the process was killed, or still runs. */
struct record_live {
    uint64_t head;
    uint32_t thread, reserved;
    uint64_t cpu; /* ns */
};

/* A file that the process has mapped. In it its runtime names the code that it
 * generates, with times (symbol/jitdump.h). */
struct record_jitdump {
    uint64_t head;
    uint64_t time; /* first seen */
    uint16_t path_length, reserved[3];
    /* char path[] */
};

/* Names inside a spool; `sprofile convert` writes them after what the recorder
 * wrote. One of the COUNT frames of symbol ID, which follow one another, the
 * innermost inlined function first. */
struct record_symbol {
    uint64_t head;
    uint32_t id; /* 1, 2, ...: consecutive in a spool */
    uint32_t count;
    uint32_t function, linkage, file; /* TEXTs; 0: "" */
    uint32_t line, start_line;        /* 0 if unknown */
    uint32_t flags;                   /* enum symbol_flags */
};
_Static_assert(sizeof(struct record_symbol) == 40, "five words");
enum symbol_flags {
    SYMBOL_NAMED = 1,     /* its module has a name for it */
    SYMBOL_COLLECTOR = 2, /* it collects the garbage of an interpreter */
};

/* NODE has this SYMBOL. */
struct record_named {
    uint64_t head;
    uint32_t node, symbol;
    uint32_t names; /* kinds of names of its module: enum module_names */
    uint32_t reserved;
};
enum module_names {
    MODULE_HAS_FUNCTIONS = 1,
    MODULE_HAS_FILES = 2,
    MODULE_HAS_LINES = 4,
    MODULE_HAS_INLINES = 8,
};

/* The records after this are of another process: ids begin again. */
struct record_next {
    uint64_t head;
    uint64_t start_monotonic, start_realtime; /* as in the header */
    uint32_t pid, machine;
};

/* The label KEY=VALUE on top of the set PARENT. The labels of a sample are the
 * chain from its LABEL over the parents. If a key comes again, its first value
 * counts. Parents come before children. */
struct record_label {
    uint64_t head;
    uint32_t id;         /* in any order, with gaps */
    uint32_t parent;     /* < id; 0: none */
    uint32_t key, value; /* TEXTs */
};

/* Sampling began (START) or ended (STOP); an instant (USER) or a span of time
 * (SPAN) that the program named. */
enum mark_kind { MARK_START, MARK_STOP, MARK_USER, MARK_SPAN };
/* The USER mark that the recorder makes when a process traces this one
 * (ptrace(2)) and signals would disturb it. */
#define MARK_TRACED "traced: threads that run are not sampled"
struct record_mark {
    uint64_t head;
    uint64_t time;
    uint64_t duration; /* ns; of a SPAN */
    uint32_t mark;     /* enum mark_kind */
    uint32_t thread;   /* id; 0: of the process */
    uint32_t label;    /* its thread's labels then; 0: none */
    uint16_t text_length, reserved;
    /* char text[]: its name; for START and STOP the cause */
};

/* How the process takes requests; written once, early. TIME is that of the last
 * change. */
struct record_control {
    uint64_t head;
    uint64_t time;
    uint32_t state;  /* enum control_state; one word with SIGNAL */
    uint32_t signal; /* that carries requests (request.h), 0: none does */
};
enum control_state {
    CONTROL_WAITING,  /* nothing was sampled yet */
    CONTROL_SAMPLING, /* sampling is on */
    CONTROL_STOPPED,  /* sampling is off */
    CONTROL_OVER,     /* never again: the spool, or its disk, is full */
};

/* The outcome of the request NONCE. */
struct record_answer {
    uint64_t head;
    uint64_t time;
    uint32_t nonce;
    uint32_t error; /* errno; 0: success */
    uint16_t text_length, reserved[3];
    /* char text[]: the files that were written, one a line; or what failed */
};

/*
 * The stacks of all threads at one time. There is room for CAPACITY entries;
 * the first COUNT are valid while SEQUENCE is even and the same before and
 * after they were read. A larger one may follow, which is then in use instead.
 */
struct stacks_entry {
    uint32_t tid;
    uint32_t thread;   /* id, 0: unknown */
    uint32_t node;     /* leaf; 0: no stack, for CAUSE */
    uint32_t depth;    /* frames of the real stack */
    uint32_t waits_on; /* TEXT; 0: not known */
    uint32_t owner;    /* tid of the thread that it waits for; 0: none */
    uint64_t cpu; /* ns that it has used in its life; UINT64_MAX: unknown */
    uint16_t system_call; /* that it waits in, or SYSCALL_UNKNOWN */
    uint8_t state;        /* the letter of proc_pid_stat(5) */
    uint8_t cause;        /* enum stack_cause (base/loss.h) */
    uint32_t label;       /* its labels; 0: none */
};
_Static_assert(sizeof(struct stacks_entry) == 40, "five words");
struct record_stacks {
    uint64_t head;
    uint64_t sequence; /* odd while it is being written; 0: never was */
    uint64_t time;     /* of the first look; as in the header */
    uint64_t took;     /* ns */
    uint32_t nonce;    /* of the request */
    uint32_t count, capacity;
    uint32_t reserved;
    /* struct stacks_entry entries[capacity] */
};

/* The CPU time of all processes of a recording as the kernel counts it
 * (wait4(2)), and the part that no process reports. Written by `sprofile
 * record`, once, with the first process. */
struct record_tree {
    uint64_t head;
    uint64_t cpu;    /* ns */
    uint64_t unseen; /* ns, part of it */
};

/* The last record of a file whose purpose is SPOOL_RESULT: without it, the file
 * was cut, even if that was between two records. */
struct record_whole {
    uint64_t head;
};

/* The last record of a process that ended in a way the library saw. */
struct record_summary {
    uint64_t head;
    uint64_t time;
    uint64_t user_cpu, system_cpu; /* ns, getrusage(RUSAGE_SELF) */
    uint32_t reason;               /* enum end_reason */
    uint32_t status;               /* exit status, where it is known */
};
enum end_reason {
    END_EXIT,
    END_QUICK, /* by _exit(2): no code of the program runs after that */
    END_EXEC,
    END_SIZE,
    END_STOP,
    END_SIGNAL
};

#endif
