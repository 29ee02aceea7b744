/* SPDX-License-Identifier: MIT */
/*
 * name_tree.h -- short names of C++ functions, made from the tree of
 * libiberty's demangler and not from text. Report side.
 */
#ifndef SYMBOL_NAME_TREE_H
#define SYMBOL_NAME_TREE_H

/*
 * Returns the short name of the function that MANGLED ("_Z...", Itanium C++
 * ABI, section 5.1) names. The caller frees it. It lacks parameters, the return
 * type and qualifiers of "this". Default arguments of the standard library's
 * templates are left out. A list of template arguments longer than
 * NAME_ARGUMENTS_MOST becomes "<...>". Returns NULL if MANGLED is not such a
 * name, if it stands for too much text, or if memory is short.
 */
char *name_tree_short(const char *mangled);

/* The longest list of template arguments that a short name shows, in bytes. */
enum { NAME_ARGUMENTS_MOST = 32 };

#endif
