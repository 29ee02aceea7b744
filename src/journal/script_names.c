/* SPDX-License-Identifier: MIT */
/* script_names.c -- see script_names.h. */
#include <stddef.h>
#include <string.h>

#include "base/clock.h"
#include "base/sys.h"
#include "store/layout.h"
#include "unwind/frame.h"
#include "unwind/interpreter.h"
#include "id_table.h"
#include "journal.h"
#include "script_names.h"

/* Limit of the descriptions that are known at a time: a power of two. At the
 * limit all are forgotten. */
#define KNOWN_MOST (1u << 16)

/* A description that was the same for this time, in ns, is trusted: handlers no
 * longer read its sum. The time is SHARE times as long for each earlier
 * description at that address, up to a limit. */
#define TRUST_NS 250000000u
#define TRUST_SHARE 4u
#define CHANGES_MOST 5u

/* The state of the description at the address CODE. */
struct known {
    uint64_t code;  /* 0: the place is free */
    uint64_t seen;  /* the last time with this sum */
    uint64_t since; /* the first time with this sum */
    uint32_t sum, id;
    uint32_t runtime;
    uint32_t gone;   /* number of the trusted one up to SINCE */
    uint8_t changes; /* number of earlier ones */
    bool is_trusted;
};

/* The function that had SUM at the address CODE, at some time. Number of
 * places: a power of two. A later one may overwrite another. */
#define PAST_MOST (1u << 14)
struct past {
    uint64_t code;
    uint32_t sum, id;
};

static struct known *known; /* by number; 0: for one without a number */
static struct id_table numbers = {.first_size = 1u << 12,
                                  .most = 2 * KNOWN_MOST};
static struct past *past;
static uint32_t generation;      /* of the journal (journal_generation) */
static struct script_code *code; /* the one that is read now */
static uint8_t *copied;          /* a copy of it, SCRIPT_COPY_MOST bytes */
static struct id_table functions = {.first_size = 1u << 12, .most = 1u << 24};

/* A new file has no numbers. Returns 0, or -1 if memory is short. */
static int
begin_file(void)
{
    if (known != NULL && generation == journal_generation())
        return 0;
    if (code == NULL)
        code = sys_reserve_for_one(sizeof(*code));
    if (copied == NULL)
        copied = sys_reserve_for_one(SCRIPT_COPY_MOST);
    if (known == NULL)
        known = sys_reserve_for_one((KNOWN_MOST + 1) * sizeof(*known));
    past = sys_renew(past, PAST_MOST * sizeof(*past));
    if (known == NULL || past == NULL || code == NULL || copied == NULL ||
        id_table_begin(&numbers) != 0 || id_table_begin(&functions) != 0)
        return -1;
    generation = journal_generation();
    return 0;
}

/* A hash of LENGTH bytes, on top of HASH. */
static uint64_t
hash_bytes(uint64_t hash, const void *bytes, size_t length)
{
    const uint8_t *at = bytes;
    for (size_t i = 0; i < length; i++)
        hash = (hash ^ at[i]) * 0x100000001b3u;
    return hash ^ hash >> 31;
}

/* Write function ID, which is in CODE, of interpreter RUNTIME. */
static bool
write_function(uint32_t id, uint32_t runtime)
{
    bool is_php = interpreter_is_of_php(runtime);
    struct record_script record = {
        .id = id,
        .language = is_php ? SCRIPT_PHP : SCRIPT_PYTHON,
        .lines = is_php ? SCRIPT_NUMBERS : interpreter_lines_form(runtime),
        .first_line = code->first_line,
        .table_length = code->table_length,
        .name_length = (uint16_t)(strlen(code->name) + 1),
        .file_length = (uint16_t)(strlen(code->file) + 1)};
    const struct writer_tail tail[] = {{code->name, record.name_length},
                                       {code->file, record.file_length},
                                       {code->table, code->table_length}};
    return journal_append(RECORD_SCRIPT, &record, sizeof(record), tail, 3) != 0;
}

/* The number of the function in CODE. Code that is compiled again and again is
 * one function. */
static uint32_t
number_of(uint32_t runtime)
{
    bool is_new;
    uint64_t hash = 0xcbf29ce484222325u;
    hash = hash_bytes(hash, code->name, strlen(code->name) + 1);
    hash = hash_bytes(hash, code->file, strlen(code->file) + 1);
    hash = hash_bytes(hash, code->table, code->table_length);
    uint32_t high = (uint32_t)code->first_line ^ code->table_length << 16;
    uint32_t id = id_table_of(&functions, high, hash, &is_new);
    if (id >= FRAME_SCRIPTS ||
        (id != 0 && is_new && !write_function(id, runtime)))
        return 0;
    return id;
}

/* The place of the description at ADDRESS, which may be free. */
static struct known *
find_place(uint64_t address)
{
    bool is_new;
    uint64_t hash = address * 0x9e3779b97f4a7c15u;
    uint32_t number = id_table_of(&numbers, 0, hash, &is_new);
    if (number == 0 && id_table_begin(&numbers) == 0)
        number = id_table_of(&numbers, 0, hash, &is_new);
    if (is_new || number == 0)
        known[number] = (struct known){0};
    return &known[number];
}

static struct past *
past_place(uint64_t address, uint32_t sum)
{
    return &past[((address ^ (uint64_t)sum << 20) * 0x9e3779b97f4a7c15u >> 40) &
                 (PAST_MOST - 1)];
}

