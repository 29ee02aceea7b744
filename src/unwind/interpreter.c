/* SPDX-License-Identifier: MIT */
/*
 * interpreter.c -- see interpreter.h. Each language has its own files. This
 * file has what they share: the functions that the sampler has read, and the
 * native frames of functions where the native stack has no record of them.
 */
#include <stdatomic.h>
#include <stddef.h>

#include "base/arch.h"
#include "base/hot.h"
#include "base/sys.h"
#include "php.h"
#include "python_code.h"
#include "python_loop.h"
#include "python_runtime.h"
#include "interpreter.h"
#include "base/poison.h"

/* Functions that the sampler knows, by their addresses. The lowest bit of a
 * word says that the function is trusted. Above it is a quarter of the address,
 * which is a multiple of 8, and above that a part of the function's sum. Number
 * of places: a power of two. A function whose place is another one's is not
 * known. */
#define KNOWN_PLACES (1u << 15)
#define KNOWN_TRUSTED 1u
#define KNOWN_SUM_SHIFT (ARCH_ADDRESS_BITS - 2)
#define KNOWN_SUM(sum) ((uint64_t)(sum) << KNOWN_SUM_SHIFT)
#define KNOWN_ADDRESS (KNOWN_SUM(1) - 2)
static HOT_STATE _Atomic uint64_t *known;
static bool is_present; /* all memory of KNOWN is reserved */

/* The number of PHP; those of Python are below it. */
#define INTERPRETER_PHP PYTHON_RUNTIMES_MOST

/* Limits in one sample: of the functions whose sum a handler reads, and of
 * those whose description it copies. */
#define SUMS_MOST 12u
#define TEXTS_MOST 4u

/* Number of earlier frames that are searched for the same function. */
#define BACK_MOST 4u

static bool is_wanted;

/* An interpreter whose frames cannot be read; path NULL: all were reported. */
static struct interpreter_refused refused;

/* Whether number RUNTIME is that of PHP. */
static bool
is_php(uint32_t runtime)
{
    return runtime == INTERPRETER_PHP;
}

void
interpreter_begin(bool is_on, uint64_t self)
{
    php_begin();
    known = sys_renew((void *)known, KNOWN_PLACES * sizeof(*known));
    is_present = false;
    is_wanted = is_on && known != NULL && python_runtime_begin(self) == 0;
}

HOT bool
interpreter_is_there(void)
{
    return python_runtime_is_there() || php_is_there();
}

static void
refuse(const char *path, const char *language, unsigned minor)
{
    refused = (struct interpreter_refused){path, language, minor};
}

bool
interpreter_was_refused(struct interpreter_refused *told)
{
    *told = refused;
    refused.path = NULL;
    return told->path != NULL;
}

void
interpreter_module(const struct module *module, bool gone)
{
    unsigned minor;
    if (!is_wanted)
        return;
    if (gone) {
        python_runtime_gone(module);
        php_gone(module);
    } else if (python_runtime_look(module, &minor) == PYTHON_FIND_REFUSED) {
        refuse(module->path, "Python", minor);
    } else if (php_look(module) == PHP_REFUSED) {
        refuse(module->path, "PHP", 0);
    }
}

void
interpreter_settle(void)
{
    unsigned minor;
    const char *path = python_runtime_settle(&minor);
    if (path != NULL)
        refuse(path, "Python", minor);
}

/* The function at CODE, as a word has it. */
static uint64_t
known_address(uint64_t code)
{
    return arch_data(code) >> 2;
}

static _Atomic uint64_t *
known_place(uint64_t code)
{
    return &known[arch_data(code) * 0x9e3779b97f4a7c15u >> 48 &
                  (KNOWN_PLACES - 1)];
}

void
interpreter_know(uint64_t code, uint32_t sum, bool is_trusted)
{
    const uint64_t address = known_address(code);
    _Atomic uint64_t *place = known_place(code);
    if (!is_present)
        sys_populate((void *)known, KNOWN_PLACES * sizeof(*known));
    is_present = true;
    if (sum != 0 && (address & ~KNOWN_ADDRESS) == 0)
        atomic_store(place, address | KNOWN_SUM(sum) |
                                (is_trusted ? KNOWN_TRUSTED : 0));
    else if ((atomic_load(place) & KNOWN_ADDRESS) == address)
        atomic_store(place, 0);
}

