/* SPDX-License-Identifier: MIT */
/*
 * folding.c -- see folding.h. The loop is known by its place: it is the native
 * frame right below a function of the interpreter (script.h of unwind/). The
 * functions that enter it are known by their names. They count only between the
 * loop and its caller, or where they serve a function of the interpreter. A
 * frame of the interpreter's own file without a name counts as one of them,
 * because it shows nothing.
 */
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "gpu_wait.h"
#include "naming.h"
#include "folding.h"

/* By name, for bsearch(3). */
static const char *const glue[] = {
    "PyEval_EvalCode",
    "PyEval_EvalCodeEx",
    "PyEval_EvalFrame",
    "PyEval_EvalFrameEx",
    "PyObject_Call",
    "PyObject_CallFunction",
    "PyObject_CallFunctionObjArgs",
    "PyObject_CallMethod",
    "PyObject_CallMethodObjArgs",
    "PyObject_CallNoArgs",
    "PyObject_CallObject",
    "PyObject_CallOneArg",
    "PyObject_Vectorcall",
    "PyObject_VectorcallDict",
    "PyObject_VectorcallMethod",
    "PyRun_AnyFileExFlags",
    "PyRun_FileExFlags",
    "PyRun_SimpleFileExFlags",
    "PyRun_SimpleStringFlags",
    "PyRun_StringFlags",
    "PyVectorcall_Call",
    "Py_BytesMain",
    "Py_Main",
    "Py_RunMain",
    "_PyEval_EvalCode",
    "_PyEval_EvalCodeWithName",
    "_PyEval_EvalFrame",
    "_PyEval_EvalFrameDefault",
    "_PyEval_Vector",
    "_PyFunction_FastCallDict",
    "_PyFunction_Vectorcall",
    "_PyObject_Call",
    "_PyObject_CallFunctionVa",
    "_PyObject_CallFunction_SizeT",
    "_PyObject_CallMethod",
    "_PyObject_CallMethodId",
    "_PyObject_CallMethodIdObjArgs",
    "_PyObject_CallNoArg",
    "_PyObject_CallNoArgs",
    "_PyObject_CallNoArgsTstate",
    "_PyObject_Call_Prepend",
    "_PyObject_FastCall",
    "_PyObject_FastCallDict",
    "_PyObject_FastCallDictTstate",
    "_PyObject_FastCallTstate",
    "_PyObject_Vectorcall",
    "_PyObject_VectorcallDictTstate",
    "_PyObject_VectorcallTstate",
    "_PyRun_AnyFileObject",
    "_PyRun_SimpleFile",
    "_PyRun_SimpleFileObject",
    "_PyRun_SimpleStringFlagsWithName",
    "_PyVectorcall_Call",
    "_Py_InitializeMain",
    "_call_user_function_impl",
    "call_function",
    "call_method",
    "call_user_function",
    "callmethod",
    "do_cli",
    "dtrace_execute_ex",
    "exec_code_in_module",
    "execute_ex",
    "function_code_fastcall",
    "gen_iternext",
    "gen_send",
    "gen_send_ex",
    "gen_send_ex2",
    "method_vectorcall",
    "object_vacall",
    "php_execute_script",
    "py_trampoline_evaluator",
    "pymain_main",
    "pymain_run_command",
    "pymain_run_file",
    "pymain_run_file_obj",
    "pymain_run_module",
    "pymain_run_python",
    "pymain_run_stdin",
    "pyrun_file",
    "pyrun_simple_file",
    "pyrun_string",
    "run_eval_code_obj",
    "run_mod",
    "vectorcall_method",
    "vectorcall_unbound",
    "zend_call_function",
    "zend_call_known_function",
    "zend_call_known_instance_method",
    "zend_call_method",
    "zend_execute",
    "zend_execute_scripts",
    "zend_fcall_info_call",
    "zend_generator_resume",
};

/* Functions of CPython's loop, and those that compilers make of it in 3.14. */
static const char loop_name[] = "_PyEval_EvalFrameDefault";
static const char tail_name[] = "_TAIL_CALL_";

/* What CPython calls the code that it makes for each function with -X perf.
 * That code only enters the loop for it (Python/perf_trampoline.c). */
static const char trampoline_name[] = "py::";

static int
compare_names(const void *key, const void *name)
{
    return strcmp(key, *(const char *const *)name);
}

