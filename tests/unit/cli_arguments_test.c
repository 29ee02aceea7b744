/* SPDX-License-Identifier: MIT */
/*
 * cli_arguments_test.c -- what each command takes for its options, and the one
 * line with which it refuses the rest. Every row of every table of options is
 * tried, by what it calls its argument. The lines go to stderr, which is a file
 * here.
 */
#include <elf.h>
#include <getopt.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "cli/arguments.h"
#include "cli/inputs.h"
#include "cli/outputs.h"
#include "cli/record/launch.h"

static char said[16384];
static int to_stdout = -1, to_stderr = -1, file = -1;

/* What is written from here on is kept for heard(). */
static void
listen(void)
{
    fflush(NULL);
    assert_int_equal(ftruncate(file, 0), 0);
    assert_int_equal(lseek(file, 0, SEEK_SET), 0);
    to_stdout = dup(STDOUT_FILENO);
    to_stderr = dup(STDERR_FILENO);
    assert_true(to_stdout >= 0 && to_stderr >= 0);
    assert_int_equal(dup2(file, STDOUT_FILENO), STDOUT_FILENO);
    assert_int_equal(dup2(file, STDERR_FILENO), STDERR_FILENO);
}

static const char *
heard(void)
{
    fflush(NULL);
    ssize_t length = pread(file, said, sizeof(said) - 1, 0);
    assert_true(length >= 0);
    said[length] = '\0';
    assert_int_equal(dup2(to_stdout, STDOUT_FILENO), STDOUT_FILENO);
    assert_int_equal(dup2(to_stderr, STDERR_FILENO), STDERR_FILENO);
    close(to_stdout);
    close(to_stderr);
    return said;
}

static int
begin(void **state)
{
    (void)state;
    char path[] = "/tmp/cli_arguments.XXXXXX";
    file = mkstemp(path);
    return file >= 0 ? unlink(path) : -1;
}

static int
end(void **state)
{
    (void)state;
    return close(file);
}

/* The commands, with operands and whatever else each needs. */
static const struct {
    const struct command *command;
    const char *needs;
} commands[] = {
    {&cmd_record, "app --fast"},
    {&cmd_report, "a.sprof b.sprof"},
    {&cmd_annotate, "main a.sprof"},
    {&cmd_flame, "a.sprof"},
    {&cmd_convert, "a.sprof b.folded"},
    {&cmd_convert_merge, "a.sprof"},
    {&cmd_diff, "a.sprof b.sprof"},
    {&cmd_info, "a.sprof"},
    {&cmd_stacks, "4711"},
    {&cmd_control_start, "4711"},
    {&cmd_control_stop, "4711"},
    {&cmd_control_dump, "4711"},
    {&cmd_top, "--once 4711"},
    {&cmd_push, "--otlp http://127.0.0.1:1"},
    {&cmd_serve, ""},
};

enum { COMMANDS = sizeof(commands) / sizeof(commands[0]), WORDS = 16 };

/* A right and a wrong argument, by what the help page calls it. NULL: none is
 * wrong. */
static const struct {
    const char *value, *right, *wrong;
} samples[] = {
    {"FILE", "a.folded", "a.jpeg"},
    {"OUT", "a.html", "a.jpeg"},
    {"HZ", "99", "0"},
    {"MODE", "cpu", "none"},
    {"S", "1", "-1"},
    {"SECONDS", "0.1", "0.09"},
    {"N", "0", "1.5"},
    {"PERCENT", "5%", "5%%"},
    {"P", "5", "five"},
    {"F", "main", NULL},
    {"WHEN", "never", "red"},
    {"WHAT", "function", "red"},
    {"COLUMN", "name", "red"},
    {"ENDING", "folded", "jpeg"},
    {"NAME|TID", "a*", NULL},
    {"KEY=VALUE", "a=b=c", "a"},
    {"GLOB", "a*", NULL},
    {"A-B", "1.5-3", "3-2"},
    {"REGEX", "a|b", "a("},
    {"URL", "http://127.0.0.1:1", "ftp:/x"},
    {"LINE", "A:b", "A"},
    {"DIR", "/tmp", NULL},
    {"MIB", "1", "-1"},
    {"ADDRESS", "[::1]:0", "nowhere:80"},
    {"[=ADDR]", "[::1]:0", "nowhere:80"},
    {"OPTIONS", "http://127.0.0.1:1", NULL},
    {"NAME", "app.example", "app:80"},
};

