/* SPDX-License-Identifier: MIT */
/*
 * python_names.c -- see python_names.h. The code of a function does not say in
 * which module it is. Below the directories in which Python looks for modules
 * the path shows it. Elsewhere the file's own name is taken.
 */
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "base/path.h"
#include "python_names.h"

static const char frozen[] = "<frozen ";

/* The part of PATH below its directory of modules; NULL if it is in none. */
static const char *
below_modules(const char *path)
{
    static const char *const directories[] = {"/site-packages/",
                                              "/dist-packages/",
                                              "/lib-dynload/", ".zip/"};
    for (size_t i = 0; i < sizeof(directories) / sizeof(*directories); i++) {
        const char *at = strstr(path, directories[i]);
        if (at != NULL)
            return at + strlen(directories[i]);
    }
    const char *at = strstr(path, "/lib/python3");
    return at != NULL ? strchr(at + strlen("/lib/python"), '/') : NULL;
}

/* Remove ENDING, if TEXT ends with it and has more. */
static void
remove_ending(char *text, const char *ending)
{
    size_t length = strlen(text), less = strlen(ending);
    if (length > less && strcmp(text + length - less, ending) == 0)
        text[length - less] = '\0';
}

/* Write the name of the module in the file at PATH to TEXT. */
static void
name_module(const char *path, char *text, size_t size)
{
    const char *part = below_modules(path);
    if (strncmp(path, frozen, sizeof(frozen) - 1) == 0) {
        snprintf(text, size, "%s", path + sizeof(frozen) - 1);
        remove_ending(text, ">");
        return;
    }
    if (part == NULL) {
        part = path_name(path);
        /* The file of a package has the name of its directory. */
        if (strcmp(part, "__init__.py") == 0 ||
            strcmp(part, "__main__.py") == 0)
            while (part - 1 > path && (part[-1] != '/' || part[-2] == '/' ||
                                       strchr(part, '/') == NULL))
                part--;
    }
    snprintf(text, size, "%s", part + (*part == '/'));
    remove_ending(text, ".py");
    for (char *at = text; *at != '\0' && text[0] != '<'; at++)
        if (*at == '/')
            *at = '.';
    remove_ending(text, ".__init__");
}

void
python_names_full(const char *path, const char *name, char *text, size_t size)
{
    char module[1024];
    name_module(path, module, sizeof(module));
    snprintf(text, size, "%s%s%s", module, module[0] != '\0' ? "." : "", name);
}
