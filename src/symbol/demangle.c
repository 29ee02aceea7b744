/* SPDX-License-Identifier: MIT */
/*
 * demangle.c -- libiberty's demanglers in one function. Report side.
 *
 * Only names that can be mangled reach a demangler. "main" would come back
 * unchanged, and a C function called "_Delay" must not be taken for a D name. A
 * compiler's suffix for a clone (".part.0", ".cold") stays visible. C++ names
 * get " [clone .cold]"; C names keep the suffix as it is. Rust's hash is never
 * shown.
 *
 * In Rust's and D's names every bracket is a real bracket, except the ">" of
 * "->". D has "<" only in texts. Rust's demangler writes no parameters. The
 * short text is never longer than the name, so it is made in place.
 *
 * The text of a C++ name cannot be shortened safely. A "<" may be an operator,
 * a parenthesis may open "(anonymous namespace)", and a return type may be a
 * pointer to a function. In the tree of libiberty's demangler each of these is
 * a separate component. The tree is changed in place, then libiberty prints it.
 * For example
 *
 *   void f<int>(int)::{lambda(char)#1}::operator()(char) const
 *   std::map<int, long, std::less<int>, std::allocator<...> >::find(int const&)
 *
 * become f<int>::{lambda#1}::operator() and std::map<int, long>::find.
 *
 * A part that the name repeats is one component with several places in the tree
 * (substitutions, Itanium C++ ABI, section 5.1.10). A change in one place is a
 * change in all. With shared parts, a short mangled name can stand for a text
 * of any length. So STEPS_MOST limits the visits; lists are shortened from the
 * inside.
 */
#include <libiberty/demangle.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "demangle.h"

/* Longest name that is demangled, in bytes. A longer name is shown as it is: a
 * mangled name of a few KiB can stand for a text of any length. */
#define LONGEST_NAME 8192

#define STYLE (DMGL_PARAMS | DMGL_ANSI)

/* The longest list of template arguments that a short name shows, in bytes. */
enum { ARGUMENTS_MOST = 32 };

/* Limit of the visits of components for one name. Real names need some
 * hundred. */
enum { STEPS_MOST = 20000 };

/* Limit of the lambdas of one name that get a shorter text. Further lambdas
 * keep their parameters. */
enum { LAMBDAS_MOST = 16 };

static bool
is_word(char byte)
{
    return (byte >= 'a' && byte <= 'z') || (byte >= 'A' && byte <= 'Z') ||
           (byte >= '0' && byte <= '9') || byte == '_' || (byte & 0x80) != 0;
}

/* Returns the place after the bracket that closes the one at OPEN, or the end
 * if none does. OPENING and CLOSING list the brackets. */
static char *
behind_bracket(char *open, const char *opening, const char *closing)
{
    unsigned depth = 0;
    char *at;
    for (at = open; *at != '\0'; at++) {
        if (strchr(opening, *at) != NULL)
            depth++;
        else if (*at == '>' && at > open && at[-1] == '-')
            continue;
        else if (strchr(closing, *at) != NULL && --depth == 0)
            return at + 1;
    }
    return at;
}

/* Whether the "<" at OPEN in NAME begins arguments. It then follows a name or
 * "::", and "impl" does not follow it. */
static bool
begins_arguments(const char *name, const char *open)
{
    return open > name && (is_word(open[-1]) || open[-1] == ':') &&
           strncmp(open, "<impl ", 6) != 0;
}

/* Shorten NAME of a Rust function in place. Each list of generic arguments
 * longer than ARGUMENTS_MOST becomes "<...>". The types in "<T as Trait>" and
 * "<impl Trait for T>" stay, because they identify the function. Inner lists
 * are shortened first, so that outer ones may stay. One pass from the end finds
 * them, because a list begins after the one around it. */