/* The values of the command that was tried last, and its status. */
static _Alignas(max_align_t) char values[32768];
static int status;

/* Let COMMAND parse the words of LINE. What it says is in SAID. */
static void
take(const struct command *command, const char *line)
{
    static char words[512];
    static char *argv[WORDS + 2];
    int argc = 1;
    snprintf(words, sizeof(words), "%s", line);
    for (char *word = strtok(words, " "); word != NULL && argc <= WORDS;
         word = strtok(NULL, " "))
        argv[argc++] = word;
    argv[argc] = NULL;
    assert_true(command->size <= sizeof(values));
    listen();
    status = command_take(command, argc, argv, values);
    heard();
}

static void
release(const struct command *command)
{
    if (command->release != NULL)
        command->release(values);
}

/* The command was refused with status 2, one line that has SENTENCE, and the
 * line that says where help is. */
static void
expect_refusal(const struct command *command, const char *line,
               const char *sentence)
{
    char begin[64], hint[64];
    take(command, line);
    release(command);
    snprintf(begin, sizeof(begin), "sprofile %s: ", command->name);
    snprintf(hint, sizeof(hint), "\nTry `sprofile %s --help`.\n",
             command->name);
    const char *at = strchr(said, '\n');
    /* A list of the processes may follow. */
    bool is_hinted = at != NULL && strncmp(at, hint, strlen(hint)) == 0 &&
                     (command->takes_process || strcmp(at, hint) == 0);
    if (status != STATUS_USAGE || strncmp(said, begin, strlen(begin)) != 0 ||
        !is_hinted || strstr(said, sentence) == NULL)
        fail_msg("%s %s: status %d, \"%s\", not %s", command->name, line,
                 status, said, sentence);
}

static void
expect_success(const struct command *command, const char *line)
{
    take(command, line);
    if (status != STATUS_DONE || said[0] != '\0')
        fail_msg("%s %s: status %d, %s", command->name, line, status, said);
}

/* The row of the option that is written NAME. */
static const struct command_option *
find(const struct command *command, const char *name)
{
    const struct command_option *lists[] = {command->options,
                                            command->group.options};
    for (unsigned i = 0; i < 2; i++)
        for (const struct command_option *row = lists[i];
             row != NULL && row->take != NULL; row++)
            if (name[1] == '-'
                    ? row->name != NULL && strcmp(row->name, name + 2) == 0
                    : row->letter == name[1])
                return row;
    fail_msg("%s has no %s", command->name, name);
    return NULL;
}

/* The value of the option NAME, as text. */
static const char *
value_of(const struct command *command, const char *name)
{
    static char text[64];
    const struct command_option *row = find(command, name);
    const void *field = values + row->field;
    if (row->take == arguments_flag || row->take == arguments_clear)
        return *(const bool *)field ? "yes" : "no";
    if (row->take == arguments_text)
        return *(const char *const *)field != NULL ? *(const char *const *)field
                                                   : "none";
    if (row->value != NULL && row->value[0] == 'P')
        snprintf(text, sizeof(text), "%g", *(const double *)field);
    else if (row->take == arguments_seconds)
        snprintf(text, sizeof(text), "%llu",
                 (unsigned long long)*(const uint64_t *)field);
    else
        snprintf(text, sizeof(text), "%u", *(const uint32_t *)field);
    return text;
}

/* Write a line with OPTION (by its name, or by its letter) and VALUE. */
static void
compose(char *line, size_t size, unsigned command,
        const struct command_option *option, bool by_letter, const char *value)
{
    const char *more = "";
    bool is_letter = by_letter || option->name == NULL;
    char letter[2] = {option->letter, '\0'};
    if (commands[command].command == &cmd_report && option->name != NULL &&
        (strcmp(option->name, "min") == 0 ||
         strcmp(option->name, "fold") == 0 ||
         strcmp(option->name, "depth") == 0))
        more = "--tree ";
    if (commands[command].command == &cmd_convert_merge &&
        option->letter != 'o')
        more = "-o c.folded ";
    snprintf(line, size, "%s%s%s%c%s %s", more, is_letter ? "-" : "--",
             is_letter ? letter : option->name,
             value != NULL && option->value[0] == '[' ? '=' : ' ',
             value != NULL ? value : "", commands[command].needs);
}

