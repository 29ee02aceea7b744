/* SPDX-License-Identifier: MIT */
/*
 * name_tree.c -- see name_tree.h. Report side.
 *
 * Text cannot be shortened safely: "<" may be an operator, a parenthesis may
 * open "(anonymous namespace)", a return type may be a pointer to a function.
 * In the tree each of these is a component of its own. The tree is changed in
 * place, then libiberty prints it. For example
 *
 *   void f<int>(int)::{lambda(char)#1}::operator()(char) const
 *   std::map<int, long, std::less<int>, std::allocator<...> >::find(int const&)
 *
 * become f<int>::{lambda#1}::operator() and std::map<int, long>::find.
 *
 * A part that was named before is shared by all its places in the tree
 * (substitutions, ABI section 5.1.10), so a change in one is a change in all.
 * Shared parts make a short name stand for a text of any length: STEPS_MOST
 * limits the visits, as lists are shortened from the inside.
 */
#include <libiberty/demangle.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "name_tree.h"

/* Visits of components for one name; real names need some hundred. */
enum { STEPS_MOST = 20000 };

/* Lambdas that get a shorter text in one name; more keep their parameters. */
enum { LAMBDAS_MOST = 16 };

enum { STYLE = DMGL_PARAMS | DMGL_ANSI };

typedef struct demangle_component component;

/* What is known of one name. The texts of its lambdas live until it is printed,
 * as the tree points to them. */
struct shortening {
    unsigned steps, lambdas;
    char texts[LAMBDAS_MOST][32];
};

/* Whether TYPE stands for what follows a function's parameters: "const", "&",
 * "noexcept". */
static bool
is_function_qualifier(enum demangle_component_type type)
{
    switch (type) {
    case DEMANGLE_COMPONENT_RESTRICT_THIS:
    case DEMANGLE_COMPONENT_VOLATILE_THIS:
    case DEMANGLE_COMPONENT_CONST_THIS:
    case DEMANGLE_COMPONENT_REFERENCE_THIS:
    case DEMANGLE_COMPONENT_RVALUE_REFERENCE_THIS:
    case DEMANGLE_COMPONENT_TRANSACTION_SAFE:
    case DEMANGLE_COMPONENT_NOEXCEPT:
    case DEMANGLE_COMPONENT_THROW_SPEC:
        return (true);
    default:
        return (false);
    }
}

/* What is a function's name and a note about it: "virtual thunk to f". */
static bool
is_note(enum demangle_component_type type)
{
    switch (type) {
    case DEMANGLE_COMPONENT_THUNK:
    case DEMANGLE_COMPONENT_VIRTUAL_THUNK:
    case DEMANGLE_COMPONENT_COVARIANT_THUNK:
    case DEMANGLE_COMPONENT_GUARD:
    case DEMANGLE_COMPONENT_TLS_INIT:
    case DEMANGLE_COMPONENT_TLS_WRAPPER:
    case DEMANGLE_COMPONENT_REFTEMP:
    case DEMANGLE_COMPONENT_HIDDEN_ALIAS:
    case DEMANGLE_COMPONENT_TRANSACTION_CLONE:
    case DEMANGLE_COMPONENT_NONTRANSACTION_CLONE:
    case DEMANGLE_COMPONENT_GLOBAL_CONSTRUCTORS:
    case DEMANGLE_COMPONENT_GLOBAL_DESTRUCTORS:
        return (true);
    default:
        return (false);
    }
}

/* What FUNCTION is called, without its type. */
static component *
name_of(component *function)
{
    while (function && (function->type == DEMANGLE_COMPONENT_TYPED_NAME ||
                        is_function_qualifier(function->type)))
        function = function->u.s_binary.left;
    if (function && is_note(function->type))
        function->u.s_binary.left = name_of(function->u.s_binary.left);
    return (function);
}

/* What PART prints, to be freed; NULL if it cannot be printed alone. */
static char *
print(component *part)
{
    size_t size;

    return (cplus_demangle_print(STYLE, part, 64, &size));
}

/* Whether PART is the namespace "std" or something in it called NAME (NULL:
 * anything); libiberty has several components for that. */