static void
shorten_rust(char *name)
{
    for (char *at = name + strlen(name); at > name; at--) {
        char *open = at - 1;
        if (*open != '<' || !begins_arguments(name, open))
            continue;
        char *end = behind_bracket(open, "<([{", ">)]}");
        if (end[-1] != '>' || end - open - 2 <= ARGUMENTS_MOST)
            continue;
        memcpy(open + 1, "...", 3);
        memmove(open + 4, end - 1, strlen(end - 1) + 1);
    }
}

/* Write the character CODE at TO, in UTF-8. Returns the end of the written
 * text. */
static char *
put_utf8(char *to, unsigned long code)
{
    unsigned more = code < 0x80 ? 0 : code < 0x800 ? 1 : code < 0x10000 ? 2 : 3;
    static const unsigned char first[] = {0, 0xc0, 0xe0, 0xf0};
    *to++ = (char)(first[more] | code >> 6 * more);
    while (more-- > 0)
        *to++ = (char)(0x80 | (code >> 6 * more & 0x3f));
    return to;
}

/* Write the character that the LENGTH bytes at NAME, "LT" or "ufc", stand for
 * in a Rust name. Returns the end of the text written at TO, or NULL if they
 * stand for none. */
static char *
put_rust_escape(char *to, const char *name, size_t length)
{
    static const struct {
        char key[3];
        char byte;
    } escapes[] = {{"SP", '@'}, {"BP", '*'}, {"RF", '&'}, {"LT", '<'},
                   {"GT", '>'}, {"LP", '('}, {"RP", ')'}, {"C", ','}};
    for (size_t i = 0; i < sizeof(escapes) / sizeof(escapes[0]); i++)
        if (strlen(escapes[i].key) == length &&
            memcmp(escapes[i].key, name, length) == 0) {
            *to = escapes[i].byte;
            return to + 1;
        }
    char *end;
    unsigned long code = *name == 'u' ? strtoul(name + 1, &end, 16) : 0;
    if (code < ' ' || code > 0x10ffff || end != name + length)
        return NULL;
    return put_utf8(to, code);
}

/* Write the part of a Rust name at NAME, of LENGTH bytes. Returns the end of
 * the text written at TO, or NULL if NAME is no such part. */
static char *
put_rust_part(char *to, const char *name, size_t length)
{
    const char *last = name + length;
    name += length > 1 && name[0] == '_' && name[1] == '$';
    while (to != NULL && name < last) {
        const char *end = memchr(name + 1, '$', (size_t)(last - name - 1));
        if (*name == '$' && end == NULL)
            return NULL;
        if (*name == '$') {
            to = put_rust_escape(to, name + 1, (size_t)(end - name - 1));
            name = end + 1;
        } else if (*name == '.' && name + 1 < last && name[1] == '.') {
            to = stpcpy(to, "::");
            name += 2;
        } else {
            *to++ = *name++;
        }
    }
    return to;
}

/* The text of an older Rust name with escapes: "_ZN" PARTS "17h" HASH "E", with
 * "$ufc$" for U+00FC. libiberty leaves those of letters beyond ASCII. The
 * caller frees it. NULL if NAME is none. */
static char *
demangle_old_rust(const char *name)
{
    char *text = strncmp(name, "_ZN", 3) == 0 && strstr(name, "$u") != NULL
                     ? malloc(strlen(name) + 1)
                     : NULL;
    char *to = text;
    name += 3;
    while (to != NULL) {
        char *part;
        size_t length = strtoul(name, &part, 10);
        if (length == 0 || length >= strnlen(part, length + 1))
            break;
        name = part + length;
        if (length == 17 && *part == 'h' && *name == 'E') {
            *to = '\0';
            return text;
        }
        to = put_rust_part(to > text ? stpcpy(to, "::") : to, part, length);
    }
    free(text);
    return NULL;
}

/* Shorten NAME of a D function in place. Its parameters and what follows them
 * are removed: they are in parentheses that do not follow "!". A long list of
 * template arguments becomes "!(...)". */
