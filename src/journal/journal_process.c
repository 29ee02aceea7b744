/* SPDX-License-Identifier: MIT */
/* journal_process.c -- see journal_process.h. */
#include <string.h>
#include <unistd.h>

#include "journal_process.h"

/* Bytes of a host name: more than HOST_NAME_MAX of gethostname(2). */
enum { NAME_SIZE = 256 };

void
journal_process_record(struct process_record *made,
                       const struct record_process *words, const char *exe,
                       const char *command)
{
    const char *const strings[] = {exe, command, SPROF_VERSION, made->host};
    uint16_t lengths[PROCESS_RECORD_PARTS];
    char *host = made->host;
    if (gethostname(host, NAME_SIZE) != 0)
        host[0] = '\0';
    host[NAME_SIZE - 1] = '\0';
    for (int i = 0; i < PROCESS_RECORD_PARTS; i++) {
        lengths[i] = (uint16_t)(strlen(strings[i]) + 1);
        made->tail[i] = (struct writer_tail){strings[i], lengths[i]};
    }
    /* A program that does not know of the second text sees the first alone. */
    size_t length = proc_boot(host + lengths[3]);
    if (length > 0) {
        lengths[3] = (uint16_t)(lengths[3] + length + 1);
        made->tail[3].length = lengths[3];
    }
    made->fixed = *words;
    made->fixed.exe_length = lengths[0];
    made->fixed.command_length = lengths[1];
    made->fixed.version_length = lengths[2];
    made->fixed.host_length = lengths[3];
}
