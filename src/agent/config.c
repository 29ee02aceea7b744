/* SPDX-License-Identifier: MIT */
/*
 * config.c -- the environment, the program's own name, and the templates of
 * SPROF_OUTPUT. Runs in the constructor and in the child of a fork; uses no
 * stdio and never changes the environment.
 */
#include <errno.h>
#include <fcntl.h>
#include <fnmatch.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/formats.h"
#include "base/note.h"
#include "base/path.h"
#include "base/proc.h"
#include "base/sys.h"
#include "base/text.h"
#include "claim.h"
#include "config.h"

#define SPOOL_ENDING ".sprof"
#define PAST_ENDING ".past.sprof"
#define EXEC_MAX 1000u
#define SPOOLS_MAX 1000u

/* The length of PATH without the ending that names its format. */
static size_t
stem_of(const char *path)
{
    static const char *const endings[] = {
#define FORMAT(id, ending, ...) ending,
        FORMAT_TABLE(FORMAT)
#undef FORMAT
            SPOOL_ENDING};
    size_t length = strlen(path);
    for (size_t i = 0; i < sizeof(endings) / sizeof(endings[0]); i++) {
        size_t cut = strlen(endings[i]);
        if (length > cut && strcmp(path + length - cut, endings[i]) == 0)
            return length - cut;
    }
    return length;
}

/* Put ".WORD" or ".WORDnumber" before the ending of PATH, which has room for
 * PATH_MAX bytes. */
static void
insert_word(char *path, const char *word, uint64_t number)
{
    char ending[64];
    struct text text;
    size_t stem = stem_of(path);
    strncpy(ending, path + stem, sizeof(ending) - 1);
    ending[sizeof(ending) - 1] = '\0';
    text_begin(&text, path + stem, PATH_MAX - stem);
    text_add(&text, ".");
    text_add(&text, word);
    text_add_number(&text, number);
    text_add(&text, ending);
}

/* The COUNT ARGUMENTS, joined by spaces, control characters hidden. */
static void
join_command(int count, char *const arguments[], char *command, size_t size)
{
    struct text text;
    text_begin(&text, command, size);
    for (int i = 0; i < count && arguments[i] != NULL; i++) {
        text_add(&text, i > 0 ? " " : "");
        text_add(&text, arguments[i]);
    }
    text_hide_controls(command);
}

/* Whether the present directory can be written. */
static bool
is_writable(const char *directory)
{
    return faccessat(AT_FDCWD, directory, W_OK | X_OK, AT_EACCESS) == 0;
}

void
config_choose_directory(struct config *config, char *const environment[])
{
    const char *temporary = options_variable(environment, "TMPDIR");
    if (temporary == NULL || temporary[0] != '/')
        temporary = "/tmp";
    config->is_elsewhere =
        !config->options.is_output_given &&
        (config->directory[0] == '\0' || !is_writable(".")) &&
        strlen(temporary) < sizeof(config->directory) && is_writable(temporary);
    if (config->is_elsewhere)
        strcpy(config->directory, temporary);
}

int
config_read(struct config *config, int count, char *const arguments[],
            char *const environment[], char *error, size_t size)
{
    ssize_t length =
        readlink("/proc/self/exe", config->exe, sizeof(config->exe) - 1);
    config->exe[length > 0 ? length : 0] = '\0';
    int result = options_parse(&config->options, environment, error, size);
    const char *only = config->options.only.string;
    if (only[0] != '\0' && fnmatch(only, path_name(config->exe), 0) != 0)
        return 1;
    if (getcwd(config->directory, sizeof(config->directory)) == NULL)
        config->directory[0] = '\0';
    /* A copy, because servers write their titles over the environment, and a
     * child that is forked later needs its files' names. */
    strncpy(config->output, config->options.output.string,
            sizeof(config->output) - 1);
    config->options.output.string = config->output;
    strncpy(config->dump_when, config->options.dump_when.string,
            sizeof(config->dump_when) - 1);
    config->options.dump_when.string = config->dump_when;
    if (config->dump_when[0] != '\0' && config->options.keep.number == 0)
        config->options.keep.number = CONFIG_KEEP;
    config->start_time = clock_realtime() / NS_PER_SECOND;
    join_command(count, arguments, config->command, sizeof(config->command));
    return result;
}

/* Add TEMPLATE of LENGTH bytes with its %-words replaced. Returns whether PID
 * is one of them. */