/* Whether NAME is one of those above. Compilers put an ending after a copy of
 * a function (".constprop.0"). */
static bool
is_glue_name(const char *name)
{
    char plain[64];
    size_t length = strcspn(name, ".");
    if (length >= sizeof(plain))
        return false;
    memcpy(plain, name, length);
    plain[length] = '\0';
    return bsearch(plain, glue, sizeof(glue) / sizeof(*glue), sizeof(*glue),
                   compare_names) != NULL;
}

static bool
is_trampoline(const struct symbol_frame *frame)
{
    return strncmp(frame->linkage, trampoline_name,
                   sizeof(trampoline_name) - 1) == 0;
}

/* How many functions of SYMBOL enter the loop, from the innermost one on. */
static unsigned
count_glue(const struct symbol *symbol)
{
    unsigned count = 0;
    while (count < symbol->count &&
           (is_glue_name(symbol->frames[count].function) ||
            is_trampoline(&symbol->frames[count])))
        count++;
    return count;
}

/* Whether NODE has entered the loop for a function of the interpreter whose
 * file is MODULE. All functions that were inlined there must be such. */
static bool
is_glue(struct profile *profile, uint32_t node, uint32_t module)
{
    if (profile_is_script(profile, node) || profile_is_marker(profile, node))
        return false;
    const struct symbol *symbol = naming_symbol(profile, node);
    if (!symbol->named)
        return profile->nodes[node].module == module && module != 0;
    return count_glue(symbol) == symbol->count;
}

/* Whether NODE is a function of the interpreter whose native frames, which are
 * below it, are known. */
static bool
is_placed(const struct profile *profile, uint32_t node)
{
    return profile_is_script(profile, node) &&
           (profile->nodes[node].flags & NODE_UNPLACED) == 0;
}

/* Whether NODE is a frame of the loop. */
static bool
is_loop(const struct profile *profile, uint32_t node)
{
    return !profile_is_script(profile, node) &&
           !profile_is_marker(profile, node) &&
           is_placed(profile, profile->nodes[node].parent);
}

uint32_t
folding_shown(const struct profile *profile, uint32_t node)
{
    while (node != 0 && profile->nodes[node].is_folded)
        node = profile->nodes[node].parent;
    return node;
}

/* Note that MODULE has an interpreter's loop. */
static void
note_interpreter(struct profile *profile, uint32_t module)
{
    struct profile_module *at = &profile->modules[module];
    if (module == 0 || at->is_interpreter)
        return;
    at->is_interpreter = true;
    if (!symbolizer_collector(profile->symbols, at->symbols, &at->collector))
        at->collector = (struct collector){0, 0};
}

/* Whether NODE, which is no function of an interpreter, collects the garbage of
 * one. */
static bool
is_collector(struct profile *profile, uint32_t node)
{
    const struct profile_module *module =
        &profile->modules[profile->nodes[node].module];
    if (!module->is_interpreter)
        return false;
    uint64_t offset = profile_offset(profile, node);
    if (offset >= module->collector.low && offset < module->collector.high)
        return true;
    const struct symbol *symbol = naming_symbol(profile, node);
    if (symbol->is_collector)
        return true;
    for (unsigned i = 0; i < symbol->count; i++)
        if (collector_is_name(symbol->frames[i].function))
            return true;
    return false;
}

/* Make the first function that is no glue the caller of the outermost function
 * that the loop at NODE runs. */
static void
skip_glue(struct profile *profile, uint32_t node)
{
    uint32_t module = profile->nodes[node].module;
    uint32_t outermost = profile->nodes[node].parent;
    while (profile_is_script(profile, profile->nodes[outermost].parent))
        outermost = profile->nodes[outermost].parent;
    struct profile_node *at = &profile->nodes[outermost];
    if (at->is_settled)
        return;
    at->is_settled = true;
    at->parent = folding_shown(profile, at->parent);
    while (at->parent != 0 && is_glue(profile, at->parent, module))
        at->parent = folding_shown(profile, profile->nodes[at->parent].parent);
}

/* NODE is code of the interpreter that serves one of its functions. Leave it
 * out if it enters the loop or has no name: it is a part of its caller. Code of
 * another file keeps its callees. Functions that were inlined may enter the
 * loop, too. */
