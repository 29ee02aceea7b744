/* SPDX-License-Identifier: MIT */
/*
 * php.c -- see php.h. The structures are no public interface: the offsets are
 * those of PHP 8.2 (Zend/zend_compile.h, zend_globals.h, zend_types.h). The
 * size of the variable executor_globals shows the version.
 *
 * The loop runs a function that another one calls in the same native frame. A
 * call from native code begins a new native frame, and marks the function's
 * frame (ZEND_CALL_TOP). So runs of frames are counted (interpreter_place).
 */
#include <stdatomic.h>
#include <string.h>

#include "base/arch.h"
#include "base/hot.h"
#include "base/sys.h"
#include "process/elf_symbols.h"
#include "script_code.h"
#include "php.h"
#include "base/poison.h"

/* Size of the variable of 8.2 in bytes, and its offset of the innermost
 * frame. */
#define GLOBALS_SIZE 1800u
#define GLOBALS_FRAME 488u

/* A frame (zend_execute_data). */
#define FRAME_INSTRUCTION 0u
#define FRAME_FUNCTION 24u
#define FRAME_INFO 40u /* flags of the call: four bytes */
#define FRAME_PREVIOUS 48u
#define FRAME_SIZE 56u
#define INFO_TOP (1u << 17)

/* A function (zend_function). The first byte is its kind. */
#define FUNCTION_NAME 8u
#define FUNCTION_SCOPE 16u /* its class, or 0 */
#define FUNCTION_CODE 88u
#define FUNCTION_FILE 152u
#define FUNCTION_LINES 160u /* the first and the last: four bytes each */
#define FUNCTION_SIZE 168u
enum kind { KIND_NATIVE = 1, KIND_USER = 2, KIND_EVAL = 4 };

/* A class (zend_class_entry), an instruction (zend_op), a text (zend_string).
 */
#define CLASS_NAME 8u
#define INSTRUCTION_LINE 24u
#define TEXT_LENGTH 16u
#define TEXT_START 24u

/* System calls that a handler may make to read frames. */
#define FILLS_MOST 64u

static struct php {
    uint64_t module; /* its start */
    uint64_t globals;
    uint64_t loop_start, loop_end;
} php;
static HOT_STATE _Atomic bool is_there;

void
php_begin(void)
{
    atomic_store(&is_there, false);
}

HOT bool
php_is_there(void)
{
    return atomic_load_explicit(&is_there, memory_order_acquire);
}

enum php_found
php_look(const struct module *module)
{
    struct elf_symbols symbols;
    struct php found = {.module = module->start};
    uint64_t size, loop;
    if (php_is_there() || !elf_symbols_open(&symbols, module) ||
        !elf_symbols_find(&symbols, "executor_globals", &found.globals,
                          &size) ||
        !elf_symbols_find(&symbols, "execute_ex", &found.loop_start, &loop))
        return PHP_NONE;
    if (size != GLOBALS_SIZE)
        return PHP_REFUSED;
    found.loop_end = found.loop_start + loop;
    php = found;
    atomic_store(&is_there, true);
    return PHP_READY;
}

void
php_gone(const struct module *module)
{
    if (php_is_there() && php.module == module->start)
        atomic_store(&is_there, false);
}

bool
php_is_in_loop(uint64_t pc)
{
    return pc >= php.loop_start && pc < php.loop_end;
}

static uint64_t
word_at(const uint8_t *bytes, unsigned offset)
{
    uint64_t word;
    memcpy(&word, bytes + offset, sizeof(word));
    return word;
}

static uint32_t
half_at(const uint8_t *bytes, unsigned offset)
{
    uint32_t half;
    memcpy(&half, bytes + offset, sizeof(half));
    return half;
}

/* The loop keeps the innermost frame and its instruction in registers. It
 * stores the instruction just before it calls something that may fail. So where
 * the thread was in the loop itself, the register is right. */
static void
take_registers(struct script *script, uint64_t frame, const ucontext_t *context)
{
    if (script->count != 0 && php_is_in_loop(arch_register(context, ARCH_PC)) &&
        arch_register(context, ARCH_PHP_FRAME) == frame)
        script->frames[0].at = arch_register(context, ARCH_PHP_INSTRUCTION);
}

