/* SPDX-License-Identifier: MIT */
/*
 * name_tree.h -- short names of C++ functions, made from the tree that
 * libiberty's demangler builds, not from text. Report side.
 */
#ifndef SYMBOL_NAME_TREE_H
#define SYMBOL_NAME_TREE_H

/*
 * The function that MANGLED ("_Z...", Itanium C++ ABI, section 5.1) names,
 * without parameters, return type and qualifiers of "this", without arguments
 * of the standard library's templates that are its defaults; a list of template
 * arguments longer than NAME_ARGUMENTS_MOST is "<...>". To be freed; NULL if
 * MANGLED is no such name, if it stands for too much, or if memory is short.
 */
char *name_tree_short(const char *mangled);

/* The longest list of template arguments that a short name shows, in bytes. */
enum { NAME_ARGUMENTS_MOST = 32 };

#endif