static bool
is_standard(const component *part, const char *name)
{
    const component *last = part, *space = part;
    size_t length = name ? strlen(name) : 0;

    if (part->type == DEMANGLE_COMPONENT_SUB_STD)
        return (!name ||
                (part->u.s_string.len == (int)length + 5 &&
                 memcmp(part->u.s_string.string + 5, name, length) == 0));
    if (part->type == DEMANGLE_COMPONENT_QUAL_NAME) {
        last = part->u.s_binary.right;
        space = part->u.s_binary.left;
        while (space && space->type == DEMANGLE_COMPONENT_QUAL_NAME)
            space = space->u.s_binary.left;
    }
    if (!last || !space || last == space ||
        (space->type != DEMANGLE_COMPONENT_SUB_STD &&
         (space->type != DEMANGLE_COMPONENT_NAME || space->u.s_name.len != 3 ||
          memcmp(space->u.s_name.s, "std", 3))))
        return (false);
    return (!name || (last->type == DEMANGLE_COMPONENT_NAME &&
                      last->u.s_name.len == (int)length &&
                      memcmp(last->u.s_name.s, name, length) == 0));
}

/* Whether ARGUMENT is one that the standard library's containers, strings and
 * pointers have by default. */
static bool
is_default(const component *argument)
{
    static const char *const names[] = {"allocator",      "less",
                                        "char_traits",    "hash",
                                        "default_delete", "equal_to"};

    if (!argument || argument->type != DEMANGLE_COMPONENT_TEMPLATE ||
        !argument->u.s_binary.left)
        return (false);
    for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++) {
        if (is_standard(argument->u.s_binary.left, names[i]))
            return (true);
    }
    return (false);
}

/* Cut the defaults off the end of LIST. The first argument is none. */
static void
drop_defaults(component *list)
{
    component *last = list;

    for (component *item = list; item; item = item->u.s_binary.right) {
        if (item->type != DEMANGLE_COMPONENT_TEMPLATE_ARGLIST)
            return;
        if (!is_default(item->u.s_binary.left))
            last = item;
    }
    last->u.s_binary.right = NULL;
}

/* Shorten the arguments of TEMPLATE, in which all is short. A string of the
 * standard library gets the name that everybody gives it. */
static void
shorten_arguments(component *template)
{
    component *list = template->u.s_binary.right;
    component *name = template->u.s_binary.left;
    char *text;

    if (!list || !name || list->type != DEMANGLE_COMPONENT_TEMPLATE_ARGLIST)
        return;
    if (is_standard(name, NULL))
        drop_defaults(list);
    text = print(list);
    if (text && strcmp(text, "char") == 0 && is_standard(name, "basic_string"))
        cplus_demangle_fill_name(template, "std::string", 11);
    else if (!text || strlen(text) > NAME_ARGUMENTS_MOST)
        cplus_demangle_fill_name(list, "...", 3);
    free(text);
}

/* "{lambda(int)#1}" as "{lambda#1}". */
static void
shorten_lambda(struct shortening *shortening, component *lambda)
{
    char *text;

    if (shortening->lambdas == LAMBDAS_MOST)
        return;
    text = shortening->texts[shortening->lambdas++];
    snprintf(text, sizeof(shortening->texts[0]), "{lambda#%u}",
             (unsigned)lambda->u.s_unary_num.num + 1);
    cplus_demangle_fill_name(lambda, text, (int)strlen(text));
}

/* Shorten what is in PART (may be NULL), from the inside. Components that are
 * not listed have nothing to shorten, or are expressions. */
