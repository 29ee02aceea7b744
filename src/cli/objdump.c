/* SPDX-License-Identifier: MIT */
/*
 * objdump.c -- asks for the function by its name in the symbol table. If the
 * file has no such name, it asks for the code between the first and the last
 * sample. objdump prints
 *
 *   0000000000001190 <outer>:
 *       1190:	call   1040 <step>
 *
 * and a block for each function of that name; those without samples are left
 * out.
 */
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "symbol/elf_view.h"
#include "util/array.h"
#include "util/number.h"
#include "objdump.h"

/* Limit of the bytes of an instruction (x86-64; aarch64 has 4). */
enum { LONGEST = 15 };

/* Limit of the bytes of a build-id that are compared. */
enum { BUILD_ID_MOST = 64 };

/* A copy of the environment in which programs speak English and look for
 * nothing on servers. NULL if memory is short. */
static char **
plain_environment(void)
{
    static char locale[] = "LC_ALL=C", servers[] = "DEBUGINFOD_URLS=";
    size_t count = 0, kept = 0;
    while (environ[count] != NULL)
        count++;
    char **plain = calloc(count + 3, sizeof(*plain));
    for (size_t i = 0; plain != NULL && i < count; i++)
        if (strncmp(environ[i], "LC_ALL=", 7) != 0 &&
            strncmp(environ[i], "LD_PRELOAD=", 11) != 0 &&
            strncmp(environ[i], servers, strlen(servers)) != 0)
            plain[kept++] = environ[i];
    if (plain != NULL) {
        plain[kept++] = locale;
        plain[kept] = servers;
    }
    return plain;
}

/* Start objdump with ARGUMENTS and its output into TO. Returns 0, or an
 * errno. */
static int
spawn(pid_t *pid, char *const *arguments, int to)
{
    posix_spawn_file_actions_t files;
    char **environment = plain_environment();
    int error =
        environment != NULL ? posix_spawn_file_actions_init(&files) : ENOMEM;
    if (error == 0) {
        posix_spawn_file_actions_addopen(&files, STDIN_FILENO, "/dev/null",
                                         O_RDONLY, 0);
        posix_spawn_file_actions_adddup2(&files, to, STDOUT_FILENO);
        posix_spawn_file_actions_addopen(&files, STDERR_FILENO, "/dev/null",
                                         O_WRONLY, 0);
        error = posix_spawnp(pid, arguments[0], &files, NULL, arguments,
                             environment);
        posix_spawn_file_actions_destroy(&files);
    }
    free(environment);
    return error;
}

/* Read FD to its end, at most OBJDUMP_BYTES, until the deadline. Returns the
 * text, which the caller frees; NULL if it is not complete. */
static char *
read_all(int fd)
{
    uint64_t until = clock_now() + OBJDUMP_SECONDS * NS_PER_SECOND;
    char *text = malloc(OBJDUMP_BYTES + 1);
    size_t length = 0;
    while (text != NULL && length < OBJDUMP_BYTES) {
        struct pollfd event = {.fd = fd, .events = POLLIN};
        uint64_t now = clock_now();
        int wait = now < until ? (int)((until - now) / 1000000) : 0;
        int ready = poll(&event, 1, wait);
        ssize_t got = -1;
        if (ready > 0)
            got = read(fd, text + length, OBJDUMP_BYTES - length);
        if (got == 0) {
            text[length] = '\0';
            return text;
        }
        if (ready == 0 || (got < 0 && errno != EINTR))
            break;
        length += got > 0 ? (size_t)got : 0;
    }
    free(text);
    return NULL;
}

/* What objdump prints with ARGUMENTS, which the caller frees; NULL with the
 * reason in ERROR. */