static bool
add_expanded(struct text *text, const struct config *config,
             const char *template, size_t length, pid_t pid)
{
    char host[256];
    bool has_pid = false;
    for (size_t i = 0; i < length; i++) {
        char word = i + 1 < length ? template[i + 1] : '\0';
        if (template[i] != '%' || strchr("peth%", word) == NULL || !word) {
            text_add_bytes(text, template + i, 1);
            continue;
        }
        i++;
        if (word == 'p') {
            text_add_number(text, (uint64_t)pid);
            has_pid = true;
        } else if (word == 'e') {
            text_add(text, path_name(config->exe));
        } else if (word == 't') {
            text_add_number(text, config->start_time);
        } else if (word == 'h') {
            host[0] = host[sizeof(host) - 1] = '\0';
            gethostname(host, sizeof(host) - 1);
            text_add(text, host);
        } else {
            text_add(text, "%");
        }
    }
    return has_pid;
}

static int
fail(char *error, size_t size, const char *a, const char *b, const char *c)
{
    struct text text;
    text_begin(&text, error, size);
    text_add(&text, "SPROF_OUTPUT: ");
    text_add(&text, a);
    text_add(&text, b);
    text_add(&text, c);
    return -1;
}

/* Whether PATH is in the directory of a recording that is over. */
static bool
is_recording_over(const char *path)
{
    const char *name = strstr(path, "/" RECORDING_DIRECTORY);
    return name != NULL && strchr(name + 1, '/')[1] == '\0' &&
           faccessat(AT_FDCWD, path, F_OK, 0) != 0 && errno == ENOENT;
}

bool
config_recording_is_over(const struct config_files *files)
{
    char directory[PATH_MAX];
    strcpy(directory, files->spool);
    strrchr(directory, '/')[1] = '\0';
    return is_recording_over(directory);
}

/* Whether PATH, an output, can be made here. */
static int
check_output(char *path, char *error, size_t size)
{
    if (format_of(path) == FORMAT_UNKNOWN)
        return fail(error, size, path, ": unknown ending; expected ",
                    format_endings());
    char *slash = strrchr(path, '/');
    size_t spool = stem_of(slash + 1) + strlen(SPOOL_ENDING);
    if (strlen(slash + 1) > NAME_MAX || spool > NAME_MAX)
        return fail(error, size,
                    "expected a name of 249 bytes at most and its "
                    "ending, not ",
                    slash + 1, "");
    char kept = slash[1];
    slash[1] = '\0';
    int result = 0;
    error[0] = '\0';
    if (is_recording_over(path))
        result = -1;
    else if (faccessat(AT_FDCWD, path, W_OK | X_OK, AT_EACCESS) != 0)
        result = fail(error, size, path,
                      ": expected a directory that can be written: ",
                      strerrordesc_np(errno));
    slash[1] = kept;
    return result;
}

static int
expand_outputs(const struct config *config, pid_t pid,
               struct config_files *files, char *error, size_t size)
{
    const char *at = config->output;
    files->count = 0;
    for (;;) {
        size_t length = strcspn(at, ",");
        if (files->count == CONFIG_OUTPUTS)
            return fail(error, size, "expected 8 files at the most", "", "");
        char *path = files->outputs[files->count++];
        struct text text;
        text_begin(&text, path, PATH_MAX - 64);
        if (at[0] != '/' && config->directory[0] != '/')
            return fail(error, size, "expected names that begin with /: the ",
                        "current directory was removed", "");
        if (at[0] != '/') {
            text_add(&text, config->directory);
            text_add(&text, "/");
        }
        files->has_pid[files->count - 1] =
            add_expanded(&text, config, at, length, pid);
        if (length == 0 || text.cut)
            return fail(error, size, "expected names of files, not ",
                        length == 0 ? "an empty one" : "one so long", "");
        if (check_output(path, error, size) != 0)
            return -1;
        if (at[length] == '\0')
            return 0;
        at += length + 1;
    }
}

/* The spool's name gives the other two: NAME.past.sprof, and .NAME.sprof.next,
 * for which no program looks. */
static void
name_others(struct config_files *files)
{
    size_t directory = (size_t)(path_name(files->spool) - files->spool);
    struct text text;
    strcpy(files->past, files->spool);
    strcpy(files->past + stem_of(files->spool), PAST_ENDING);
    text_begin(&text, files->next, sizeof(files->next));
    text_add_bytes(&text, files->spool, directory);
    text_add(&text, ".");
    text_add(&text, files->spool + directory);
    text_add(&text, ".next");
}

static void
name_plain_spool(char *path, const struct config_files *files)
{
    size_t stem = stem_of(files->outputs[0]);
    memcpy(path, files->outputs[0], stem);
    strcpy(path + stem, SPOOL_ENDING);
}