static void
shorten_d(char *name)
{
    char *to = name;
    for (char *from = name, *end; *from != '\0'; from = end) {
        bool is_list = *from == '(';
        bool has_mark = from > name && from[-1] == '!';
        end = is_list ? behind_bracket(from, "([{", ")]}") : from + 1;
        if (is_list && !has_mark) {
            /* Only a member of the function can follow its parameters. */
            if (*end != '.' && *end != '\0')
                end += strlen(end);
            continue;
        }
        if (is_list && end - from - 2 > ARGUMENTS_MOST) {
            memcpy(to, "(...)", 5);
            to += 5;
            continue;
        }
        memmove(to, from, (size_t)(end - from));
        to += end - from;
    }
    *to = '\0';
}

typedef struct demangle_component component;

/* The work on one name. The texts of its lambdas must live until the name is
 * printed, because the tree points to them. */
struct shortening {
    unsigned steps, lambdas;
    char texts[LAMBDAS_MOST][32];
};

/* Whether TYPE is a qualifier after a function's parameters: "const", "&",
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
        return true;
    default:
        return false;
    }
}

/* Whether TYPE is a note about a function, with its name: "virtual thunk to f".
 */
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
        return true;
    default:
        return false;
    }
}

/* The name of FUNCTION, without its type. */
static component *
name_of(component *function)
{
    while (function != NULL &&
           (function->type == DEMANGLE_COMPONENT_TYPED_NAME ||
            is_function_qualifier(function->type)))
        function = function->u.s_binary.left;
    if (function != NULL && is_note(function->type))
        function->u.s_binary.left = name_of(function->u.s_binary.left);
    return function;
}

/* The text of PART; the caller frees it. NULL if PART cannot be printed alone.
 */
static char *
print_part(component *part)
{
    size_t size;
    return cplus_demangle_print(STYLE, part, 64, &size);
}

/* Whether PART is something in the namespace "std" called NAME (NULL: anything,
 * or the namespace itself). libiberty has several components for that. */
static bool
is_standard(const component *part, const char *name)
{
    const component *last = part, *space = part;
    size_t length = name != NULL ? strlen(name) : 0;
    if (part->type == DEMANGLE_COMPONENT_SUB_STD)
        return name == NULL ||
               (part->u.s_string.len == (int)length + 5 &&
                memcmp(part->u.s_string.string + 5, name, length) == 0);
    if (part->type == DEMANGLE_COMPONENT_QUAL_NAME) {
        last = part->u.s_binary.right;
        space = part->u.s_binary.left;
        while (space != NULL && space->type == DEMANGLE_COMPONENT_QUAL_NAME)
            space = space->u.s_binary.left;
    }
    if (last == NULL || space == NULL || last == space ||
        (space->type != DEMANGLE_COMPONENT_SUB_STD &&
         (space->type != DEMANGLE_COMPONENT_NAME || space->u.s_name.len != 3 ||
          memcmp(space->u.s_name.s, "std", 3) != 0)))
        return false;
    return name == NULL || (last->type == DEMANGLE_COMPONENT_NAME &&
                            last->u.s_name.len == (int)length &&
                            memcmp(last->u.s_name.s, name, length) == 0);
}

/* Whether ARGUMENT is a default argument of the standard library's containers,
 * strings and pointers. */
static bool
is_default(const component *argument)
{
    static const char *const names[] = {"allocator",      "less",
                                        "char_traits",    "hash",
                                        "default_delete", "equal_to"};
    if (argument == NULL || argument->type != DEMANGLE_COMPONENT_TEMPLATE ||
        argument->u.s_binary.left == NULL)
        return false;
    for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++) {
        if (is_standard(argument->u.s_binary.left, names[i]))
            return true;
    }
    return false;
}

/* Cut the default arguments off the end of LIST. The first argument is never a
 * default. */