/* Try OPTION with a right argument, a wrong one and none. */
static void
try_option(unsigned command, const struct command_option *option,
           bool by_letter)
{
    const struct command *which = commands[command].command;
    char line[256];
    unsigned i = 0;
    if (option->value == NULL) {
        compose(line, sizeof(line), command, option, by_letter, NULL);
        if (option->help != NULL && option->help[0] == '\0')
            expect_refusal(which, line, "-");
        else
            expect_success(which, line);
        release(which);
        return;
    }
    if (option->help != NULL && option->help[0] == '\0') {
        compose(line, sizeof(line), command, option, by_letter, "x");
        expect_refusal(which, line, "-");
        return;
    }
    while (strcmp(samples[i].value, option->value) != 0)
        if (++i == sizeof(samples) / sizeof(samples[0]))
            fail_msg("%s: there is no sample of %s", which->name,
                     option->value);
    compose(line, sizeof(line), command, option, by_letter,
            strcmp(option->value, "WHAT") == 0 && option->name[0] == 's'
                ? "flat"
                : samples[i].right);
    expect_success(which, line);
    release(which);
    if (samples[i].wrong == NULL || option->take == inputs_take_value)
        return;
    compose(line, sizeof(line), command, option, by_letter, samples[i].wrong);
    expect_refusal(which, line, samples[i].wrong);
}

static void
every_option_takes_what_is_right(void **state)
{
    (void)state;
    unsigned tried = 0;
    for (unsigned i = 0; i < COMMANDS; i++) {
        const struct command *command = commands[i].command;
        const struct command_option *lists[] = {command->options,
                                                command->group.options};
        for (unsigned j = 0; j < 2; j++)
            for (const struct command_option *row = lists[j];
                 row != NULL && row->take != NULL; row++, tried++) {
                try_option(i, row, false);
                if (row->letter != 0)
                    try_option(i, row, true);
            }
    }
    assert_true(tried > 90);
}

static void
every_command_is_tried(void **state)
{
    (void)state;
    unsigned i = 0;
#define COMMAND(name) assert_ptr_equal(commands[i++].command, &name);
    COMMAND_TABLE(COMMAND)
#undef COMMAND
    assert_int_equal(i, COMMANDS);
}

static void
every_command_has_help_and_operands(void **state)
{
    (void)state;
    for (unsigned i = 0; i < COMMANDS; i++) {
        const struct command *command = commands[i].command;
        char line[256];
        take(command, "-h");
        release(command);
        assert_int_equal(status, STATUS_HELPED);
        snprintf(line, sizeof(line), "usage: sprofile %s ", command->name);
        assert_int_equal(strncmp(said, line, strlen(line)), 0);
        assert_non_null(strstr(said, " --help  "));
        if (command->least > 0)
            expect_refusal(command, "", "expected ");
        else
            expect_refusal(command, "one", "expected ");
        expect_refusal(command, "--nope", "--nope");
        snprintf(line, sizeof(line), "%s one two", commands[i].needs);
        if (command->most > 0)
            expect_refusal(command, line, "expected ");
    }
}

