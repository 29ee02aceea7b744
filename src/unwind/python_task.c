/* SPDX-License-Identifier: MIT */
/*
 * python_task.c -- see python_task.h. Handlers read the table of dictionaries
 * without a lock. A dictionary may be gone by then, or may have been replaced.
 * So all of it is read by system calls, and a task is believed only when its
 * coroutine is found on the thread's stack.
 */
#include <stdatomic.h>
#include <stddef.h>
#include <string.h>

#include "base/hot.h"
#include "base/sys.h"
#include "base/text.h"
#include "python_dict.h"
#include "python_text.h"
#include "python_task.h"
#include "base/poison.h"

/* Limit of the interpreters whose tasks are known. */
#define SOURCES_MOST 16u

/* Offset of the dictionary in a module, and of the type in any object. */
#define MODULE_DICT 16u
#define OBJECT_TYPE 8u

/* A number from 3.12 on: how many digits it has, above three bits of others,
 * and where they begin. */
#define NUMBER_TAG 16u
#define NUMBER_DIGITS 24u
#define NUMBER_SIZE 32u
#define DIGIT_BITS 30u

/* An interpreter that has, or may get, a dictionary of its tasks. */
static struct source {
    const struct python *python;
    uint64_t interpreter;   /* its state; 0: the entry is free */
    uint64_t module;        /* _asyncio; 0: not imported yet */
    uint64_t keys;          /* of the dictionary of modules, at the last look */
    uint32_t seen;          /* how many of its entries are no such module */
    bool is_there;          /* the list of interpreters has it */
    _Atomic uint64_t tasks; /* the dictionary; 0: none */
} sources[SOURCES_MOST];

void
python_task_begin(void)
{
    for (uint32_t i = 0; i < SOURCES_MOST; i++) {
        atomic_store(&sources[i].tasks, 0);
        sources[i].interpreter = 0;
    }
}

/* Whether SOURCE belongs to PYTHON. */
static bool
is_of(const struct source *source, const struct python *python)
{
    return source->interpreter != 0 && source->python == python;
}

/* The entry of INTERPRETER, which is new if there was none. NULL: there is no
 * room. */
static struct source *
source_of(const struct python *python, uint64_t interpreter)
{
    struct source *room = NULL;
    for (uint32_t i = 0; i < SOURCES_MOST; i++) {
        if (is_of(&sources[i], python) && sources[i].interpreter == interpreter)
            return &sources[i];
        if (sources[i].interpreter == 0 && room == NULL)
            room = &sources[i];
    }
    if (room != NULL) {
        room->python = python;
        room->interpreter = interpreter;
        room->module = room->keys = 0;
        room->seen = 0;
    }
    return room;
}

/* Look for the module in the dictionary of all modules. Entries that were
 * looked at are passed over, unless they have moved. */
static void
find_module(struct source *source)
{
    const struct python *python = source->python;
    struct python_dict modules;
    uint64_t address =
        sys_read_word(source->interpreter + python->layout.interpreter.modules);
    if (!python_dict_open(python, address, &modules))
        return;
    if (modules.keys != source->keys)
        source->seen = 0;
    source->keys = modules.keys;
    source->module =
        python_dict_find(python, &modules, "_asyncio", &source->seen);
}

/* Look for the dictionary of tasks in the module, which may still be under
 * construction. */
static void
find_tasks(struct source *source)
{
    struct python_dict names;
    uint32_t from = 0;
    if (source->module != 0 &&
        python_dict_open(source->python,
                         sys_read_word(source->module + MODULE_DICT), &names))
        atomic_store(&source->tasks, python_dict_find(source->python, &names,
                                                      "_current_tasks", &from));
}