/* Read SIZE bytes at each of COUNT ADDRESSES, as sys_read_memories does.
 * Unreadable bytes become zero. */
static void
read_all(uint8_t *to, const uint64_t *addresses, unsigned count, size_t size)
{
    for (unsigned done = 0; done < count;) {
        done += sys_read_memories(to + done * size, addresses + done,
                                  count - done, size);
        if (done < count &&
            !sys_copy_memory(to + done * size, addresses[done], size))
            memset(to + done * size, 0, size);
        done += done < count;
    }
}

/* Number of frames of SCRIPT, from number FIRST on, that are read at once. */
static unsigned
count_from(const struct script *script, uint32_t first)
{
    uint32_t left = script->count - first;
    return left < SYS_READS_MOST ? left : SYS_READS_MOST;
}

/* Leave out of SCRIPT the frames of native functions. Some of these are on the
 * heap, and freed before the sampler comes. */
static void
leave_out_native(struct script *script)
{
    uint64_t addresses[SYS_READS_MOST], words[SYS_READS_MOST];
    uint32_t kept = 0;
    for (uint32_t i = 0; i < script->count; i += SYS_READS_MOST) {
        unsigned count = count_from(script, i);
        for (unsigned n = 0; n < count; n++)
            addresses[n] = script->frames[i + n].code;
        read_all((uint8_t *)words, addresses, count, sizeof(*words));
        for (unsigned n = 0; n < count; n++)
            if ((words[n] & 0xff) != KIND_NATIVE)
                script->frames[kept++] = script->frames[i + n];
    }
    script->count = kept;
}

/* Read the lines of the instructions in SCRIPT. */
static void
read_lines(struct script *script)
{
    uint64_t addresses[SYS_READS_MOST], words[SYS_READS_MOST];
    for (uint32_t i = 0; i < script->count; i += SYS_READS_MOST) {
        struct script_frame *frames = script->frames + i;
        unsigned count = count_from(script, i);
        for (unsigned n = 0; n < count; n++)
            addresses[n] = frames[n].at + INSTRUCTION_LINE;
        read_all((uint8_t *)words, addresses, count, sizeof(*words));
        for (unsigned n = 0; n < count; n++)
            frames[n].instruction = (int32_t)(words[n] & INT32_MAX);
    }
}

/* Frames without a function stand for generators and for native callers. */
bool
php_collect(struct script *script, struct heap_view *view,
            const ucontext_t *context)
{
    uint64_t first = 0, at = 0;
    if (!sys_copy_memory(&first, php.globals + GLOBALS_FRAME, sizeof(first)))
        return false;
    if (context != NULL)
        view->fills = FILLS_MOST;
    view->kept = HEAP_VIEW_NOTHING;
    view->is_careful = true;
    bool was_counted = script->is_counted;
    script->is_counted = true;
    for (at = first; at != 0 && (at & 7) == 0;) {
        const uint8_t *bytes = heap_view_at(view, at, FRAME_SIZE);
        if (bytes == NULL)
            break;
        uint64_t function = word_at(bytes, FRAME_FUNCTION);
        if (function != 0 && !script_add(script, function, 0))
            break;
        if (function != 0) {
            struct script_frame *frame = &script->frames[script->count - 1];
            frame->at = word_at(bytes, FRAME_INSTRUCTION);
            frame->border = (half_at(bytes, FRAME_INFO) & INFO_TOP) != 0;
        }
        at = word_at(bytes, FRAME_PREVIOUS);
    }
    if (context != NULL)
        take_registers(script, first, context);
    leave_out_native(script);
    read_lines(script);
    if (script->count == 0)
        script->is_counted = was_counted;
    return script->count != 0;
}

/* Whether the function BYTES is a PHP function, and not a native one. */
static bool
is_of_php(const uint8_t *bytes)
{
    return bytes[0] == KIND_USER || bytes[0] == KIND_EVAL;
}

/* A sum that distinguishes the function BYTES from others; 0: no PHP
 * function. */