/* NUMBER is 0 for the plain name. */
static void
name_spool(const struct config *config, struct config_files *files,
           unsigned number)
{
    name_plain_spool(files->spool, files);
    files->beside = number;
    if (number > 0)
        insert_word(files->spool, "spool", number);
    files->past[0] = files->next[0] = '\0';
    if (config->options.keep.number != 0)
        name_others(files);
}

/* When this process began, in ns since the epoch: an exec does not change it.
 * Field 22 of /proc/self/stat, in ticks since boot (proc(5)). 0: not known. */
static uint64_t
process_start(void)
{
    char stat[1024];
    struct timespec up;
    if (proc_read(0, PROC_PROCESS, "/stat", stat, sizeof(stat)) <= 0)
        return 0;
    uint64_t ticks = proc_number(proc_stat_field(stat, 22));
    if (ticks == 0)
        return 0;
    clock_gettime(CLOCK_BOOTTIME, &up);
    uint64_t since_boot =
        (uint64_t)up.tv_sec * NS_PER_SECOND + (uint64_t)up.tv_nsec;
    return clock_realtime() - since_boot +
           ticks * (NS_PER_SECOND / (uint64_t)sysconf(_SC_CLK_TCK));
}

/* Whether PATH with ".WORDn" is in use. A file of an earlier run may be
 * replaced, unless its name HAS_PID: then it is another process's. */
static bool
is_taken(const char *path, const char *word, uint64_t n, bool has_pid,
         uint64_t since)
{
    char name[PATH_MAX];
    struct stat status;
    strcpy(name, path);
    insert_word(name, word, n);
    return sys_stat(name, &status) == 0 &&
           (has_pid || (uint64_t)status.st_mtime + 1 >= since / NS_PER_SECOND);
}

int
config_remove_spools(const struct config_files *files, bool present)
{
    int result = 0;
    if (present && !claim_is_other(files->spool, files->pid, files->start))
        result = unlink(files->spool);
    if (files->past[0] != '\0' &&
        !claim_is_other(files->past, files->pid, files->start))
        unlink(files->past);
    return result;
}

bool
config_name_beside(struct config_files *files)
{
    if (files->past[0] != '\0' || files->beside + 1 >= SPOOLS_MAX)
        return false;
    name_plain_spool(files->spool, files);
    insert_word(files->spool, "spool", ++files->beside);
    return true;
}

void
config_take_plain_name(struct config_files *files)
{
    char plain[PATH_MAX];
    if (files->beside == 0 || files->past[0] != '\0')
        return;
    name_plain_spool(plain, files);
    for (unsigned i = 0; i < files->count && files->beside != 0; i++)
        if (strcmp(files->outputs[i], plain) == 0 &&
            rename(files->spool, plain) == 0) {
            strcpy(files->spool, plain);
            files->beside = 0;
        }
}

/* The spool already has the name TO, and so has that of the past. */
static void
rename_others(struct config_files *files, const char *to)
{
    char from[PATH_MAX];
    strcpy(from, files->past);
    strcpy(files->spool, to);
    if (from[0] == '\0')
        return;
    name_others(files);
    (void)!rename(from, files->past);
}

int
config_rename_for_exec(struct config_files *files)
{
    char from[PATH_MAX], to[PATH_MAX];
    uint64_t since = process_start();
    strcpy(from, files->spool);
    for (uint64_t n = 1; n < EXEC_MAX; n++) {
        if (is_taken(files->outputs[0], "exec", n, files->has_pid[0], since))
            continue;
        strcpy(to, from);
        insert_word(to, "exec", n);
        if (renameat2(AT_FDCWD, from, AT_FDCWD, to, RENAME_NOREPLACE) == 0) {
            rename_others(files, to);
            for (unsigned i = 0; i < files->count; i++)
                insert_word(files->outputs[i], "exec", n);
            return 0;
        }
        if (errno != EEXIST)
            return -1;
    }
    return -1;
}

/* Bytes of the program's name in the name of a dump, as `sprofile record` has
 * them in that of a profile. */
enum { DUMP_NAME = 200 };

/* The directory of a recording is removed at its end, but a dump is to stay.
 * Name it beside the directory, where the recording's own profile is, as a
 * spool, which has all data. */
static void
leave_recording(const struct config *config, struct config_files *dump)
{
    char *path = dump->outputs[0];
    char *directory = strstr(path, "/" RECORDING_DIRECTORY);
    const char *name = path_name(config->exe);
    struct text text;
    if (directory == NULL || strchr(directory + 1, '/') != path_name(path) - 1)
        return;
    text_begin(&text, directory, PATH_MAX - (size_t)(directory - path));
    text_add(&text, "/sprof.");
    text_add_bytes(&text, name, strnlen(name, DUMP_NAME));
    text_add(&text, ".");
    text_add_number(&text, (uint64_t)dump->pid);
    text_add(&text, SPOOL_ENDING);
    dump->count = 1;
}

