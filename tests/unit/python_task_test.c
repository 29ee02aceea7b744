/* SPDX-License-Identifier: MIT */
/*
 * python_task_test.c -- the tasks of asyncio in memory that looks like that of
 * CPython 3.10, 3.12 and 3.14.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "unwind/python_dict.h"
#include "unwind/python_task.h"
#include "unwind/python_text.h"

#define LOOPS 3u

static struct python python;
static struct script_frame collected[4];
static struct script script = {.frames = collected, .capacity = 4};
static uint8_t dict_type[8], text_type[8], number_type[8];
static _Alignas(8) uint8_t runtime[512], interpreter[1024], thread[1024];
static _Alignas(8) uint8_t module[64], texts[8][512], numbers[LOOPS][32];
static _Alignas(8) uint8_t task_objects[LOOPS][256], coroutines[LOOPS][256];
static uint32_t text_count;
static struct dictionary {
    uint64_t head[6];
    _Alignas(8) uint8_t keys[512];
    uint32_t entries, count, size;
} modules, names, tasks;

static uint64_t
address_of(const void *bytes)
{
    return (uint64_t)bytes;
}

static void
put(uint8_t *bytes, unsigned offset, uint64_t word)
{
    memcpy(bytes + offset, &word, sizeof(word));
}

/* Begin DICT with 8 indices. TEXTS: all of its keys are texts. */
static void
make_dict(struct dictionary *dict, bool of_texts)
{
    bool is_old = python.layout.minor <= 10;
    memset(dict, 0, sizeof(*dict));
    dict->head[1] = python.dict_type;
    dict->head[4] = address_of(dict->keys);
    dict->size = of_texts && !is_old ? 16 : 24;
    dict->entries = is_old ? 48 : 40;
    put(dict->keys, 8, is_old ? 8 : 3 | 3 << 8 | (of_texts ? 1 : 0) << 16);
}

static void
count_entries(struct dictionary *dict)
{
    put(dict->keys, python.layout.minor <= 10 ? 32 : 24, dict->count);
}

static void
add_entry(struct dictionary *dict, uint64_t key, uint64_t value)
{
    unsigned at = dict->entries + ++dict->count * dict->size - 16;
    put(dict->keys, at, key);
    put(dict->keys, at + 8, value);
    dict->head[2]++;
    count_entries(dict);
}

/* Remove entry number I. Its place stays. */
static void
remove_entry(struct dictionary *dict, uint32_t i)
{
    unsigned at = dict->entries + (i + 1) * dict->size - 16;
    put(dict->keys, at, 0);
    put(dict->keys, at + 8, 0);
    dict->head[2]--;
}

/* A text of COUNT CHARACTERS of WIDTH bytes. */
static uint64_t
make_text(const void *characters, unsigned count, unsigned width)
{
    uint8_t *bytes = texts[text_count++];
    bool is_ascii = width == 1;
    uint32_t word = 1u << 5 | width << 2 | (is_ascii ? 1u << 6 : 0);
    put(bytes, 8, python.text_type);
    put(bytes, python.layout.text.length, count);
    memcpy(bytes + python.layout.text.state, &word, sizeof(word));
    memcpy(bytes + (is_ascii ? python.layout.text.ascii
                             : python.layout.text.compact),
           characters, (size_t)count * width);
    return address_of(bytes);
}

static uint64_t
make_name(const char *name)
{
    return make_text(name, (unsigned)strlen(name), 1);
}

/* Make task number I, whose name is the object NAME. Returns its address. */
static uint64_t
make_task(uint32_t i, uint64_t name)
{
    unsigned at = python.layout.task.coroutine;
    put(task_objects[i], at, address_of(coroutines[i]));
    put(task_objects[i], at + 8, name);
    if (python.layout.minor <= 10)
        put(coroutines[i], python.layout.task.frame, 0x7000 + i);
    return address_of(task_objects[i]);
}

/* The frame of the coroutine of task I. */
static uint64_t
frame_of(uint32_t i)
{
    return python.layout.minor <= 10
               ? 0x7000 + i
               : address_of(coroutines[i]) + python.layout.task.frame;
}