static uint32_t
sum_of(const uint8_t *bytes)
{
    static const uint8_t words[] = {FUNCTION_NAME, FUNCTION_SCOPE,
                                    FUNCTION_CODE, FUNCTION_FILE,
                                    FUNCTION_LINES};
    uint64_t sum = 0x9e3779b97f4a7c15u ^ bytes[0];
    if (!is_of_php(bytes))
        return 0;
    for (unsigned i = 0; i < sizeof(words); i++) {
        sum = (sum ^ word_at(bytes, words[i])) * 0xff51afd7ed558ccdu;
        sum ^= sum >> 29;
    }
    return (uint32_t)(sum >> 32) | 1;
}

uint32_t
php_sum(uint64_t address)
{
    uint8_t bytes[FUNCTION_SIZE];
    return sys_copy_memory(bytes, address, sizeof(bytes)) ? sum_of(bytes) : 0;
}

unsigned
php_sums(const uint64_t *addresses, unsigned count, uint32_t *sums)
{
    uint8_t bytes[SYS_READS_MOST * FUNCTION_SIZE];
    count = sys_read_memories(bytes, addresses, count, FUNCTION_SIZE);
    for (unsigned i = 0; i < count; i++)
        sums[i] = sum_of(bytes + (size_t)i * FUNCTION_SIZE);
    return count;
}

/* A copy that grows. */
struct target {
    uint8_t *at;
    size_t left;
    uint32_t length; /* what was appended */
};

/* LENGTH bytes were appended. */
static void
advance(struct target *target, size_t length)
{
    target->at += length;
    target->left -= length;
    target->length += (uint32_t)length;
}

static bool
append(struct target *target, const void *bytes, size_t length)
{
    if (length > target->left)
        return false;
    memcpy(target->at, bytes, length);
    advance(target, length);
    return true;
}

/* Append the text at ADDRESS. */
static bool
append_text(struct target *target, uint64_t address)
{
    uint8_t bytes[256];
    long got = sys_read_memory(bytes, address, sizeof(bytes));
    if (got < (long)TEXT_START)
        return false;
    uint64_t length = word_at(bytes, TEXT_LENGTH);
    if (length > SCRIPT_TEXT - 1)
        length = SCRIPT_TEXT - 1;
    if (TEXT_START + length <= (uint64_t)got)
        return append(target, bytes + TEXT_START, length);
    if (length > target->left ||
        !sys_copy_memory(target->at, address + TEXT_START, length))
        return false;
    advance(target, length);
    return true;
}

/* Append the name of the function BYTES: "Class::function". The code of a file
 * that is in no function has no name. */
static bool
append_name(struct target *target, const uint8_t *bytes)
{
    static const char main_name[] = "{main}", between[] = "::";
    uint64_t name = word_at(bytes, FUNCTION_NAME);
    uint64_t scope = word_at(bytes, FUNCTION_SCOPE), class_name;
    if (name == 0)
        return append(target, main_name, sizeof(main_name) - 1);
    if (scope != 0 && (!sys_copy_memory(&class_name, scope + CLASS_NAME,
                                        sizeof(class_name)) ||
                       !append_text(target, class_name) ||
                       !append(target, between, sizeof(between) - 1)))
        return false;
    return append_text(target, name);
}

size_t
php_copy(uint64_t address, uint32_t sum, void *to, size_t room)
{
    uint8_t bytes[FUNCTION_SIZE];
    struct script_copy *made = to;
    if (sum == 0 || room < sizeof(*made) ||
        !sys_copy_memory(bytes, address, sizeof(bytes)) || sum_of(bytes) != sum)
        return 0;
    struct target target = {(uint8_t *)(made + 1), room - sizeof(*made), 0};
    *made = (struct script_copy){.first_line =
                                     (int32_t)half_at(bytes, FUNCTION_LINES)};
    if (!append_name(&target, bytes))
        return 0;
    made->name_length = target.length;
    if (!append_text(&target, word_at(bytes, FUNCTION_FILE)) ||
        php_sum(address) != sum)
        return 0;
    made->file_length = target.length - made->name_length;
    return room - target.left;
}

bool
php_name(uint64_t address, char *text)
{
    uint8_t bytes[FUNCTION_SIZE], name[SCRIPT_TEXT];
    struct target target = {name, sizeof(name), 0};
    if (!sys_copy_memory(bytes, address, sizeof(bytes)) || !is_of_php(bytes) ||
        !append_name(&target, bytes))
        return false;
    script_code_text(text, SCRIPT_TEXT, name, target.length, 0);
    return true;
}
