/* SPDX-License-Identifier: MIT */
/*
 * name_text.h -- short names of Rust and D functions, made from a demangler's
 * text. Report side.
 */
#ifndef SYMBOL_NAME_TEXT_H
#define SYMBOL_NAME_TEXT_H

/* Shorten NAME of a Rust function in place. Each list of generic arguments
 * longer than NAME_ARGUMENTS_MOST becomes "<...>". The types in "<T as Trait>"
 * and "<impl Trait for T>" stay, because they tell which function it is. */
void name_text_shorten_rust(char *name);

/* Shorten NAME of a D function in place. Its parameters and what follows them
 * are removed. A long list of template arguments becomes "!(...)". */
void name_text_shorten_d(char *name);

#endif