static void
fold_part(struct profile *profile, uint32_t node)
{
    struct profile_node *at = &profile->nodes[node];
    if (!is_glue(profile, node, at->module)) {
        unsigned count = count_glue(naming_symbol(profile, node));
        at->entries = count < UINT8_MAX ? (uint8_t)count : UINT8_MAX;
    } else if (is_placed(profile, at->parent) ||
               profile->nodes[at->parent].module == at->module) {
        at->is_folded = true;
    }
}

/* Whether NODE, which is_loop does not know, is in CPython's loop nevertheless:
 * its function is not on the thread's stack of functions. Another greenlet has
 * it, or the loop has just begun. The linker's stub before the loop
 * ("NAME@plt") is not in the loop. */
static bool
is_other_loop(struct profile *profile, uint32_t node)
{
    const struct symbol *symbol = naming_symbol(profile, node);
    const char *name = symbol->frames[symbol->count - 1].function;
    return symbol->named && strchr(name, '@') == NULL &&
           (strncmp(name, loop_name, sizeof(loop_name) - 1) == 0 ||
            strncmp(name, tail_name, sizeof(tail_name) - 1) == 0);
}

/* Whether NODE is the code that enters the loop for one function. */
static bool
is_entry(struct profile *profile, uint32_t node)
{
    return node != 0 && !profile_is_script(profile, node) &&
           !profile_is_marker(profile, node) &&
           is_trampoline(&naming_symbol(profile, node)->frames[0]);
}

/* Leave out NODE if it is native and a function of the interpreter calls it. If
 * it is such a function, let the next outer one call it. */
static void
fold_native(struct profile *profile, uint32_t node)
{
    struct profile_node *at = &profile->nodes[node];
    if (!profile_is_script(profile, node)) {
        at->is_folded = profile_is_script(profile, at->parent);
        return;
    }
    while (at->parent != 0 && !profile_is_script(profile, at->parent))
        at->parent = folding_shown(profile, profile->nodes[at->parent].parent);
}

/* Leave out NODE if it is the loop, or a part of its caller. Mark it if it is
 * not shown as its function. */
static void
fold_interpreter(struct profile *profile, uint32_t node)
{
    struct profile_node *at = &profile->nodes[node];
    if (is_loop(profile, node)) {
        at->is_folded = true;
        note_interpreter(profile, at->module);
        skip_glue(profile, node);
        return;
    }
    at->parent = folding_shown(profile, at->parent);
    if (profile_is_script(profile, node) || at->module == 0 ||
        profile_is_marker(profile, node))
        return;
    if (is_collector(profile, node))
        at->mark = NAMING_COLLECTOR;
    else if (is_other_loop(profile, node) && is_entry(profile, at->parent)) {
        /* The code has the function's name, and stands for it. */
        at->is_folded = true;
        skip_glue(profile, node);
    } else if (is_other_loop(profile, node))
        at->mark = NAMING_UNKNOWN_SCRIPT;
    else if (profile->modules[at->module].is_interpreter &&
             profile->nodes[at->parent].is_below && !is_entry(profile, node))
        fold_part(profile, node);
}

static void
fold_node(struct profile *profile, uint32_t node)
{
    struct profile_node *at = &profile->nodes[node];
    at->caller = at->parent;
    at->is_below =
        is_placed(profile, node) || profile->nodes[at->parent].is_below;
    /* Its native functions show whether it waits for a GPU. */
    if (profile->shows_script)
        (void)gpu_wait_is_at(profile, node);
    if (at->is_settled)
        at->parent = folding_shown(profile, at->parent);
    else
        fold_interpreter(profile, node);
    if (profile->shows_script)
        fold_native(profile, node);
}

void
folding_extend(struct profile *profile)
{
    if (!profile->has_scripts ||
        (profile->shows_native && !profile->shows_script))
        return;
    for (uint32_t i = profile->folded_nodes; i < profile->node_count; i++)
        fold_node(profile, i);
    profile->folded_nodes = profile->node_count;
}

void
folding_apply(struct profile *profile)
{
    folding_extend(profile);
    for (uint32_t i = 0; i < profile->sample_count; i++) {
        struct profile_sample *sample = &profile->samples[i];
        sample->native_node = sample->node;
        sample->is_gpu_wait |=
            profile->shows_script && gpu_wait_is_at(profile, sample->node);
        sample->node = folding_shown(profile, sample->node);
    }
}