int
config_name_dump(const struct config *config, const struct config_files *files,
                 const char *word, struct config_files *dump)
{
    uint64_t since = process_start();
    *dump = *files;
    leave_recording(config, dump);
    for (uint64_t n = 1; n < EXEC_MAX; n++) {
        if (is_taken(dump->outputs[0], word, n, dump->has_pid[0], since))
            continue;
        for (unsigned i = 0; i < dump->count; i++)
            insert_word(dump->outputs[i], word, n);
        return 0;
    }
    return -1;
}

/* Put a part that is unique to process PID before the ending of output I: its
 * pid, unless the name has it, and then a number. */
static void
mark_name(struct config_files *files, unsigned i, pid_t pid, unsigned attempt)
{
    unsigned number = attempt + files->has_pid[i];
    if (!files->has_pid[i])
        insert_word(files->outputs[i], "", (uint64_t)pid);
    if (number > 1)
        insert_word(files->outputs[i], "", number);
    files->has_pid[i] = true;
}

/* Find the files in the way of the spools in FILES, including that of the
 * past. */
struct obstacles {
    enum claim present, past;
};

static struct obstacles
look_at_spools(const struct config_files *files, pid_t pid)
{
    return (struct obstacles){.present =
                                  claim_look(files->spool, pid, process_start),
                              .past = files->past[0] != '\0'
                                          ? claim_look(files->past, pid,
                                                       process_start)
                                          : CLAIM_NONE};
}

bool
config_keeps_spool(const struct config *config)
{
    return config->options.keep_spool.number != 0 ||
           config->options.symbolize.number == OPTION_SYMBOLIZE_OFF;
}

/* Whether the file that CLAIM describes must stay where it is. */
static bool
has_to_stay(const struct config *config, enum claim claim)
{
    return claim == CLAIM_RESULT ||
           (claim == CLAIM_WANTED && !config_keeps_spool(config));
}

/* Move or remove the file at PATH, which CLAIM describes. */
static bool
clear_path(const struct config_files *files, const char *path, enum claim claim)
{
    struct config_files earlier = *files;
    if (claim == CLAIM_EARLIER)
        return config_rename_for_exec(&earlier) == 0;
    return claim == CLAIM_NONE || claim_remove(path) == 0;
}

/* Name the spool in FILES, whose outputs have no pid in their names. A look at
 * one more name finds a process that began while other names were free. */
static bool
take_spool_name(const struct config *config, struct config_files *files,
                pid_t pid)
{
    struct obstacles found = {CLAIM_NONE, CLAIM_NONE};
    unsigned number = SPOOLS_MAX;
    for (unsigned i = 0; i < SPOOLS_MAX; i++) {
        name_spool(config, files, i);
        struct obstacles now = look_at_spools(files, pid);
        if (now.present == CLAIM_LIVING || now.past == CLAIM_LIVING)
            return false;
        if (has_to_stay(config, now.present) || has_to_stay(config, now.past))
            continue;
        if (number == SPOOLS_MAX) {
            number = i;
            found = now;
        }
        if (i > 0)
            break;
    }
    name_spool(config, files, number);
    return number < SPOOLS_MAX &&
           clear_path(files, files->spool, found.present) &&
           clear_path(files, files->past,
                      found.present != CLAIM_EARLIER ? found.past : CLAIM_NONE);
}

/* The spool in FILES has a name that only this process uses. Only the file of
 * an earlier image of the same process is moved. */
static bool
take_only_name(const struct config_files *files, pid_t pid)
{
    struct obstacles found = look_at_spools(files, pid);
    if (found.present == CLAIM_EARLIER)
        return clear_path(files, files->spool, CLAIM_EARLIER);
    return found.present == CLAIM_NONE && found.past == CLAIM_NONE;
}

/* Whether this process may have all names in FILES, one of which is the
 * spool's. */
static bool
take_names(const struct config *config, struct config_files *files, pid_t pid)
{
    struct stat unused;
    if (files->has_pid[0] ? !take_only_name(files, pid)
                          : !take_spool_name(config, files, pid))
        return false;
    for (unsigned i = 0; i < files->count; i++)
        if (files->has_pid[i] && lstat(files->outputs[i], &unused) == 0)
            return false;
    return true;
}