/* What options are after a line was taken. */
static void
values_are_those_of_the_line(void **state)
{
    (void)state;
    static const struct {
        const struct command *command;
        const char *line, *option, *value;
    } trials[] = {
        {&cmd_record, "app -q", "--quiet", "no"}, /* the program's */
        {&cmd_record, "app", "--no-progress", "yes"},
        {&cmd_record, "--no-progress app", "--no-progress", "no"},
        {&cmd_record, "--wall -- -app", "--wall", "yes"},
        {&cmd_record, "--serve app", "--push", "none"},
        {&cmd_report, "a.sprof", "-n", "40"},
        {&cmd_report, "a.sprof -n 4294967295", "-n", "4294967295"},
        {&cmd_report, "--json a.sprof", "-n", "0"},
        {&cmd_report, "--tree a.sprof", "-n", "0"},
        {&cmd_report, "a.sprof", "--min", "1"},
        {&cmd_report, "--flame a.sprof", "--min", "0"},
        {&cmd_report, "--tree --min .25% a.sprof", "--min", "0.25"},
        {&cmd_report, "a.sprof", "--cpu", "1"},
        {&cmd_report, "--wall a.sprof", "--cpu", "2"},
        {&cmd_report, "--sort wall a.sprof", "--cpu", "2"},
        {&cmd_report, "--wall --cpu a.sprof", "--cpu", "1"},
        {&cmd_report, "--csv a.sprof", "--csv", "1"},
        {&cmd_report, "--csv --json a.sprof", "--csv", "2"},
        {&cmd_report, "a.sprof", "--color", "0"},
        {&cmd_report, "--color never a.sprof", "--color", "2"},
        {&cmd_report, "--full a.sprof", "--full-names", "yes"},
        {&cmd_report, "--flame --depth 3 a.sprof", "--depth", "3"},
        {&cmd_convert, "a.sprof - --format folded", "--format", "folded"},
        {&cmd_convert, "a.sprof b.folded", "--format", "none"},
        {&cmd_convert, "a.sprof b.folded", "--wall", "no"},
        {&cmd_convert_merge, "-o b.json a.sprof --untimed", "--untimed", "yes"},
        {&cmd_diff, "a b", "-n", "20"},
        {&cmd_diff, "a b --csv", "-n", "0"},
        {&cmd_diff, "a b", "--min", "1"},
        {&cmd_diff, "a b", "--level", "0.01"},
        {&cmd_diff, "a b --level 5", "--level", "0.05"},
        {&cmd_diff, "a b", "--fail-above", "-1"},
        {&cmd_diff, "a b --fail-above 0", "--fail-above", "0"},
        {&cmd_diff, "a b --absolute", "--absolute", "yes"},
        {&cmd_diff, "a b --absolute --shares", "--absolute", "no"},
        {&cmd_diff, "a b --by stack", "--by", "1"},
        {&cmd_flame, "a", "--source", "no"},
        {&cmd_flame, "a --source", "--source", "yes"},
        {&cmd_annotate, "main a", "--cpu", "1"},
        {&cmd_annotate, "--wall main a", "--cpu", "2"},
        {&cmd_info, "a --color always", "--color", "1"},
        {&cmd_stacks, "4711", "-n", "0"},
        {&cmd_stacks, "4711", "--watch", "0"},
        {&cmd_stacks, "4711 --watch 86400", "--watch", "86400000000000"},
        {&cmd_stacks, "./4711 --json", "--json", "yes"},
        {&cmd_top, "--once 4711", "--interval", "1000000000"},
        {&cmd_top, "--once -d .1 4711", "--interval", "100000000"},
        {&cmd_top, "--once 4711", "-n", "20"},
        {&cmd_top, "--once 4711", "--since-start", "0"},
        {&cmd_top, "--once --since-start 4711", "--since-start", "1"},
        {&cmd_top, "--once --by thread --sort tid 4711", "--by", "1"},
    };
    for (size_t i = 0; i < sizeof(trials) / sizeof(trials[0]); i++) {
        const struct command *command = trials[i].command;
        expect_success(command, trials[i].line);
        const char *value = value_of(command, trials[i].option);
        if (strcmp(value, trials[i].value) != 0)
            fail_msg("%s %s: %s is %s", command->name, trials[i].line,
                     trials[i].option, value);
        release(command);
    }
}

