/* SPDX-License-Identifier: MIT */
/*
 * move_phdrs.c -- writes a copy of a library whose program headers lie
 * elsewhere: "inside", where it has room for them; "outside", after the end of
 * the file, where no segment has them.
 *
 * Arguments: inside or outside; the library; the copy.
 */
#include <elf.h>
#include <err.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define FILE_MAX (8u << 20)

static uint8_t file[FILE_MAX];

/* Where the room begins. */
static size_t
find_room(size_t length)
{
    static const char mark[] = "room for headers";
    uint8_t *room = memmem(file, length, mark, sizeof(mark) - 1);

    if (room == NULL)
        errx(1, "the library has no room");
    return (size_t)(room - file + 63) & ~63ul;
}

int
main(int argc, char **argv)
{
    FILE *in = argc == 4 ? fopen(argv[2], "rb") : NULL;
    FILE *out = in != NULL ? fopen(argv[3], "wb") : NULL;
    Elf64_Ehdr *head = (Elf64_Ehdr *)file;

    if (out == NULL)
        errx(1, "expected inside|outside LIBRARY COPY");
    size_t length = fread(file, 1, FILE_MAX / 2, in);
    size_t size = head->e_phnum * sizeof(Elf64_Phdr);
    size_t end = (length + 7) & ~7ul;
    size_t to = strcmp(argv[1], "inside") == 0 ? find_room(length) : end;

    memcpy(file + to, file + head->e_phoff, size);
    memset(file + head->e_phoff, 0, size);
    head->e_phoff = to;
    length = to + size > length ? to + size : length;
    if (fwrite(file, 1, length, out) != length || fclose(out) != 0)
        err(1, "%s", argv[3]);
    return 0;
}
