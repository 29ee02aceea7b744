/* SPDX-License-Identifier: MIT */
/* journal_process.c -- see journal_process.h. */
#include <string.h>
#include <unistd.h>

#include "journal_process.h"

void
journal_process_record(struct process_record *made,
                       const struct record_process *words, const char *exe,
                       const char *command)
{
    const char *const strings[] = {exe, command, SPROF_VERSION, made->host};
    uint16_t lengths[PROCESS_RECORD_PARTS];
    if (gethostname(made->host, sizeof(made->host)) != 0)
        made->host[0] = '\0';
    made->host[sizeof(made->host) - 1] = '\0';
    for (int i = 0; i < PROCESS_RECORD_PARTS; i++) {
        lengths[i] = (uint16_t)(strlen(strings[i]) + 1);
        made->tail[i] = (struct writer_tail){strings[i], lengths[i]};
    }
    made->fixed = *words;
    made->fixed.exe_length = lengths[0];
    made->fixed.command_length = lengths[1];
    made->fixed.version_length = lengths[2];
    made->fixed.host_length = lengths[3];
}
