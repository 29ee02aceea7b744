/* SPDX-License-Identifier: MIT */
/*
 * trace_context.c -- see trace_context.h. The variable usually lies at one
 * distance from the thread pointer of each thread, in memory that lives as long
 * as the thread. So a handler loads it directly. The record may be anywhere,
 * and may have been freed, so the kernel copies it. The kernel also copies the
 * variable of a library that was loaded late: each thread has it elsewhere.
 *
 * From outside, the pointer of a thread is found by its list of robust mutexes.
 * glibc keeps the head of that list at one distance from the pointer, and the
 * kernel shows where it is.
 */
#include <stdatomic.h>
#include <string.h>
#include <sys/syscall.h>

#include "base/arch.h"
#include "base/clock.h"
#include "base/hot.h"
#include "base/sys.h"
#include "process/elf_local.h"
#include "trace_context.h"
#include "base/poison.h"

/* Limit of the modules of a process that export the variable. It is usually
 * one. */
#define VARIABLES_MOST 4u

/* ns after which a variable without a known place is looked at again. */
#define AGAIN_NS 100000000u

/* A variable. START of its module is 0 in an unused entry. */
static struct variable {
    uint64_t start;
    struct elf_local local;
    _Atomic int64_t distance; /* 0: not known, or not the same everywhere */
    _Atomic bool has_block;
    struct elf_block block; /* its place if it differs between threads */
} variables[VARIABLES_MOST];

/* Number of variables with a place. */
static HOT_STATE _Atomic uint32_t found;
static uint32_t missing; /* number of those without one yet */
static uint64_t looked_at;

/* Of the head of a thread's list from its pointer; 0: not known. */
static int64_t list_distance;

/* Where thread TID, 0 for the caller, has its list. 0: it has none. */
static uint64_t
list_of(pid_t tid)
{
    uint64_t head = 0;
    size_t size;
    return sys_call(SYS_get_robust_list, tid, &head, &size) == 0 ? head : 0;
}

void
trace_context_begin(void)
{
    memset(variables, 0, sizeof(variables));
    atomic_store(&found, 0);
    missing = 0;
    looked_at = 0;
    list_distance = 0;
}

static bool
is_found(const struct variable *variable)
{
    return atomic_load_explicit(&variable->distance, memory_order_relaxed) !=
               0 ||
           atomic_load_explicit(&variable->has_block, memory_order_acquire);
}

static void
look_for(struct variable *variable)
{
    int64_t distance =
        elf_local_distance(&variable->local, arch_thread_pointer());
    if (distance != 0)
        atomic_store(&variable->distance, distance);
    else if (elf_local_block(&variable->local, &variable->block))
        atomic_store(&variable->has_block, true);
    else
        return;
    missing--;
    atomic_fetch_add(&found, 1);
    uint64_t list = list_of(0);
    if (list_distance == 0 && list != 0)
        list_distance = (int64_t)(list - arch_thread_pointer());
}

/* Enter the variable of MODULE, if it has one. */
static void
enter(const struct module *module)
{
    struct elf_local local;
    for (uint32_t i = 0; i < VARIABLES_MOST; i++) {
        struct variable *variable = &variables[i];
        if (variable->start != 0)
            continue;
        if (!elf_local_find(&local, module, TRACE_CONTEXT_VARIABLE))
            return;
        variable->start = module->start;
        variable->local = local;
        missing++;
        look_for(variable);
        return;
    }
}

static void
forget(const struct module *module)
{
    for (uint32_t i = 0; i < VARIABLES_MOST; i++) {
        if (variables[i].start != module->start)
            continue;
        variables[i].start = 0;
        if (is_found(&variables[i]))
            atomic_fetch_sub(&found, 1);
        else
            missing--;
        atomic_store(&variables[i].distance, 0);
        atomic_store(&variables[i].has_block, false);
    }
}

void
trace_context_module(const struct module *module, bool gone)
{
    if (gone)
        forget(module);
    else
        enter(module);
}

void
trace_context_settle(void)
{
    uint64_t now = missing != 0 ? clock_now() : 0;
    if (now - looked_at < AGAIN_NS)
        return;
    looked_at = now;
    for (uint32_t i = 0; i < VARIABLES_MOST; i++)
        if (variables[i].start != 0 && atomic_load(&variables[i].distance) == 0)
            look_for(&variables[i]);
}

bool
trace_context_parse(struct trace_context *context, const uint8_t *record)
{
    memcpy(context, record, sizeof(*context));
    if (record[TRACE_CONTEXT_VALID] == 1 && context->span != 0 &&
        (context->trace[0] | context->trace[1]) != 0)
        return true;
    *context = (struct trace_context){.span = 0};
    return false;
}
_Static_assert(sizeof(struct trace_context) == TRACE_CONTEXT_VALID,
               "the two ids lie in front of that");

/* Read the record at ADDRESS. */
static bool
read_record(struct trace_context *context, uint64_t address)
{
    uint8_t record[TRACE_CONTEXT_SIZE];
    return address != 0 && sys_copy_memory(record, address, sizeof(record)) &&
           trace_context_parse(context, record);
}

/* The place of VARIABLE in the thread with the table TABLE of its modules'
 * data. 0: it has none. */
static uint64_t
address_of(const struct variable *variable, uint64_t table)
{
    return atomic_load_explicit(&variable->has_block, memory_order_acquire)
               ? elf_local_address(&variable->block, table)
               : 0;
}

/* The calling thread's own word at DISTANCE from its POINTER. */
static uint64_t
own_word(uint64_t pointer, int64_t distance)
{
    return *(const volatile uint64_t *)(pointer + (uint64_t)distance);
}

HOT void
trace_context_read(struct trace_context *context, uint64_t pointer)
{
    context->span = 0;
    if (atomic_load_explicit(&found, memory_order_relaxed) == 0)
        return;
    for (uint32_t i = 0; i < VARIABLES_MOST; i++) {
        int64_t distance =
            atomic_load_explicit(&variables[i].distance, memory_order_relaxed);
        uint64_t record =
            distance != 0
                ? own_word(pointer, distance)
                : sys_read_word(
                      address_of(&variables[i],
                                 own_word(pointer, ARCH_MODULES_DATA)));
        if (read_record(context, record))
            return;
    }
}

void
trace_context_read_from(struct trace_context *context, pid_t tid)
{
    context->span = 0;
    uint64_t list = atomic_load(&found) != 0 ? list_of(tid) : 0;
    if (list == 0 || list_distance == 0)
        return;
    uint64_t pointer = list - (uint64_t)list_distance;
    uint64_t table = sys_read_word(pointer + ARCH_MODULES_DATA);
    for (uint32_t i = 0; i < VARIABLES_MOST; i++) {
        int64_t distance = atomic_load(&variables[i].distance);
        uint64_t place = distance != 0 ? pointer + (uint64_t)distance
                                       : address_of(&variables[i], table);
        if (read_record(context, sys_read_word(place)))
            return;
    }
}