static char *
run(char *const *arguments, char *error, size_t size)
{
    int ends[2];
    pid_t pid;
    if (pipe2(ends, O_CLOEXEC) != 0) {
        snprintf(error, size, "objdump cannot be run: %s", strerror(errno));
        return NULL;
    }
    int problem = spawn(&pid, arguments, ends[1]);
    close(ends[1]);
    if (problem != 0) {
        snprintf(error, size,
                 "objdump, which shows machine code, cannot be run: %s; it is "
                 "in the package binutils",
                 strerror(problem));
        close(ends[0]);
        return NULL;
    }
    char *text = read_all(ends[0]);
    close(ends[0]);
    if (text == NULL) {
        kill(pid, SIGKILL);
        snprintf(error, size,
                 "objdump printed more than %d MiB, or took longer than %d s",
                 OBJDUMP_BYTES >> 20, OBJDUMP_SECONDS);
    }
    int status;
    while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
        ;
    return text;
}

/* Whether the COUNT instructions at FIRST have a sample of CODE. */
static bool
has_samples(const struct code *code, const struct code_instruction *first,
            size_t count)
{
    for (uint32_t i = 0; count > 0 && i < code->count; i++)
        if (code->places[i].offset >= first->offset &&
            code->places[i].offset < first[count - 1].offset + LONGEST)
            return true;
    return false;
}

/* Take "    1190:\tcall   1040 <step>" as an instruction. Returns 0 (also if it
 * is none), or -1 if memory is short. */
static int
take_line(struct objdump *objdump, char *line)
{
    char *end;
    errno = 0;
    unsigned long long offset = strtoull(line, &end, 16);
    if (line[0] != ' ' || end[0] != ':' || end[1] != '\t' || errno != 0)
        return 0;
    if (!ARRAY_GROW(objdump->all, objdump->count))
        return -1;
    for (char *at = end + 2; *at != '\0'; at++)
        if ((unsigned char)*at < ' ' || *at == 0x7f)
            *at = ' ';
    objdump->all[objdump->count++] = (struct code_instruction){offset, end + 2};
    return 0;
}

/* For qsort. */
static int
compare_offsets(const void *a, const void *b)
{
    const struct code_instruction *one = a, *two = b;
    return (one->offset > two->offset) - (one->offset < two->offset);
}

/* Take the blocks with samples of what objdump printed. */
static int
take_text(struct objdump *objdump, const struct code *code)
{
    size_t block = 0;
    char *rest = NULL;
    int status = 0;
    for (char *line = strtok_r(objdump->text, "\n", &rest);
         line != NULL && status == 0; line = strtok_r(NULL, "\n", &rest)) {
        status = take_line(objdump, line);
        if (line[0] == ' ')
            continue;
        if (!has_samples(code, objdump->all + block, objdump->count - block))
            objdump->count = block;
        block = objdump->count;
    }
    if (!has_samples(code, objdump->all + block, objdump->count - block))
        objdump->count = block;
    if (objdump->count > 0)
        qsort(objdump->all, objdump->count, sizeof(*objdump->all),
              compare_offsets);
    return status;
}

/* One disassembly request. */
struct request {
    const struct code *code;
    const char *program;
    const char *path; /* of the file that is disassembled */
    char *error;      /* of SIZE bytes */
    size_t size;
};

/* Run the program with one or two more options. */
static int
ask(struct objdump *objdump, const struct request *request, char *option,
    char *second)
{
    char *arguments[] = {(char *)request->program,
                         (char *)"--disassemble",
                         (char *)"--no-show-raw-insn",
                         option,
                         second,
                         (char *)"--",
                         (char *)request->path,
                         NULL};
    objdump_release(objdump);
    objdump->text = run(arguments, request->error, request->size);
    if (objdump->text == NULL)
        return -1;
    if (take_text(objdump, request->code) == 0)
        return 0;
    snprintf(request->error, request->size, "%s", strerror(errno));
    return -1;
}

static int
ask_by_name(struct objdump *objdump, const struct request *request)
{
    char *option;
    if (request->code->linkage[0] == '\0' ||
        asprintf(&option, "--disassemble=%s", request->code->linkage) < 0)
        return 0;
    int status = ask(objdump, request, option, (char *)"--wide");
    free(option);
    return status;
}

/* An address of a caller lies within its call; the next instruction begins one
 * byte later. */
