/* SPDX-License-Identifier: MIT */
/*
 * spool_script.c -- see spool_script.h. Lines are found when a node is added,
 * while the tables are at hand. Few nodes have the same line.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/path.h"
#include "store/record.h"
#include "symbol/python_lines.h"
#include "symbol/python_names.h"
#include "util/array.h"
#include "spool_script.h"

/* Bytes of the longest name that is shown. */
enum { NAME_MOST = 8192 };

struct script_function {
    const char *function, *name,
        *file; /* as shown; as the interpreter has it */
    enum script_language language;
    enum script_lines form;
    int32_t first_line;
    uint32_t table_length;
    const uint8_t *table;
};

/* The function for all those without a known name. */
static const struct symbol_frame lost_frame = {"[python function, freed]",
                                               "[python function, freed]", "",
                                               0, 0};
static const struct symbol lost = {1, true, &lost_frame, false};

/* Write the name of the function of RECORD to TEXT. PHP has one name for the
 * code of each file that is in no function. */
static void
name_of_php(const struct record_script *record, char *text, size_t size)
{
    const char *name = record_script_name(record);
    bool is_main = strcmp(name, "{main}") == 0;
    snprintf(text, size, "%s%s%s", name, is_main ? " " : "",
             is_main ? path_name(record_script_file(record)) : "");
}

int
spool_script_add(struct spool_scripts *scripts, struct profile *profile,
                 const struct record_script *record)
{
    uint32_t number = intern_count(&scripts->ids);
    char text[NAME_MOST];
    if (record->id == 0 || record->language < SCRIPT_PYTHON ||
        record->language > SCRIPT_PHP || record->lines > SCRIPT_NUMBERS ||
        intern_find(&scripts->ids, &record->id, sizeof(record->id)) !=
            INTERN_NONE)
        return 1;
    if (!ARRAY_GROW(scripts->functions, number))
        return -1;
    uint8_t *table = profile_block(profile, record->table_length + 1ul);
    if (record->language == SCRIPT_PHP)
        name_of_php(record, text, sizeof(text));
    else
        python_names_full(record_script_file(record),
                          record_script_name(record), text, sizeof(text));
    struct script_function *function = &scripts->functions[number];
    *function = (struct script_function){
        .function = profile_string(profile, text),
        .name = profile_string(profile, record_script_name(record)),
        .file = profile_string(profile, record_script_file(record)),
        .language = (enum script_language)record->language,
        .form = (enum script_lines)record->lines,
        .first_line = record->first_line,
        .table_length = record->table_length,
        .table = table};
    if (table == NULL || function->function == NULL || function->name == NULL ||
        function->file == NULL ||
        intern_put(&scripts->ids, &record->id, sizeof(record->id)) ==
            INTERN_NONE)
        return -1;
    memcpy(table, record_script_table(record), record->table_length);
    return 0;
}

/* Make the symbol of FUNCTION in LINE. NULL if memory is short. */
static const struct symbol *
make_symbol(struct profile *profile, const struct script_function *function,
            uint32_t line)
{
    struct symbol_frame *frame = profile_block(profile, sizeof(*frame));
    struct symbol *symbol = profile_block(profile, sizeof(*symbol));
    if (frame == NULL || symbol == NULL)
        return NULL;
    uint32_t start =
        function->first_line > 0 ? (uint32_t)function->first_line : 0;
    *frame = (struct symbol_frame){function->function, function->name,
                                   function->file, line, start};
    *symbol = (struct symbol){1, true, frame, false};
    return symbol;
}

const struct symbol *
spool_script_symbol(struct spool_scripts *scripts, struct profile *profile,
                    uint32_t id, int64_t offset)
{
    uint32_t number = intern_find(&scripts->ids, &id, sizeof(id));
    if (number == INTERN_NONE)
        return &lost;
    const struct script_function *function = &scripts->functions[number];
    uint32_t line =
        python_lines_at(function->form, function->table, function->table_length,
                        function->first_line, offset);
    /* The first instructions of a function have no line in some versions. */
    if (line == 0 && function->first_line > 0)
        line = (uint32_t)function->first_line;
    uint32_t key[2] = {number, line};
    uint32_t count = intern_count(&scripts->lines);
    if (!ARRAY_GROW(scripts->symbols, count))
        return NULL;
    uint32_t at = intern_put(&scripts->lines, key, sizeof(key));
    if (at == INTERN_NONE)
        return NULL;
    if (at == count)
        scripts->symbols[at] = make_symbol(profile, function, line);
    return scripts->symbols[at];
}

bool
spool_script_is_php(const struct spool_scripts *scripts, uint32_t id)
{
    uint32_t number = intern_find(&scripts->ids, &id, sizeof(id));
    return number != INTERN_NONE &&
           scripts->functions[number].language == SCRIPT_PHP;
}

void
spool_script_release(struct spool_scripts *scripts)
{
    intern_clear(&scripts->ids);
    intern_clear(&scripts->lines);
    free(scripts->symbols);
    free(scripts->functions);
}