static void
drop_defaults(component *list)
{
    component *last = list;
    for (component *item = list; item != NULL; item = item->u.s_binary.right) {
        if (item->type != DEMANGLE_COMPONENT_TEMPLATE_ARGLIST)
            return;
        if (!is_default(item->u.s_binary.left))
            last = item;
    }
    last->u.s_binary.right = NULL;
}

/* Shorten the arguments of TEMPLATE, whose parts are short already. The
 * standard library's string becomes "std::string". */
static void
shorten_arguments(component *template)
{
    component *list = template->u.s_binary.right;
    component *name = template->u.s_binary.left;
    if (list == NULL || name == NULL ||
        list->type != DEMANGLE_COMPONENT_TEMPLATE_ARGLIST)
        return;
    if (is_standard(name, NULL))
        drop_defaults(list);
    char *text = print_part(list);
    if (text != NULL && strcmp(text, "char") == 0 &&
        is_standard(name, "basic_string"))
        cplus_demangle_fill_name(template, "std::string", 11);
    else if (text == NULL || strlen(text) > ARGUMENTS_MOST)
        cplus_demangle_fill_name(list, "...", 3);
    free(text);
}

/* Turn "{lambda(int)#1}" into "{lambda#1}". */
static void
shorten_lambda(struct shortening *shortening, component *lambda)
{
    if (shortening->lambdas == LAMBDAS_MOST)
        return;
    char *text = shortening->texts[shortening->lambdas++];
    snprintf(text, sizeof(shortening->texts[0]), "{lambda#%u}",
             (unsigned)lambda->u.s_unary_num.num + 1);
    cplus_demangle_fill_name(lambda, text, (int)strlen(text));
}

/* Shorten the parts of PART (may be NULL) from the inside. Components that are
 * not listed have nothing to shorten, or are expressions. */
