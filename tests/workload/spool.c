/* SPDX-License-Identifier: MIT */
/* spool.c -- see spool.h. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "spool.h"

struct writer *spool_writer;

uint64_t
spool_append(enum record_kind kind, const void *record, size_t size,
             const struct writer_tail *tail, size_t parts)
{
    uint64_t place =
        writer_append(spool_writer, kind, record, size, tail, parts);
    if (place == 0) {
        perror("writer_append");
        exit(1);
    }
    return place;
}

void
spool_process(uint32_t pid, const char *exe, const char *command)
{
    static const char version[] = "0.1.0", host[] = "host";
    const struct record_process record = {.period = 1000000,
                                          .pid = pid,
                                          .ppid = 1,
                                          .exe_length =
                                              (uint16_t)(strlen(exe) + 1),
                                          .command_length =
                                              (uint16_t)(strlen(command) + 1),
                                          .version_length = sizeof version,
                                          .host_length = sizeof host};
    const struct writer_tail tail[] = {{exe, record.exe_length},
                                       {command, record.command_length},
                                       {version, sizeof version},
                                       {host, sizeof host}};
    spool_append(RECORD_PROCESS, &record, sizeof record, tail, 4);
}

void
spool_module(uint32_t id, uint64_t base, const char *path,
             const uint8_t *build_id, uint32_t length)
{
    const struct record_module record = {.id = id,
                                         .base = base,
                                         .start = base,
                                         .end = base + 0x100000,
                                         .build_id_length = (uint16_t)length,
                                         .path_length =
                                             (uint16_t)(strlen(path) + 1)};
    const struct writer_tail tail[] = {{build_id, length},
                                       {path, record.path_length}};
    spool_append(RECORD_MODULE, &record, sizeof record, tail, 2);
}

void
spool_thread(uint32_t id, uint32_t tid, const char *name)
{
    const struct record_thread record = {.id = id,
                                         .tid = tid,
                                         .name_length =
                                             (uint16_t)(strlen(name) + 1)};
    const struct writer_tail tail = {name, record.name_length};
    spool_append(RECORD_THREAD, &record, sizeof record, &tail, 1);
}

void
spool_text(uint32_t id, const char *string)
{
    const struct record_text record = {.id = id,
                                       .text_length =
                                           (uint16_t)(strlen(string) + 1)};
    const struct writer_tail tail = {string, record.text_length};
    spool_append(RECORD_TEXT, &record, sizeof record, &tail, 1);
}

uint32_t
spool_node(uint32_t parent, uint32_t in, uint64_t offset, uint32_t flags)
{
    static uint32_t last;
    const struct record_node record = {.id = ++last,
                                       .parent = parent,
                                       .module = in,
                                       .flags = flags,
                                       .offset = offset};
    spool_append(RECORD_NODE, &record, sizeof record, NULL, 0);
    return last;
}