void
config_spare_variable(const struct config *config, char *error, size_t size)
{
    static const char blame[] = "SPROF_OUTPUT: ";
    struct text text;
    size_t length = sizeof(blame) - 1;
    if (config->options.is_output_given || strncmp(error, blame, length) != 0)
        return;
    memmove(error, error + length, strlen(error + length) + 1);
    length = strlen(error);
    text_begin(&text, error + length, size - length);
    text_add(&text, "; SPROF_OUTPUT can name another place");
}

int
config_names(const struct config *config, pid_t pid, unsigned attempt,
             struct config_files *files, char *error, size_t size)
{
    if (expand_outputs(config, pid, files, error, size) != 0) {
        config_spare_variable(config, error, size);
        return -1;
    }
    for (unsigned i = 0; attempt > 0 && i < files->count; i++)
        mark_name(files, i, pid, attempt);
    name_spool(config, files, 0);
    return 0;
}

int
config_name_files(const struct config *config, pid_t pid, unsigned attempt,
                  struct config_files *files, char *error, size_t size)
{
    if (config_names(config, pid, attempt, files, error, size) != 0)
        return -1;
    for (unsigned i = 0; i < files->count; i++)
        if (strcmp(files->outputs[i], files->past) == 0)
            return fail(error, size, "expected another name than ", files->past,
                        ", which SPROF_KEEP takes");
    return take_names(config, files, pid) ? 0 : 1;
}

/*
 * Every child of a `make` has the same wrong variable, and one line is enough.
 * The environment is the program's, so it cannot record that the line was
 * printed. The kernel shows it: the parent has printed the line if it started
 * with the same variable (proc(5), /proc/PID/environ) and with this library
 * (/proc/PID/maps). If those cannot be read, the line counts as not printed.
 * Without an error they are not read.
 */
enum {
    LINES_MOST = 8, /* limit of the lines of one process */
    NAME_MOST = 128,
    READ_MOST = 4096 /* bytes at a time */
};

#define LIBRARY "/libsprof.so"

/* Whether SOUGHT of LENGTH bytes is in TEXT of SIZE. */
static bool
is_in(const char *text, size_t size, const char *sought, size_t length)
{
    for (size_t i = 0; i + length <= size; i++)
        if (memcmp(text + i, sought, length) == 0)
            return true;
    return false;
}

/* Whether the parent's /proc/PID/NAME has SOUGHT of LENGTH bytes. SOUGHT may
 * begin with the NUL that ends a string; one NUL is taken to precede the first
 * string. */
static bool
has_parent(const char *name, const char *sought, size_t length)
{
    char path[PROC_PATH_SIZE], text[NAME_MOST + READ_MOST] = {0};
    size_t kept = 1;
    bool found = false;
    long got = 1;
    long fd = sys_open(proc_path(path, getppid(), PROC_PROCESS, name),
                       O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return false;
    while (!found && got > 0) {
        got = sys_read((int)fd, text + kept, READ_MOST);
        size_t size = kept + (got > 0 ? (size_t)got : 0);
        found = is_in(text, size, sought, length);
        /* SOUGHT may lie across two reads. */
        kept = size < length ? size : length;
        memmove(text, text + size - kept, kept);
    }
    sys_close((int)fd);
    return found;
}

/* Whether the parent has printed a line about the variable that begins with the
 * LENGTH bytes at VARIABLE: its name, or all of it with its NUL. */
static bool
is_told(const char *variable, size_t length)
{
    char sought[NAME_MOST] = {0};
    if (length > sizeof(sought) - 1)
        length = sizeof(sought) - 1;
    memcpy(sought + 1, variable, length);
    return has_parent("/environ", sought, length + 1) &&
           has_parent("/maps", LIBRARY, sizeof(LIBRARY) - 1);
}

void
config_refuse(const char *error, char *const environment[])
{
    size_t length = strcspn(error, "=") + 1;
    for (; *environment != NULL; environment++)
        if (strncmp(*environment, error, length) == 0 &&
            is_told(*environment, strlen(*environment) + 1))
            return;
    note(NOTE_ERROR, error, "; not profiling", NULL);
}

void
config_tell_misspelt(char *const environment[])
{
    char name[NAME_MOST];
    const char *variable;
    for (unsigned lines = 0; lines < LINES_MOST; lines++) {
        struct text text;
        variable = options_unknown(&environment);
        if (variable == NULL)
            return;
        if (is_told(variable, strcspn(variable, "=") + 1))
            continue;
        text_begin(&text, name, sizeof(name));
        text_add_bytes(&text, variable, strcspn(variable, "="));
        note(NOTE_ERROR, name, " is not a setting; did you mean ",
             options_nearest(variable), "?", NULL);
    }
}
