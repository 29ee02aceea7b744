/* SPDX-License-Identifier: MIT */
/*
 * maps.c -- the lines of /proc/self/maps; see maps.h. When the main thread has
 * called pthread_exit, the kernel shows its maps as empty though the process
 * lives on: then they are read by way of thread-self. Not in the first place:
 * an emulator shows the program's own mappings under the usual name alone
 * (qemu-user).
 */
#include <fcntl.h>
#include <string.h>

#include "base/digits.h"
#include "base/sys.h"
#include "maps.h"
#include "base/poison.h"

static bool
begin_with(struct maps *maps, const char *path)
{
    maps->at = maps->filled = 0;
    maps->fd = (int)sys_open(path, O_RDONLY);
    return maps->fd >= 0;
}

void
maps_end(struct maps *maps)
{
    sys_close(maps->fd);
}

/* The hexadecimal number at *AT, and the character after it. */
static uint64_t
take_hex(const char **at)
{
    uint64_t number = digits_take_hex(at);
    *at += **at != '\0';
    return number;
}

/* "start-end rwxp offset major:minor inode   path". A path may hold anything
 * but a newline, which the kernel shows as \012. It is the rest of the line. */
static void
parse_line(const char *line, struct mapping *mapping)
{
    const char *p = line;
    mapping->start = take_hex(&p);
    mapping->end = take_hex(&p);
    size_t rights = strcspn(p, " ");
    mapping->readable = rights == 4 && p[0] == 'r';
    mapping->writable = rights == 4 && p[1] == 'w';
    mapping->executable = rights == 4 && p[2] == 'x';
    p += rights + (p[rights] == ' ');
    mapping->offset = take_hex(&p);
    mapping->device = take_hex(&p) << 32;
    mapping->device |= take_hex(&p);
    mapping->inode = digits_take(&p);
    p += strspn(p, " ");
    mapping->path = p;
    size_t length = strlen(p), mark = sizeof(MAPS_DELETED) - 1;
    mapping->deleted =
        length > mark && strcmp(p + length - mark, MAPS_DELETED) == 0;
}

/* Move the unread rest to the front and read more after it. A line longer than
 * the buffer, which PATH_MAX rules out, would end the list. */
static bool
fill(struct maps *maps)
{
    size_t rest = maps->filled - maps->at;
    memmove(maps->buffer, maps->buffer + maps->at, rest);
    maps->at = 0;
    maps->filled = rest;
    long got = sys_read(maps->fd, maps->buffer + rest, MAPS_BUFFER - rest);
    if (got <= 0)
        return false;
    maps->filled += (size_t)got;
    return true;
}

int
maps_begin(struct maps *maps)
{
    maps->is_emulated = false;
    if (begin_with(maps, "/proc/self/maps") && fill(maps))
        return 0;
    maps_end(maps);
    return begin_with(maps, "/proc/thread-self/maps") ? 0 : -1;
}

int
maps_begin_emulated(struct maps *maps)
{
    int result = maps_begin(maps);
    maps->is_emulated = true;
    return result;
}

int
maps_next(struct maps *maps, struct mapping *mapping)
{
    for (;;) {
        char *line = maps->buffer + maps->at;
        char *end = memchr(line, '\n', maps->filled - maps->at);
        if (end != NULL) {
            *end = '\0';
            maps->at = (size_t)(end - maps->buffer) + 1;
            parse_line(line, mapping);
            if (maps->is_emulated && mapping->path[0] == '/')
                mapping->executable = mapping->readable;
            return 1;
        }
        if (!fill(maps))
            return 0;
    }
}