static int
ask_by_range(struct objdump *objdump, const struct request *request)
{
    char first[64], last[64];
    const struct code *code = request->code;
    const struct code_place *place = &code->places[0];
    bool is_leaf = (place->flat[VALUE_SAMPLES] | place->flat[VALUE_CPU] |
                    place->flat[VALUE_WALL]) != 0;
    snprintf(first, sizeof(first), "--start-address=0x%llx",
             (unsigned long long)place->offset + !is_leaf);
    snprintf(last, sizeof(last), "--stop-address=0x%llx",
             (unsigned long long)code->places[code->count - 1].offset +
                 LONGEST + 1);
    return ask(objdump, request, first, last);
}

/* Ask the program of REQUEST. Returns 0 if it has disassembled the code. */
static int
ask_program(struct objdump *objdump, const struct request *request)
{
    if (ask_by_name(objdump, request) != 0 ||
        (objdump->count == 0 && ask_by_range(objdump, request) != 0))
        return -1;
    if (objdump->count > 0)
        return 0;
    snprintf(request->error, request->size,
             "its file has no symbol of this name");
    return -1;
}

/* Whether MACHINE (e_machine) is that of this program. */
static bool
is_own(uint32_t machine)
{
    struct elf_view own;
    if (elf_view_open(&own, "/proc/self/exe") != 0)
        return true;
    uint32_t number = ((const Elf64_Ehdr *)(const void *)own.bytes)->e_machine;
    elf_view_close(&own);
    return number == machine;
}

/* The program for files of MACHINE, which is not this one, as distributions
 * call it; NULL if it is not known. */
static const char *
program_of(uint32_t machine)
{
    static const struct {
        uint32_t machine;
        const char *program;
    } programs[] = {{EM_X86_64, "x86_64-linux-gnu-objdump"},
                    {EM_AARCH64, "aarch64-linux-gnu-objdump"}};
    for (size_t i = 0; i < sizeof(programs) / sizeof(*programs); i++)
        if (programs[i].machine == machine)
            return programs[i].program;
    return NULL;
}

/* Why the file of MODULE, which is at PATH, cannot be disassembled; NULL if it
 * can. */
static const char *
problem_of(const struct profile *profile, const struct profile_module *module,
           const char *path)
{
    struct stat status;
    const char *problem = symbolizer_problem(profile->symbols, module->symbols);
    if (problem != NULL)
        return problem;
    if (module->path[0] != '/')
        return "its module is no file";
    if (stat(path, &status) != 0)
        return strerror(errno);
    if (!S_ISREG(status.st_mode))
        return "its module is no file";
    struct elf_view view;
    uint8_t build_id[BUILD_ID_MOST];
    size_t length = number_bytes(module->build_id, build_id, sizeof(build_id));
    if (elf_view_open(&view, module->path) != 0)
        return NULL;
    bool is_other = elf_view_build_id(&view).at != NULL &&
                    !elf_view_has_build_id(&view, build_id, length);
    elf_view_close(&view);
    return is_other ? "the file at its path has another build-id" : NULL;
}

int
objdump_function(struct objdump *objdump, const struct profile *profile,
                 const struct code *code, char *error, size_t size)
{
    const struct profile_module *module = &profile->modules[code->module];
    char text[PATH_MAX], other[512];
    struct request request = {.code = code,
                              .program = "objdump",
                              .path = elf_view_place(module->path, text),
                              .error = error,
                              .size = size};
    const char *problem = problem_of(profile, module, request.path);
    *objdump = (struct objdump){0};
    if (problem != NULL) {
        snprintf(error, size, "%s", problem);
        return -1;
    }
    if (ask_program(objdump, &request) == 0)
        return 0;
    uint32_t machine = profile->processes[module->process].machine;
    request.program = is_own(machine) ? NULL : program_of(machine);
    request.error = other;
    request.size = sizeof(other);
    return request.program != NULL ? ask_program(objdump, &request) : -1;
}

void
objdump_release(struct objdump *objdump)
{
    free(objdump->text);
    free(objdump->all);
    *objdump = (struct objdump){0};
}