/* Copy the data of a frame just before number I with the same function. */
static bool
take_from_before(struct script *script, uint32_t i)
{
    struct script_frame *frame = &script->frames[i];
    for (uint32_t back = 1; back <= BACK_MOST && back <= i; back++)
        if (frame[-(int)back].code == frame->code) {
            frame->sum = frame[-(int)back].sum;
            frame->text = frame[-(int)back].text;
            return true;
        }
    return false;
}

/* Amounts that a handler has read of functions. */
struct reading {
    uint32_t sums, texts;
};

/* The entry of FRAME's function; 0: not known. */
static uint64_t
known_word(const struct script_frame *frame)
{
    uint64_t word =
        atomic_load_explicit(known_place(frame->code), memory_order_relaxed);
    return (word & KNOWN_ADDRESS) == known_address(frame->code) ? word : 0;
}

/* Read the sum of FRAME's function, and its description if the sampler does not
 * know it. Returns false if it is no function. */
static bool
read_function(struct script *script, struct script_frame *frame,
              struct reading *reading)
{
    uint64_t word = known_word(frame);
    if ((word & KNOWN_TRUSTED) != 0 || reading->sums++ >= SUMS_MOST)
        return true;
    frame->sum = interpreter_sum(script->runtime, frame->code);
    if (frame->sum == 0)
        return false;
    if ((word != 0 && (word ^ KNOWN_SUM(frame->sum)) >> KNOWN_SUM_SHIFT == 0) ||
        reading->texts++ >= TEXTS_MOST)
        return true;
    uint32_t used = script->texts_used;
    size_t size =
        interpreter_copy(script->runtime, frame->code, frame->sum,
                         script->texts + used, HEAP_VIEW_WINDOW - used);
    if (size != 0)
        frame->text = used + 1;
    used += (uint32_t)(size + 7) & ~7u;
    script->texts_used = used < HEAP_VIEW_WINDOW ? used : HEAP_VIEW_WINDOW;
    return true;
}

/* Read data of the functions in SCRIPT that may be lost before the sampler
 * comes. The innermost frame may not exist yet, or no longer: it then has no
 * function. */
static void
read_functions(struct script *script)
{
    struct reading reading = {0};
    bool is_gone = false;
    for (uint32_t i = 0; i < script->count && reading.sums <= SUMS_MOST; i++)
        if ((known_word(&script->frames[i]) & KNOWN_TRUSTED) == 0 &&
            !take_from_before(script, i) &&
            !read_function(script, &script->frames[i], &reading))
            is_gone |= i == 0;
    if (is_gone) {
        script_drop_first(script);
        script_find_next(script);
    }
}

/* Read the sums of all functions in SCRIPT, which cannot be freed now. */
static void
read_all_sums(struct script *script)
{
    struct script_frame *frames = script->frames;
    for (uint32_t i = 0; i < script->count; i++)
        frames[i].sum = i > 0 && frames[i].code == frames[i - 1].code
                            ? frames[i - 1].sum
                            : interpreter_sum(script->runtime, frames[i].code);
}

HOT void
interpreter_collect(struct script *script, struct heap_view *view,
                    uint64_t pointer, const ucontext_t *context)
{
    uint64_t pc = arch_register(context, ARCH_PC);
    bool is_python = python_runtime_is_there() &&
                     python_runtime_collect(script, view, pointer, pc);
    if (script->count == 0 && php_is_there() &&
        php_collect(script, view, context)) {
        script->runtime = INTERPRETER_PHP;
        script->state = 0;
    } else if (!is_python) {
        return;
    }
    script->texts = view->window;
    script->texts_used = 0;
    script->context = context;
    read_functions(script);
    script->is_open = script->state != 0;
}

/* A frame of the loop without a function is met before the innermost one with a
 * function, or its record is still there. */
HOT void
interpreter_meet(struct script *script, const struct script_native *native)
{
    struct reading reading = {0};
    struct script_frame found;
    bool is_here = script->state != 0;
    bool has_border =
        script->border >= native->sp && script->border < native->cfa;
    const struct python *python = python_runtime_at(script->runtime);
    if (has_border)
        python_loop_learn(python, script, native);
    else if (!script_is_in_loop(script, native->pc))
        return;
    else if (python_loop_find(python, script, native, &found) &&
             (!is_here || read_function(script, &found, &reading)))
        script_insert(script, &found, native->depth);
    if (has_border || script->is_counted || !is_here)
        script->is_open =
            is_here && script_empties_from(script, native->cfa) != 0;
}