/* More wrong lines than samples[] has. */
static void
what_does_not_go_together_is_refused(void **state)
{
    (void)state;
    static const struct {
        const struct command *command;
        const char *line, *sentence;
    } trials[] = {
        {&cmd_record, "", "expected a COMMAND"},
        {&cmd_record, "-o a.folded,,b.folded app", "on each side of a comma"},
        {&cmd_record, "-o - app", "standard output is that of the program"},
        {&cmd_record, "-d x app", "-d x: "},
        {&cmd_record, "-g app", "-g is not needed"},
        {&cmd_record, "--call-graph dwarf app", "-g is not needed"},
        {&cmd_record, "-p 4711 app", "-p: "},
        {&cmd_report, "a -n -1", "-n -1: expected a number, 0 for all"},
        {&cmd_report, "a -n 4294967296", "-n 4294967296: expected a number"},
        {&cmd_report, "a --depth x", "--depth x: expected a number"},
        {&cmd_report, "a --color x",
         "--color x: expected auto, always or never"},
        {&cmd_report, "a --min 1000001", "--min 1000001: expected percent"},
        {&cmd_report, "a --min 1e3", "--min 1e3: expected percent"},
        {&cmd_report, "a --sort x", "--sort x: expected flat, cum or wall"},
        {&cmd_report, "a --by x", "command or label:KEY"},
        {&cmd_report, "a --by label:", "command or label:KEY"},
        {&cmd_report, "a --tree --callers f", "expected one of"},
        {&cmd_report, "a --depth 3", "--depth goes with"},
        {&cmd_report, "a --fold", "--fold goes with"},
        {&cmd_report, "a --min 3", "--min goes with"},
        {&cmd_report, "a --flame --csv", "--flame goes with"},
        {&cmd_report, "a --flame --by line", "--flame goes with"},
        {&cmd_report, "a --flame -n 3", "-n does not go with --flame"},
        {&cmd_report, "a --lines f -n 3", "-n does not go with --lines"},
        {&cmd_report, "a --tree --by line", "--by goes with"},
        {&cmd_report, "a --tree --sort cum", "--sort goes with"},
        {&cmd_report, "a --time -", "--time -: expected seconds"},
        {&cmd_report, "a --time 1s-", "--time 1s-: expected seconds"},
        {&cmd_report, "a --label =b", "--label =b: expected KEY=VALUE"},
        {&cmd_report, "a --ignore [", "--ignore [: "},
        {&cmd_convert, "a.sprof", "expected a FILE and OUT"},
        {&cmd_convert, "a.sprof b.jpeg", "b.jpeg: unknown ending"},
        {&cmd_convert, "a.sprof -", "-: expected --format"},
        {&cmd_convert_merge, "a.sprof", "expected -o OUT"},
        {&cmd_convert_merge, "-o b.folded", "expected a FILE"},
        {&cmd_convert_merge, "-o b.folded -o c.folded a", "one -o OUT"},
        {&cmd_diff, "a", "expected OLD and NEW"},
        {&cmd_diff, "a b --level 0", "--level 0: expected percent, more than"},
        {&cmd_diff, "a b --level 100", "--level 100: expected percent, more"},
        {&cmd_diff, "a b --cum --by stack", "--cum goes with"},
        {&cmd_diff, "a b -o c", "-o c: expected a name that ends"},
        {&cmd_diff, "a b -o c.html -o d.html", "expected one -o"},
        {&cmd_diff, "a b -o c.html --json", "-o goes with no option"},
        {&cmd_diff, "a b -o c.html --by stack", "-o goes with no option"},
        {&cmd_flame, "", "expected a FILE"},
        {&cmd_flame, "a -o b.json", "-o b.json: expected a name that ends"},
        {&cmd_flame, "a -o b.html -o c.html", "expected one -o"},
        {&cmd_annotate, "main", "expected F and a FILE"},
        {&cmd_stacks, "4711 --watch 86401", "--watch 86401: expected seconds"},
        {&cmd_stacks, "a.sprof --watch 1", "--watch: expected a PID"},
        {&cmd_stacks, "4711 --time 1-2", "--time"},
        {&cmd_control_start, "0", "0: expected the PID"},
        {&cmd_control_stop, "2147483648", "2147483648: expected the PID"},
        {&cmd_control_dump, "app", "app: expected the PID"},
        {&cmd_top, "--once -d 86401 4711", "-d 86401: expected seconds"},
        {&cmd_top, "--once --sort tid 4711", "expected self, total or name"},
        {&cmd_top, "--once --by thread --sort self 4711",
         "expected time, name, tid or state"},
    };
    for (size_t i = 0; i < sizeof(trials) / sizeof(trials[0]); i++)
        expect_refusal(trials[i].command, trials[i].line, trials[i].sentence);
}