static void
shorten(struct shortening *shortening, component *part)
{
    if (!part || shortening->steps++ >= STEPS_MOST)
        return;
    switch (part->type) {
    case DEMANGLE_COMPONENT_LOCAL_NAME:
        part->u.s_binary.left = name_of(part->u.s_binary.left);
        part->u.s_binary.right = name_of(part->u.s_binary.right);
        break;
    case DEMANGLE_COMPONENT_DEFAULT_ARG:
        shorten(shortening, part->u.s_unary_num.sub);
        return;
    case DEMANGLE_COMPONENT_LAMBDA:
        shorten_lambda(shortening, part);
        return;
    case DEMANGLE_COMPONENT_QUAL_NAME:
    case DEMANGLE_COMPONENT_TEMPLATE:
    case DEMANGLE_COMPONENT_TEMPLATE_ARGLIST:
    case DEMANGLE_COMPONENT_FUNCTION_TYPE:
    case DEMANGLE_COMPONENT_ARGLIST:
    case DEMANGLE_COMPONENT_ARRAY_TYPE:
    case DEMANGLE_COMPONENT_PTRMEM_TYPE:
    case DEMANGLE_COMPONENT_CONST:
    case DEMANGLE_COMPONENT_VOLATILE:
    case DEMANGLE_COMPONENT_POINTER:
    case DEMANGLE_COMPONENT_REFERENCE:
    case DEMANGLE_COMPONENT_RVALUE_REFERENCE:
    case DEMANGLE_COMPONENT_PACK_EXPANSION:
    case DEMANGLE_COMPONENT_CONVERSION:
    case DEMANGLE_COMPONENT_TAGGED_NAME:
        break;
    default:
        if (!is_note(part->type))
            return;
    }
    shorten(shortening, part->u.s_binary.left);
    shorten(shortening, part->u.s_binary.right);
    if (part->type == DEMANGLE_COMPONENT_TEMPLATE)
        shorten_arguments(part);
}

/* The length of the clone suffix at TEXT, as libiberty reads them: ".cold",
 * ".part.0", ".0"; 0 if there is none. */
static size_t
clone_length(const char *text)
{
    size_t length = 1;

    if (text[0] != '.')
        return (0);
    if ((text[1] >= 'a' && text[1] <= 'z') || text[1] == '_')
        length += strcspn(text + 1, ".");
    while (text[length] == '.' && text[length + 1] >= '0' &&
           text[length + 1] <= '9')
        length += 1 + strspn(text + length + 1, "0123456789");
    return (length > 1 ? length : strlen(text));
}

/* NAME (freed) with what CLONES says, ".part.0.cold"; NULL if memory is short.
 */
static char *
add_clones(char *name, const char *clones)
{
    size_t length;
    char *longer;

    for (; name && *clones != '\0'; clones += length) {
        length = clone_length(clones);
        if (asprintf(&longer, "%s [clone %.*s]", name, (int)length, clones) < 0)
            longer = NULL;
        free(name);
        name = longer;
    }
    return (name);
}

/* What TREE is called for short; NULL if it cannot be printed, or not in any
 * time, as *IS_ENDLESS then says. */
static char *
print_short(component *tree, bool *is_endless)
{
    struct shortening shortening = {0};

    tree = name_of(tree);
    shorten(&shortening, tree);
    *is_endless = shortening.steps >= STEPS_MOST;
    return (tree && !*is_endless ? print(tree) : NULL);
}

/* The tree of MANGLED, with *MEMORY to be freed, NULL if there is none. Where
 * the function's type is written in a way that only libiberty's printer tries
 * again ("sr" without a "T_"), the tree is of the name alone: libiberty stops
 * in front of the type without DMGL_PARAMS, but also in front of nonsense. */
static component *
make_tree(const char *mangled, void **memory)
{
    component *tree = cplus_demangle_v3_components(mangled, STYLE, memory);
    char *whole;

    if (tree)
        return (tree);
    whole = cplus_demangle_v3(mangled, STYLE);
    if (whole)
        tree = cplus_demangle_v3_components(mangled, DMGL_ANSI, memory);
    free(whole);
    return (tree);
}

/* No tree is made of a local name in a function with such a type, and it cannot
 * be printed where a part needs one that was cut: then the text is used. */
char *
name_tree_short(const char *mangled)
{
    size_t length = strcspn(mangled, ".");
    char *plain = strndup(mangled, length);
    char *text = NULL, *whole;
    bool is_endless = false;
    component *tree;
    void *memory;

    if (!plain)
        return (NULL);
    tree = make_tree(plain, &memory);
    if (tree) {
        text = print_short(tree, &is_endless);
        free(memory);
    }
    if (!text && !is_endless) {
        whole = cplus_demangle_v3(plain, STYLE);
        if (whole)
            text = cplus_demangle_v3(plain, DMGL_ANSI);
        free(whole);
    }
    free(plain);
    return (add_clones(text, mangled + length));
}