static void
make(unsigned minor)
{
    python = (struct python){.dict_type = address_of(dict_type),
                             .text_type = address_of(text_type),
                             .number_type = address_of(number_type),
                             .runtime = address_of(runtime)};
    if (minor == 14)
        python.layout = (struct python_layout){.minor = 14,
                                               .chain = PYTHON_SHIMS_ALONE,
                                               .text = {16, 32, 40, 56},
                                               .task = {.coroutine = 128,
                                                        .frame = 72,
                                                        .running = 864}};
    else
        python.layout = *python_layout_of(minor);
    text_count = 0;
    memset(texts, 0, sizeof(texts));
    make_dict(&modules, true);
    make_dict(&names, true);
    make_dict(&tasks, false);
    put(runtime, python.layout.runtime.interpreters, address_of(interpreter));
    put(interpreter, python.layout.interpreter.next, 0);
    put(interpreter, python.layout.interpreter.modules, address_of(&modules));
    add_entry(&modules, make_name("sys"), address_of(module));
    put(module, 16, address_of(&names));
    python_task_begin();
    script_begin(&script, 0);
}

/* The module is there, and so are its names. */
static void
import(void)
{
    add_entry(&modules, make_name("_asyncio"), address_of(module));
    add_entry(&names, make_name("Task"), address_of(module));
    add_entry(&names, make_name("_current_tasks"), address_of(&tasks));
}

/* Whether the state is read as that of the calling thread. */
static bool is_held;

/* The name of the thread's task that has FRAME in its chain. */
static const char *
task_at(uint64_t frame)
{
    script_begin(&script, 0);
    python_task_list(&python, address_of(thread), is_held, &script);
    script_meet(&script, 0x10);
    script_meet(&script, frame);
    python_task_name(&python, &script);
    return script.task;
}

static void
a_loop_has_a_task(void **state)
{
    (void)state;
    for (unsigned minor = 10; minor <= 12; minor += 2) {
        make(minor);
        python_task_look(&python);
        assert_string_equal(task_at(frame_of(0)), "");
        import();
        assert_string_equal(task_at(frame_of(0)), "");
        python_task_look(&python);
        assert_string_equal(task_at(frame_of(0)), "");
        add_entry(&tasks, 1, make_task(0, make_name("first")));
        assert_string_equal(task_at(frame_of(0)), "first");
        assert_string_equal(task_at(frame_of(1)), "");
        remove_entry(&tasks, 0);
        assert_string_equal(task_at(frame_of(0)), "");
        /* Entries stay where they are until the memory is full. */
        add_entry(&tasks, 1, make_task(1, make_name("second")));
        assert_string_equal(task_at(frame_of(1)), "second");
        assert_string_equal(task_at(frame_of(0)), "");
    }
}

static void
each_loop_has_its_own(void **state)
{
    char name[8];
    (void)state;
    make(12);
    import();
    python_task_look(&python);
    for (uint32_t i = 0; i < LOOPS; i++) {
        snprintf(name, sizeof(name), "of %u", i);
        add_entry(&tasks, i + 1, make_task(i, make_name(name)));
    }
    assert_string_equal(task_at(frame_of(2)), "of 2");
    assert_string_equal(task_at(frame_of(0)), "of 0");
    /* The innermost task counts. */
    script_begin(&script, 0);
    python_task_list(&python, address_of(thread), is_held, &script);
    script_meet(&script, frame_of(1));
    script_meet(&script, frame_of(2));
    python_task_name(&python, &script);
    assert_string_equal(script.task, "of 1");
}

static void
a_state_has_the_task_itself(void **state)
{
    (void)state;
    for (unsigned turn = 0; turn < 2; turn++) {
        is_held = turn == 1;
        make(14);
        python_task_look(&python);
        assert_string_equal(task_at(frame_of(0)), "");
        put(thread, 864, make_task(0, make_name("first")));
        assert_string_equal(task_at(frame_of(0)), "first");
        put(thread, 864, 0);
        assert_string_equal(task_at(frame_of(0)), "");
        put(thread, 864, 0x10);
        assert_string_equal(task_at(frame_of(0)), "");
        put(thread, 864, 0);
    }
    is_held = false;
}