/* The filter that report has after FILTER ("--time 1-2"). */
static const struct filter_options *
filter_of(const char *filter)
{
    char line[128];
    snprintf(line, sizeof(line), "%s a.sprof", filter);
    expect_success(&cmd_report, line);
    return (const struct filter_options *)values;
}

static void
filters_add_up(void **state)
{
    (void)state;
    const struct filter_options *filter = filter_of("--time 1.5-3");
    assert_int_equal(filter->from, 1500000000);
    assert_int_equal(filter->to, 3000000000);
    assert_true(filter_of("--time 2-")->to == UINT64_MAX);
    assert_int_equal(filter_of("--time -2")->to, 2000000000);
    assert_false(filter_is_set(filter_of("--wall")));
    filter = filter_of("--thread a --state futex --label k=a=b --focus f "
                       "--ignore g --module m");
    static const struct {
        enum filter_kind kind;
        const char *key, *value;
    } terms[] = {
        {FILTER_LABEL, "thread", "a"}, {FILTER_LABEL, "state", "futex"},
        {FILTER_LABEL, "k", "a=b"},    {FILTER_FOCUS, NULL, "f"},
        {FILTER_IGNORE, NULL, "g"},    {FILTER_LABEL, FILTER_MODULE_KEY, "m"},
    };
    assert_int_equal(filter->count, sizeof(terms) / sizeof(terms[0]));
    for (size_t i = 0; i < filter->count; i++) {
        assert_int_equal(filter->terms[i].kind, terms[i].kind);
        assert_string_equal(filter->terms[i].value, terms[i].value);
        if (terms[i].key != NULL)
            assert_string_equal(filter->terms[i].key, terms[i].key);
    }
    release(&cmd_report);
}

static void
outputs_stand_between_commas(void **state)
{
    (void)state;
    static const char *const wrong[] = {"", ",a.folded", "a.folded,",
                                        "a.folded,,b.folded", "a.jpeg"};
    struct outputs outputs = {0};
    assert_int_equal(outputs_add(&outputs, "a.sprof,b.pb.gz"), 0);
    assert_int_equal(outputs_add(&outputs, "c.json"), 0);
    assert_int_equal(outputs.count, 3);
    assert_string_equal(outputs.paths[1], "b.pb.gz");
    assert_true(outputs_need_events(&outputs));
    char *names = outputs_names(&outputs);
    assert_string_equal(names, "a.sprof, b.pb.gz, c.json");
    free(names);
    outputs_release(&outputs);
    for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
        outputs = (struct outputs){0};
        listen();
        int result = outputs_add(&outputs, wrong[i]);
        if (heard()[0] == '\0' || result == 0)
            fail_msg("-o %s was taken", wrong[i]);
        outputs_release(&outputs);
    }
}

static void
an_output_needs_a_directory(void **state)
{
    (void)state;
    struct outputs outputs = {0};
    assert_int_equal(outputs_add(&outputs, "/nowhere/a.folded"), 0);
    listen();
    bool has_place = outputs_have_place(&outputs);
    assert_non_null(strstr(heard(), "/nowhere/"));
    assert_false(has_place);
    outputs_release(&outputs);
}

/* A file of LENGTH bytes that can be run, at PATH, which mkstemp fills in. */
static void
make_program(char *path, const void *bytes, size_t length)
{
    int fd = mkstemp(path);
    assert_true(fd >= 0);
    assert_int_equal(write(fd, bytes, length), (ssize_t)length);
    assert_int_equal(fchmod(fd, 0755), 0);
    close(fd);
}

/* What launch_check returns for the program at PATH. */
static int
check(struct launch *launch, char *path, char *why, size_t size)
{
    static char *command[2];
    command[0] = path;
    *launch = (struct launch){.command = command};
    why[0] = '\0';
    return launch_check(launch, why, size);
}

