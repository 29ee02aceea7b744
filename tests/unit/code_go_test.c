/* SPDX-License-Identifier: MIT */
/*
 * code_go_test.c -- what the code of Go's functions says of their frames,
 * against Go's own table. It has no FDEs: .gopclntab says for each pc how far
 * sp is below its value at the entry (Go's src/runtime/symtab.go, pcHeader and
 * _func; src/internal/abi/symtab.go). The program is built for this machine.
 * Nothing of it is run.
 */
#include <elf.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/arch.h"
#include "unwind/code_effect.h"
#include "unwind/code_flow.h"

#define GOARCH (ARCH_HAS_LINK ? "arm64" : "amd64")

/* The layout of the table since Go 1.20. */
#define MAGIC 0xfffffff1u
struct header {
    uint32_t magic;
    uint8_t zero[2], quantum, pointer; /* bytes of an instruction */
    uint64_t functions, files, text, names, units, file_names, values, table;
};
struct entry {
    uint32_t at, function; /* relative to the text, and to the table */
};
struct function {
    uint32_t entry, name, arguments, defer, sp, rest[5];
    uint8_t id, flags;
};

/* A function that writes sp by itself: its table says nothing of that. */
#define WRITES_SP 2

static struct {
    const uint8_t *text, *table; /* sections of the file */
    size_t text_size;
} program;
static struct code_flow flow;
static unsigned functions, proved, rows, silent, different;

/* Build a program in a folder that goes with it. Returns NULL if there is no
 * Go. */
static const uint8_t *
build_program(void)
{
    char folder[] = "/tmp/code_go_test.XXXXXX", command[1024], path[64];
    struct stat is;
    if (mkdtemp(folder) == NULL)
        return NULL;
    snprintf(command, sizeof(command),
             "cd %s && printf 'package main\nimport \"os\"\n"
             "func main() { os.Stdout.WriteString(\"ok\") }\n' >main.go && "
             "command -v go >/dev/null && GO111MODULE=off CGO_ENABLED=0 "
             "GOFLAGS= GOOS=linux GOARCH=%s timeout 500 "
             "go build -o program main.go",
             folder, GOARCH);
    int result = system(command);
    snprintf(path, sizeof(path), "%s/program", folder);
    int fd = result == 0 ? open(path, O_RDONLY | O_CLOEXEC) : -1;
    void *file = MAP_FAILED;
    if (fd >= 0 && fstat(fd, &is) == 0)
        file = mmap(NULL, (size_t)is.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
    close(fd);
    snprintf(command, sizeof(command), "rm -r %s", folder);
    result = system(command);
    return file == MAP_FAILED ? NULL : file;
}

static void
find_sections(const uint8_t *file)
{
    const Elf64_Ehdr *elf = (const void *)file;
    const Elf64_Shdr *sections = (const void *)(file + elf->e_shoff);
    const char *names =
        (const char *)file + sections[elf->e_shstrndx].sh_offset;
    for (unsigned i = 0; i < elf->e_shnum; i++) {
        const uint8_t *start = file + sections[i].sh_offset;
        if (strcmp(names + sections[i].sh_name, ".text") == 0) {
            program.text = start;
            program.text_size = sections[i].sh_size;
        } else if (strcmp(names + sections[i].sh_name, ".gopclntab") == 0) {
            program.table = start;
        }
    }
}

/* A number of 7 bits a byte, the lowest first. */
static uint32_t
read_number(const uint8_t **at)
{
    uint32_t number = 0;
    for (unsigned shift = 0;; shift += 7) {
        uint8_t byte = *(*at)++;
        number |= (uint32_t)(byte & 127) << shift;
        if (byte < 128)
            return number;
    }
}

/* The table says that at AT the CFA is OFFSET bytes above sp. */
static void
check_pc(uint32_t start, uint32_t at, int32_t offset)
{
    const struct code_state *state = code_flow_state(at - start);
    const struct code_row *row =
        code_flow_row(flow.rows, flow.count, at - start);
    struct code_value base;
    if (state == NULL)
        return;
    rows++;
    if (row == NULL || rule_kind(row->rule) != RULE_FRAME ||
        rule_cfa(row->rule) > RULE_CFA_FP) {
        silent++;
        return;
    }
    base =
        state
            ->registers[rule_cfa(row->rule) == RULE_CFA_SP ? CODE_SP : CODE_FP];
    bool is_by_sp = rule_cfa(row->rule) == RULE_CFA_SP;
    bool is_right = is_by_sp
                        ? rule_cfa_offset(row->rule) == offset
                        : base.kind == VALUE_CFA &&
                              rule_cfa_offset(row->rule) == -base.offset &&
                              state->registers[CODE_SP].kind == VALUE_CFA &&
                              state->registers[CODE_SP].offset == -offset;
    if (!is_right && different++ < 20)
        print_message("text+%#x (function at +%#x): table %d, code %#lx\n", at,
                      start, offset, row->rule.word);
}

/* Compare the rows of the function from START to END with VALUES. ENTRY: how
 * far the CFA is above sp at the entry. */
static void
check_function(uint32_t start, uint32_t end, const uint8_t *values,
               unsigned quantum, int32_t entry)
{
    int32_t value = -1;
    uint32_t at = start;
    functions++;
    if (!code_flow_read(program.text + start, end - start, 0, true, &flow))
        return;
    proved++;
    for (bool is_first = true; at < end; is_first = false) {
        uint32_t change = read_number(&values);
        if (change == 0 && !is_first)
            return;
        value += (int32_t)(change >> 1) ^ -(int32_t)(change & 1);
        uint32_t until = at + read_number(&values) * quantum;
        for (; at < until; at++)
            check_pc(start, at, value + entry);
    }
}

static void
code_says_what_go_says(void **state)
{
    const uint8_t *file = build_program();
    struct code_state entry = {0};

    (void)state;
    if (file == NULL) {
        print_message("skipped: go builds no program here\n");
        skip();
    }
    find_sections(file);
    const struct header *header = (const void *)program.table;
    if (header->magic != MAGIC) {
        print_message("skipped: another table, %#x\n", header->magic);
        skip();
    }
    assert_int_equal(code_flow_begin(), 0);
    code_effect_enter(&entry);
    const uint8_t *table = program.table + header->table;
    const struct entry *entries = (const void *)table;
    for (uint64_t i = 0; i < header->functions; i++) {
        const struct function *function =
            (const void *)(table + entries[i].function);
        uint32_t end = entries[i + 1].at;
        if ((function->flags & WRITES_SP) == 0 && end <= program.text_size)
            check_function(entries[i].at, end,
                           program.table + header->values + function->sp,
                           header->quantum, -entry.registers[CODE_SP].offset);
    }
    print_message("%u of %u functions of Go proved; of %u rows %u silent, "
                  "%u different\n",
                  proved, functions, rows, silent, different);
    assert_true(proved > functions / 2);
    assert_true(rows > 10000 && silent < rows / 4);
    assert_int_equal(different, 0);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(code_says_what_go_says)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