/* Up to the first question a default name is a number. */
static void
a_name_may_be_a_number(void **state)
{
    static const uint32_t big[2] = {5, 1}, small[2] = {17, 0xffffffff};
    (void)state;
    make(12);
    import();
    python_task_look(&python);
    for (uint32_t i = 0; i < 2; i++) {
        put(numbers[i], 8, python.number_type);
        put(numbers[i], 16, i == 0 ? 1 << 3 : 2 << 3);
        memcpy(numbers[i] + 24, i == 0 ? small : big, 8);
        add_entry(&tasks, i + 1, make_task(i, address_of(numbers[i])));
    }
    assert_string_equal(task_at(frame_of(0)), "Task-17");
    assert_string_equal(task_at(frame_of(1)), "Task-1073741829");
    put(numbers[0], 16, 9 << 3);
    assert_string_equal(task_at(frame_of(0)), "");
}

static void
names_are_cut_between_characters(void **state)
{
    uint16_t wide[40];
    char longest[100];
    (void)state;
    make(12);
    import();
    python_task_look(&python);
    for (unsigned i = 0; i < 40; i++)
        wide[i] = 0x65e5; /* three bytes of UTF-8 */
    memset(longest, 'x', sizeof(longest));
    add_entry(&tasks, 1, make_task(0, make_text(wide, 40, 2)));
    add_entry(&tasks, 2, make_task(1, make_text(longest, 100, 1)));
    assert_int_equal(strlen(task_at(frame_of(0))), 63);
    assert_memory_equal(script.task, "\xe6\x97\xa5", 3);
    assert_int_equal(strlen(task_at(frame_of(1))), 63);
}

/* What is there in place of freed objects is no task. */
static void
freed_objects_are_no_tasks(void **state)
{
    (void)state;
    make(12);
    import();
    python_task_look(&python);
    add_entry(&tasks, 1, make_task(0, make_name("first")));
    assert_string_equal(task_at(frame_of(0)), "first");
    put(texts[text_count - 1], 8, 0x1234);
    assert_string_equal(task_at(frame_of(0)), "");
    put(task_objects[0], python.layout.task.coroutine + 8, 0x10);
    assert_string_equal(task_at(frame_of(0)), "");
    tasks.head[4] = 0x10;
    assert_string_equal(task_at(frame_of(0)), "");
    tasks.head[1] = 0;
    assert_string_equal(task_at(frame_of(0)), "");
    /* The interpreter has ended. */
    put(runtime, python.layout.runtime.interpreters, 0);
    python_task_look(&python);
    assert_string_equal(task_at(frame_of(0)), "");
    assert_int_equal(script.task_count, 0);
}

/* The module is under construction when it is first seen. */
static void
a_module_gets_its_names_later(void **state)
{
    (void)state;
    make(12);
    add_entry(&modules, make_name("_asyncio"), address_of(module));
    python_task_look(&python);
    add_entry(&names, make_name("_current_tasks"), address_of(&tasks));
    add_entry(&tasks, 1, make_task(0, make_name("first")));
    assert_string_equal(task_at(frame_of(0)), "");
    python_task_look(&python);
    assert_string_equal(task_at(frame_of(0)), "first");
}

int
main(void)
{
    const struct CMUnitTest all[] = {
        cmocka_unit_test(a_loop_has_a_task),
        cmocka_unit_test(each_loop_has_its_own),
        cmocka_unit_test(a_state_has_the_task_itself),
        cmocka_unit_test(a_name_may_be_a_number),
        cmocka_unit_test(names_are_cut_between_characters),
        cmocka_unit_test(freed_objects_are_no_tasks),
        cmocka_unit_test(a_module_gets_its_names_later),
    };
    return cmocka_run_group_tests(all, NULL, NULL);
}