void
python_task_look(const struct python *python)
{
    const struct python_layout *layout = &python->layout;
    if (layout->task.running != PYTHON_NO_FIELD || python->dict_type == 0)
        return;
    for (uint32_t i = 0; i < SOURCES_MOST; i++)
        sources[i].is_there = false;
    uint64_t interpreter =
        sys_read_word(python->runtime + layout->runtime.interpreters);
    for (uint32_t i = 0; interpreter != 0 && i < SOURCES_MOST; i++) {
        struct source *source = source_of(python, interpreter);
        if (source == NULL)
            break;
        source->is_there = true;
        if (source->module == 0)
            find_module(source);
        if (atomic_load(&source->tasks) == 0)
            find_tasks(source);
        interpreter = sys_read_word(interpreter + layout->interpreter.next);
    }
    for (uint32_t i = 0; i < SOURCES_MOST; i++)
        if (is_of(&sources[i], python) && !sources[i].is_there) {
            atomic_store(&sources[i].tasks, 0);
            sources[i].interpreter = 0;
        }
}

/* Enter the task at ADDRESS in SCRIPT. A task has its coroutine, and its name
 * after that. */
static void
add_task(const struct python *python, uint64_t address, struct script *script)
{
    const struct python_task_layout *layout = &python->layout.task;
    uint64_t words[2];
    if (address == 0 || script->task_count == SCRIPT_TASKS_MOST ||
        !sys_copy_memory(words, address + layout->coroutine, sizeof(words)))
        return;
    uint64_t frame = words[0] + layout->frame;
    if (python->layout.chain <= PYTHON_OBJECTS)
        frame = sys_read_word(frame);
    if (frame != 0)
        script->tasks[script->task_count++] =
            (struct script_task){.frame = frame, .name = words[1]};
}

/* Enter the tasks in the dictionary at ADDRESS, whose keys are loops. */
static void
add_tasks(const struct python *python, uint64_t address, struct script *script)
{
    struct python_entry entries[PYTHON_ENTRIES_MOST];
    struct python_dict tasks;
    if (!python_dict_open(python, address, &tasks) || tasks.used == 0)
        return;
    uint32_t count = python_dict_read(&tasks, 0, PYTHON_ENTRIES_MOST, entries);
    for (uint32_t i = 0; i < count; i++)
        add_task(python, entries[i].value, script);
}

HOT void
python_task_list(const struct python *python, uint64_t state, bool is_held,
                 struct script *script)
{
    uint16_t running = python->layout.task.running;
    if (running != PYTHON_NO_FIELD) {
        uint64_t field = state + running;
        add_task(python,
                 is_held ? *(const uint64_t *)field : sys_read_word(field),
                 script);
        return;
    }
    if (script->task_count != 0)
        return;
    for (uint32_t i = 0; i < SOURCES_MOST; i++) {
        uint64_t tasks =
            atomic_load_explicit(&sources[i].tasks, memory_order_acquire);
        if (tasks != 0 && sources[i].python == python)
            add_tasks(python, tasks, script);
    }
}

/* Write the name that a task has whose name is the number at BYTES. */
static void
name_by_number(char name[SCRIPT_TASK_NAME], const uint8_t *bytes)
{
    uint64_t digits = python_word(bytes, NUMBER_TAG) >> 3;
    uint64_t value = python_word(bytes, NUMBER_DIGITS);
    struct text text;
    if (digits == 0 || digits > 2)
        return;
    uint64_t high = digits == 2 ? value >> 32 : 0;
    text_begin(&text, name, SCRIPT_TASK_NAME);
    text_add(&text, "Task-");
    text_add_number(&text, (value & 0xffffffff) | high << DIGIT_BITS);
}

void
python_task_name(const struct python *python, struct script *script)
{
    uint8_t bytes[PYTHON_TEXT_BYTES];
    if (script->met == 0)
        return;
    uint64_t address = script->tasks[script->met - 1].name;
    long count = sys_read_memory(bytes, address, sizeof(bytes));
    uint64_t type =
        count >= (long)NUMBER_SIZE ? python_word(bytes, OBJECT_TYPE) : 0;
    if (type == 0)
        return;
    if (type == python->number_type)
        name_by_number(script->task, bytes);
    else if (type == python->text_type &&
             !python_text_of(&python->layout, bytes, count, address,
                             script->task, sizeof(script->task)))
        script->task[0] = '\0';
}
