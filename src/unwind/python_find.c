/* SPDX-License-Identifier: MIT */
/*
 * python_find.c -- see python_find.h. CPython always exports the symbols that
 * are used here. Debuggers rely on that, too.
 */
#include <string.h>

#include "base/sys.h"
#include "process/elf_symbols.h"
#include "python_find.h"
#include "base/poison.h"

/* Offsets in PyTypeObject, which are part of the stable interface of CPython:
 * tp_basicsize, tp_members. Size of a PyMemberDef, and its offset of OFFSET. */
#define TYPE_SIZE 32u
#define TYPE_MEMBERS 240u
#define MEMBER_SIZE 40u
#define MEMBER_OFFSET 16u
#define MEMBERS_MOST 40u
#define MEMBER_NAME 24u /* bytes of a name that are read */

/* The 3.MINOR in the name of the file at PATH ("libpython3.10.so.1.0"), or 0.
 */
static unsigned
minor_of_path(const char *path)
{
    static const char word[] = "python3.";
    const char *name = strrchr(path, '/');
    const char *at = strstr(name != NULL ? name : path, word);
    unsigned minor = 0;
    if (at == NULL)
        return 0;
    for (at += sizeof(word) - 1; *at >= '0' && *at <= '9' && minor < 100; at++)
        minor = minor * 10 + (unsigned)(*at - '0');
    return minor;
}

/* The 3.MINOR of the interpreter in MODULE, or 0. Py_Version came with 3.11.
 * Before that the name of the file shows it. */
static unsigned
minor_of(const struct elf_symbols *symbols, const struct module *module)
{
    uint64_t address, size;
    uint32_t version;
    if (!elf_symbols_find(symbols, "Py_Version", &address, &size))
        return minor_of_path(module->path);
    if (!sys_copy_memory(&version, address, sizeof(version)) ||
        version >> 24 != 3)
        return 0;
    return version >> 16 & 0xff;
}

/* Take the offset of a member of code objects that is called NAME. */
static void
take_member(struct python_layout *layout, const char *name, uint64_t offset)
{
    if (strcmp(name, "co_firstlineno") == 0)
        layout->code.first_line = (uint16_t)offset;
    else if (strcmp(name, "co_filename") == 0)
        layout->code.file = (uint16_t)offset;
    else if (strcmp(name, "co_qualname") == 0 ||
             (layout->minor < 11 && strcmp(name, "co_name") == 0))
        layout->code.name = (uint16_t)offset;
    else if (strcmp(name, "co_linetable") == 0 ||
             (layout->minor < 10 && strcmp(name, "co_lnotab") == 0))
        layout->code.table = (uint16_t)offset;
}

/* Take the offsets of code objects from their type, which is at ADDRESS.
 * Returns PYTHON_FIND_READY, or why not. */
static enum python_find
read_members(struct python_layout *layout, uint64_t address)
{
    uint64_t size, members, member[MEMBER_SIZE / 8];
    char name[MEMBER_NAME];
    if (!sys_copy_memory(&size, address + TYPE_SIZE, sizeof(size)) ||
        !sys_copy_memory(&members, address + TYPE_MEMBERS, sizeof(members)) ||
        size > 1024)
        return PYTHON_FIND_REFUSED;
    /* Until the loader has relocated the module, pointers are small numbers. */
    for (unsigned i = 0; i < MEMBERS_MOST; i++, members += MEMBER_SIZE) {
        if (!sys_copy_memory(member, members, sizeof(member)))
            return PYTHON_FIND_EARLY;
        if (member[0] == 0)
            break;
        name[sizeof(name) - 1] = '\0';
        if (!sys_copy_memory(name, member[0], sizeof(name) - 1))
            return PYTHON_FIND_EARLY;
        take_member(layout, name, member[MEMBER_OFFSET / 8]);
    }
    if (layout->minor >= 11)
        layout->code.start = (uint16_t)size;
    return layout->code.table < size && layout->code.file < size
               ? PYTHON_FIND_READY
               : PYTHON_FIND_REFUSED;
}

/* Set the layout of PYTHON, whose version is 3.MINOR. */
static enum python_find
set_layout(struct python *python, unsigned minor)
{
    const struct python_layout *known = python_layout_of(minor);
    if (known == NULL)
        return python_layout_read(&python->layout, python->runtime, minor)
                   ? PYTHON_FIND_READY
                   : PYTHON_FIND_REFUSED;
    python->layout = *known;
    return read_members(&python->layout, python->code_type);
}

/* Find out how a thread's own state can be told from one that it does not run
 * with. Without that, all is read by system calls. */
static void
find_running(struct python *python, const struct elf_symbols *symbols)
{
    uint64_t address = 0, size;
    python->holder = NULL;
    python->has_word = false;
    if (!elf_symbols_find(symbols, "_PyThreadState_UncheckedGet", &address,
                          &size) &&
        !elf_symbols_find(symbols, "PyThreadState_GetUnchecked", &address,
                          &size))
        return;
    if (python->layout.minor < 12)
        python->holder = (void *(*)(void))address;
    else
        python->has_word = thread_word_read(&python->word, address);
}

/* Find the types of the objects that tasks and frames consist of. Without them
 * no task is found, and fewer functions. */
static void
find_types(struct python *python, const struct elf_symbols *symbols)
{
    static const char *const generators[PYTHON_GENERATORS] = {
        "PyGen_Type", "PyCoro_Type", "PyAsyncGen_Type"};
    uint64_t size;
    python->dict_type = python->text_type = python->number_type = 0;
    (void)elf_symbols_find(symbols, "PyDict_Type", &python->dict_type, &size);
    (void)elf_symbols_find(symbols, "PyUnicode_Type", &python->text_type,
                           &size);
    (void)elf_symbols_find(symbols, "PyLong_Type", &python->number_type, &size);
    python->frame_type = 0;
    (void)elf_symbols_find(symbols, "PyFrame_Type", &python->frame_type, &size);
    for (unsigned i = 0; i < PYTHON_GENERATORS; i++) {
        python->generator_types[i] = 0;
        (void)elf_symbols_find(symbols, generators[i],
                               &python->generator_types[i], &size);
    }
}

enum python_find
python_find(struct python *python, const struct module *module, unsigned *minor)
{
    struct elf_symbols symbols;
    uint64_t size, own_thread;
    *minor = 0;
    if (!elf_symbols_open(&symbols, module) ||
        !elf_symbols_find(&symbols, "_PyRuntime", &python->runtime,
                          &python->runtime_size))
        return PYTHON_FIND_NONE;
    *minor = minor_of(&symbols, module);
    if (!elf_symbols_find(&symbols, "PyGILState_GetThisThreadState",
                          &own_thread, &size) ||
        !elf_symbols_find(&symbols, "PyCode_Type", &python->code_type, &size) ||
        !elf_symbols_find(&symbols, "_PyEval_EvalFrameDefault",
                          &python->loop_start, &size))
        return PYTHON_FIND_REFUSED;
    python->loop_end = python->loop_start + size;
    python->check_start = python->check_size = 0;
    (void)elf_symbols_find(&symbols, "_Py_CheckFunctionResult",
                           &python->check_start, &python->check_size);
    python->own_thread = (void *(*)(void))own_thread;
    enum python_find found = set_layout(python, *minor);
    if (found == PYTHON_FIND_READY) {
        find_running(python, &symbols);
        find_types(python, &symbols);
    }
    return found;
}
