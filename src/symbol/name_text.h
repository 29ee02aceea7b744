/* SPDX-License-Identifier: MIT */
/*
 * name_text.h -- short names of Rust and D functions, made from the text that a
 * demangler wrote. Report side.
 */
#ifndef SYMBOL_NAME_TEXT_H
#define SYMBOL_NAME_TEXT_H

/* NAME of a Rust function, in place, where each list of generic arguments
 * longer than NAME_ARGUMENTS_MOST is "<...>". The types in "<T as Trait>" and
 * "<impl Trait for T>" stay: they tell which function it is. */
void name_text_shorten_rust(char *name);

/* NAME of a D function, in place, without parameters and what follows them,
 * with a long list of template arguments as "!(...)". */
void name_text_shorten_d(char *name);

#endif