static void
a_program_that_cannot_be_preloaded_is_named(void **state)
{
    (void)state;
    char why[512], there[] = "/bin/true", nowhere[] = "/nowhere/program";
    char directory[] = "/tmp";
    struct launch launch;
    assert_int_equal(check(&launch, there, why, sizeof(why)), 0);
    assert_string_equal(launch.only_children, "");
    /* Complaints about these are left to exec. */
    assert_int_equal(check(&launch, nowhere, why, sizeof(why)), 0);
    assert_int_equal(check(&launch, directory, why, sizeof(why)), 0);

    /* No program header is PT_INTERP: the program has no dynamic linker. */
    Elf64_Ehdr head = {.e_ident = {0x7f, 'E', 'L', 'F', ELFCLASS64},
                       .e_machine = EM_X86_64,
                       .e_phoff = sizeof(head),
                       .e_phentsize = sizeof(Elf64_Phdr)};
    char fixed[] = "/tmp/cli_static.XXXXXX";
    make_program(fixed, &head, sizeof(head));
    assert_int_equal(check(&launch, fixed, why, sizeof(why)), 0);
    assert_non_null(strstr(launch.only_children, "is statically linked"));
    assert_false(launch.is_musl);

    head.e_machine = EM_AARCH64;
    char foreign[] = "/tmp/cli_foreign.XXXXXX";
    make_program(foreign, &head, sizeof(head));
    assert_int_equal(check(&launch, foreign, why, sizeof(why)), -1);
    assert_null(strstr(why, "static"));

    char script[] = "/tmp/cli_script.XXXXXX", line[64];
    int length = snprintf(line, sizeof(line), "#!%s\n", fixed);
    make_program(script, line, (size_t)length);
    assert_int_equal(check(&launch, script, why, sizeof(why)), 0);
    assert_non_null(strstr(launch.only_children, "is statically linked"));
    unlink(fixed);
    unlink(foreign);
    unlink(script);
}

static void
other_dynamic_linkers_are_known(void **state)
{
    static const struct {
        const char *linker;
        int result;
        bool is_musl;
    } cases[] = {
        {"/lib64/ld-linux-x86-64.so.2", 0, false},
        {"/opt/own/ld.so", 0, false},
        {"/lib/ld-musl-x86_64.so.1", 0, true},
        {"/lib/ld64-uClibc.so.0", -1, false},
        {"/system/bin/linker64", -1, false},
    };
    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct {
            Elf64_Ehdr head;
            Elf64_Phdr first, interp;
            char linker[64];
        } bytes = {.head = {.e_ident = {0x7f, 'E', 'L', 'F', ELFCLASS64},
                            .e_machine = EM_X86_64,
                            .e_phoff = sizeof(bytes.head),
                            .e_phnum = 2,
                            .e_phentsize = sizeof(Elf64_Phdr)},
                   .first = {.p_type = PT_PHDR},
                   .interp = {.p_type = PT_INTERP,
                              .p_offset = offsetof(__typeof__(bytes), linker),
                              .p_filesz = sizeof(bytes.linker)}};
        strcpy(bytes.linker, cases[i].linker);
        char path[] = "/tmp/cli_linker.XXXXXX", why[512];
        struct launch launch;
        make_program(path, &bytes, sizeof(bytes));
        assert_int_equal(check(&launch, path, why, sizeof(why)),
                         cases[i].result);
        assert_int_equal(launch.is_musl, cases[i].is_musl);
        unlink(path);
    }
}

int
main(void)
{
    const struct CMUnitTest units[] = {
        cmocka_unit_test(every_command_is_tried),
        cmocka_unit_test(every_command_has_help_and_operands),
        cmocka_unit_test(every_option_takes_what_is_right),
        cmocka_unit_test(values_are_those_of_the_line),
        cmocka_unit_test(what_does_not_go_together_is_refused),
        cmocka_unit_test(filters_add_up),
        cmocka_unit_test(outputs_stand_between_commas),
        cmocka_unit_test(an_output_needs_a_directory),
        cmocka_unit_test(a_program_that_cannot_be_preloaded_is_named),
        cmocka_unit_test(other_dynamic_linkers_are_known),
    };
    return cmocka_run_group_tests(units, begin, end);
}