/* The number of the function that COPY describes, whose description at ADDRESS
 * had SUM. */
static uint32_t
number_of_copy(const void *copy, uint32_t runtime, uint64_t address,
               uint32_t sum)
{
    script_code_take(code, copy);
    uint32_t id = number_of(runtime);
    *past_place(address, sum) = (struct past){address, sum, id};
    return id;
}

/* How long the description at PLACE must be the same until it is trusted. */
static uint64_t
trial_of(const struct known *place)
{
    uint64_t trial = TRUST_NS;
    for (uint8_t i = 0; i < place->changes; i++)
        trial *= TRUST_SHARE;
    return trial;
}

/* Read the function at PLACE again, whose description is at ADDRESS and has SUM
 * at NOW. */
static void
read_anew(struct known *place, uint64_t address, uint32_t runtime, uint32_t sum,
          uint64_t now)
{
    uint8_t changes = place->changes;
    if (place->code != 0 && changes < CHANGES_MOST)
        changes++;
    uint32_t gone = place->is_trusted && sum == 0 ? place->id : 0;
    *place = (struct known){.code = address,
                            .seen = now,
                            .since = now,
                            .sum = sum,
                            .runtime = runtime,
                            .gone = gone,
                            .changes = changes};
    if (interpreter_copy(runtime, address, sum, copied, SCRIPT_COPY_MOST) != 0)
        place->id = number_of_copy(copied, runtime, address, sum);
    interpreter_know(address, place->id != 0 ? sum : 0, false);
}

/* The description at PLACE is the same at NOW. */
static void
see_again(struct known *place, uint64_t now)
{
    place->seen = now;
    if (place->id == 0 || place->is_trusted ||
        now - place->since < trial_of(place))
        return;
    place->is_trusted = true;
    interpreter_know(place->code, place->sum, true);
}

/* Update PLACE for the time of SCRIPT. *BEFORE becomes its earlier sum and
 * number. */
static void
renew(struct known *place, const struct script *script, uint64_t address,
      struct known *before)
{
    bool is_known = place->code != 0 && place->runtime == script->runtime;
    *before = is_known ? *place : (struct known){0};
    if (is_known && place->seen >= script->time)
        return;
    uint64_t now = clock_now();
    uint32_t sum = interpreter_sum(script->runtime, address);
    if (is_known && sum == place->sum)
        see_again(place, now);
    else
        read_anew(place, address, script->runtime, sum, now);
}

/* The number of a function whose sum SCRIPT does not have: the description must
 * be the same before and after that time. One that was trusted may be gone
 * since. */
static uint32_t
find_without_sum(const struct script *script, const struct known *before,
                 const struct known *place)
{
    if (place->sum == 0)
        return script->time <= place->since ? place->gone : 0;
    return before->sum == 0 || before->sum == place->sum ? place->id : 0;
}

/* The number of a function of PHP that was freed before it could be read. */
static uint32_t
number_of_lost(uint32_t runtime)
{
    static const char name[] = "[php function, freed]";
    memcpy(code->name, name, sizeof(name));
    code->file[0] = '\0';
    code->first_line = 0;
    code->table_length = 0;
    return number_of(runtime);
}

static uint32_t
find_number(const struct script *script, const struct script_frame *frame)
{
    struct known before, *place = find_place(frame->code);
    renew(place, script, frame->code, &before);
    if (frame->sum == 0)
        return find_without_sum(script, &before, place);
    if (frame->sum == place->sum && place->id != 0)
        return place->id;
    const struct past *was = past_place(frame->code, frame->sum);
    if (was->code == frame->code && was->sum == frame->sum)
        return was->id;
    return frame->text != 0
               ? number_of_copy(script->texts + frame->text - 1,
                                script->runtime, frame->code, frame->sum)
               : 0;
}

/* Confirm those of COUNT CODES that are the same as before. The others are left
 * to renew. */
static void
see_same(uint32_t runtime, const uint64_t *codes, unsigned count)
{
    uint32_t sums[SYS_READS_MOST];
    uint64_t now = clock_now();
    count = interpreter_sums(runtime, codes, count, sums);
    for (unsigned i = 0; i < count; i++) {
        struct known *place = find_place(codes[i]);
        if (place->code == codes[i] && place->sum == sums[i])
            see_again(place, now);
    }
}

/* Confirm all known descriptions in SCRIPT that are the same as before, with
 * few system calls. */
static void
see_script(const struct script *script)
{
    uint64_t codes[SYS_READS_MOST];
    unsigned count = 0;
    for (uint32_t i = 0; i < script->count; i++) {
        const struct known *place = find_place(script->frames[i].code);
        if (place->code == 0 || place->runtime != script->runtime ||
            place->seen >= script->time ||
            (count > 0 && codes[count - 1] == place->code))
            continue;
        codes[count++] = place->code;
        if (count == SYS_READS_MOST) {
            see_same(script->runtime, codes, count);
            count = 0;
        }
    }
    if (count > 1)
        see_same(script->runtime, codes, count);
}

void
script_names_resolve(struct script *script)
{
    if (script == NULL || script->count == 0)
        return;
    bool is_there = begin_file() == 0;
    if (is_there)
        see_script(script);
    for (uint32_t i = 0; i < script->count; i++) {
        struct script_frame *frame = &script->frames[i];
        frame->number = is_there ? find_number(script, frame) : 0;
        if (is_there && frame->number == 0 &&
            interpreter_is_of_php(script->runtime))
            frame->number = number_of_lost(script->runtime);
    }
}
