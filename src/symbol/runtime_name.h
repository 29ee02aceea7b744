/* SPDX-License-Identifier: MIT */
/*
 * runtime_name.h -- the names that runtimes give to their code in perf maps and
 * jitdumps. Each packs function, file and line into one name in its own way:
 *
 *   JS:*leaf /tmp/t.js:1:14               V8: leaf, /tmp/t.js, 1
 *   LazyCompile:~leaf /tmp/t.js:1:14      V8 until 9.6: the same
 *   JS:^ /tmp/t.js:7:9                    V8: (anonymous t.js:7:9), ...
 *   py::Outer.leaf:/tmp/t.py              CPython: t.Outer.leaf, /tmp/t.py
 *   TRACE_7::t.lua:12                     LuaJIT: TRACE_7::t.lua:12, t.lua, 12
 *   Lcom/foo/Bar;::baz                    perf-map-agent: com.foo.Bar.baz
 *   long T.work(long)                     the JVM: as it is
 *   Builtin:ArrayMap, Interpreter         code of the runtime: as it is
 *
 * V8's sign before the name says how far the function was compiled: ~ not, ^
 * and + fast, * in full. One function may have several such codes; they are
 * shown as one function. Report side only.
 */
#ifndef SYMBOL_RUNTIME_NAME_H
#define SYMBOL_RUNTIME_NAME_H

#include <stdbool.h>

#include "util/intern.h"
#include "symbolizer.h"

/* Limit of the bytes of a name; the rest of a longer one is cut off. */
#define RUNTIME_NAME_MOST 4096

/* Fill FRAME from NAME, with strings in STORE. LINKAGE becomes NAME itself. A
 * NAME of no known form becomes the function. The line in a name is where the
 * function begins, so LINE becomes 0. Returns 0, or -1 if memory is short. */
int runtime_name_split(struct intern *store, const char *name,
                       struct symbol_frame *frame);

/* Whether NAME is that of a function of JavaScript as V8 writes it. */
bool runtime_name_is_v8(const char *name);

#endif