void
interpreter_leave(struct script *script)
{
    struct reading reading = {0};
    const struct python *python = python_runtime_at(script->runtime);
    if (script->is_open && (!python_loop_spare(python, script) ||
                            !read_function(script, &script->spare, &reading)))
        script->spare.code = 0;
    script->state = 0;
}

bool
interpreter_collect_from(struct script *script, uint8_t *window, pid_t tid)
{
    struct heap_view view;
    bool is_sure = !python_runtime_is_there() ||
                   python_runtime_collect_from(script, window, tid);
    if (script->count == 0 && php_is_there()) {
        heap_view_begin(&view, 0, 0, window, HEAP_VIEW_FILLS_FROM_OUTSIDE);
        if (php_collect(script, &view, NULL))
            script->runtime = INTERPRETER_PHP;
    }
    read_all_sums(script);
    return is_sure || script->count != 0;
}

bool
interpreter_is_lock(uint64_t address, struct script_lock *gil)
{
    return python_runtime_is_there() && python_runtime_is_lock(address, gil);
}

pid_t
interpreter_lock_owner(uint64_t address, uint64_t sp)
{
    return python_runtime_is_there() ? python_runtime_lock_owner(address, sp)
                                     : 0;
}

/* Whether PC is in the loop of interpreter RUNTIME. */
static bool
is_in_loop(uint32_t runtime, uint64_t pc)
{
    return is_php(runtime) ? php_is_in_loop(pc)
                           : python_runtime_is_in_loop(runtime, pc);
}

/* The number of native frames that run the frames in SCRIPT. */
static uint32_t
count_runs(const struct script *script)
{
    uint32_t runs = 0;
    for (uint32_t i = 0; i < script->count; i++)
        runs += script->frames[i].border != 0;
    return runs;
}

/* The Nth frame of the loop runs the frames up to the Nth border, counted from
 * the root, or from the leaf where the root is not known. A frame of the loop
 * that has just begun has no frame yet. PHP has no thread's name in its state:
 * a thread without a loop runs none of its functions. */
void
interpreter_place(struct script *script, const struct frame *frames,
                  uint32_t count, uint32_t gap, uint32_t elided, bool is_rooted)
{
    uint32_t loops = 0, skip = 0, runs = count_runs(script);
    if (!script->is_counted)
        return;
    for (uint32_t i = 0; i < count; i++)
        loops += is_in_loop(script->runtime, frame_lookup(frames[i]));
    if (loops == 0 && elided == 0 && is_php(script->runtime))
        script->count = 0;
    if (is_rooted && elided == 0 && loops > runs && !script->is_cut)
        skip = loops - runs;
    for (uint32_t i = 0; i < count && script->placed < script->count; i++) {
        if (!is_in_loop(script->runtime, frame_lookup(frames[i])))
            continue;
        if (skip > 0)
            skip--;
        else
            script_place_next(script, i + 1 + (i >= gap ? elided : 0));
    }
}

uint32_t
interpreter_sum(uint32_t runtime, uint64_t code)
{
    return is_php(runtime) ? php_sum(code)
                           : python_code_sum(python_runtime_at(runtime), code);
}

unsigned
interpreter_sums(uint32_t runtime, const uint64_t *codes, unsigned most,
                 uint32_t *sums)
{
    return is_php(runtime) ? php_sums(codes, most, sums)
                           : python_code_sums(python_runtime_at(runtime), codes,
                                              most, sums);
}

size_t
interpreter_copy(uint32_t runtime, uint64_t code, uint32_t sum, void *to,
                 size_t room)
{
    return is_php(runtime) ? php_copy(code, sum, to, room)
                           : python_code_copy(python_runtime_at(runtime), code,
                                              sum, to, room);
}

bool
interpreter_is_of_php(uint32_t runtime)
{
    return is_php(runtime);
}

uint32_t
interpreter_lines_form(uint32_t runtime)
{
    return python_runtime_at(runtime)->layout.lines;
}

bool
interpreter_name(uint32_t runtime, uint64_t code, char *text)
{
    return is_php(runtime) ? php_name(code, text)
                           : python_runtime_name(runtime, code, text);
}