static void
shorten_part(struct shortening *shortening, component *part)
{
    if (part == NULL || shortening->steps++ >= STEPS_MOST)
        return;
    switch (part->type) {
    case DEMANGLE_COMPONENT_LOCAL_NAME:
        part->u.s_binary.left = name_of(part->u.s_binary.left);
        part->u.s_binary.right = name_of(part->u.s_binary.right);
        break;
    case DEMANGLE_COMPONENT_DEFAULT_ARG:
        shorten_part(shortening, part->u.s_unary_num.sub);
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
    shorten_part(shortening, part->u.s_binary.left);
    shorten_part(shortening, part->u.s_binary.right);
    if (part->type == DEMANGLE_COMPONENT_TEMPLATE)
        shorten_arguments(part);
}

/* The length of the clone suffix at TEXT by libiberty's rules: ".cold",
 * ".part.0", ".0". Other text is taken whole. */
static size_t
clone_length(const char *text)
{
    size_t length = 1;
    if (text[0] != '.')
        return strlen(text);
    if ((text[1] >= 'a' && text[1] <= 'z') || text[1] == '_')
        length += strcspn(text + 1, ".");
    while (text[length] == '.' && text[length + 1] >= '0' &&
           text[length + 1] <= '9')
        length += 1 + strspn(text + length + 1, "0123456789");
    return length > 1 ? length : strlen(text);
}

/* Returns NAME (which is freed) with the notes for CLONES, such as
 * ".part.0.cold". NULL if memory is short. */
static char *
add_clones(char *name, const char *clones)
{
    for (size_t length; name != NULL && *clones != '\0'; clones += length) {
        length = clone_length(clones);
        char *longer;
        if (asprintf(&longer, "%s [clone %.*s]", name, (int)length, clones) < 0)
            longer = NULL;
        free(name);
        name = longer;
    }
    return name;
}

/* The short name of TREE. NULL if it cannot be printed. *IS_ENDLESS is then
 * true if it would take too many steps. */
static char *
print_short(component *tree, bool *is_endless)
{
    struct shortening shortening = {0};
    tree = name_of(tree);
    shorten_part(&shortening, tree);
    *is_endless = shortening.steps >= STEPS_MOST;
    return tree != NULL && !*is_endless ? print_part(tree) : NULL;
}

/* The tree of MANGLED, NULL if it has none. The caller frees *MEMORY.
 *
 * Some types of functions ("sr" without a "T_") are understood only by
 * libiberty's printer, which tries twice. The tree is then made of the name
 * alone. Without DMGL_PARAMS, libiberty stops in front of the type, but also in
 * front of nonsense. */
static component *
make_tree(const char *mangled, void **memory)
{
    component *tree = cplus_demangle_v3_components(mangled, STYLE, memory);
    if (tree != NULL)
        return tree;
    char *whole = cplus_demangle_v3(mangled, STYLE);
    if (whole != NULL)
        tree = cplus_demangle_v3_components(mangled, DMGL_ANSI, memory);
    free(whole);
    return tree;
}

/* Returns the short name of the function that the LENGTH bytes of MANGLED
 * ("_Z...") name; the caller frees it. NULL if they are not such a name, if the
 * name stands for too much text (*IS_ENDLESS), or if memory is short.
 *
 * A local name in a function with such a type has no tree. A tree cannot be
 * printed if a part needs another part that was cut. In both cases the text is
 * used. */
static char *
short_plain(const char *mangled, size_t length, bool *is_endless)
{
    char *plain = strndup(mangled, length);
    char *text = NULL;
    if (plain == NULL)
        return NULL;
    void *memory;
    component *tree = make_tree(plain, &memory);
    if (tree != NULL) {
        text = print_short(tree, is_endless);
        free(memory);
    }
    if (text == NULL && !*is_endless) {
        char *whole = cplus_demangle_v3(plain, STYLE);
        if (whole != NULL)
            text = cplus_demangle_v3(plain, DMGL_ANSI);
        free(whole);
    }
    free(plain);
    return text;
}

/* The same including what follows the name. A name may also contain a ".":
 * gcc's coroutines have a type called "_Z1fi.Frame". */
static char *
short_cplus(const char *mangled)
{
    size_t length = strcspn(mangled, ".");
    bool is_endless = false;
    char *text = short_plain(mangled, length, &is_endless);
    while (text == NULL && !is_endless && mangled[length] == '.') {
        length += 1 + strcspn(mangled + length + 1, ".");
        text = short_plain(mangled, length, &is_endless);
    }
    return add_clones(text, mangled + length);
}

static char *
demangle_rust(const char *name, int options)
{
    char *text = demangle_old_rust(name);
    return text != NULL ? text : rust_demangle(name, options);
}

static bool
is_d(const char *name)
{
    return strcmp(name, "_Dmain") == 0 ||
           (strncmp(name, "_D", 2) == 0 && name[2] >= '1' && name[2] <= '9');
}

/* Demangle NAME by WHOLE, and SHORTEN the text if FORM is short. */
static char *
demangle_text(const char *name, enum demangle_form form,
              char *(*whole)(const char *, int), void (*shorten)(char *))
{
    char *text = whole(name, STYLE);
    if (text != NULL && form == DEMANGLE_SHORT)
        shorten(text);
    return text;
}

char *
demangle(const char *name, enum demangle_form form)
{
    if (name[0] != '_' || strnlen(name, LONGEST_NAME) == LONGEST_NAME)
        return NULL;
    if (is_d(name))
        return demangle_text(name, form, dlang_demangle, shorten_d);
    /* Some compilers add a second underscore at the front. */
    if (strncmp(name, "__Z", 3) == 0 || strncmp(name, "__R", 3) == 0)
        name++;
    if (name[1] != 'Z' && name[1] != 'R')
        return NULL;
    /* Rust's older names look like C++ ones. */
    char *text = demangle_text(name, form, demangle_rust, shorten_rust);
    if (text != NULL || name[1] == 'R')
        return text;
    return form == DEMANGLE_SHORT ? short_cplus(name)
                                  : cplus_demangle_v3(name, STYLE);
}
