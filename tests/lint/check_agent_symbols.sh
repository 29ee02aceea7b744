#!/bin/bash
# SPDX-License-Identifier: MIT
#
# The code inside the profiled program never ends it and never touches stdio:
# its objects leave none of these names undefined. The reader of spools is in
# store/ but runs outside the program, so its two files are excused.
. "$(dirname "$0")/lib.sh"

forbidden='abort|exit|_exit|quick_exit|__assert_fail|__assert|stdout|stderr'
forbidden+='|stdin|(__)?v?(f|s|sn|d|as)?printf(_chk)?|puts|fputs|putchar|fputc'
forbidden+='|putc|fwrite|fread|fopen|fdopen|fclose|fflush|perror|getenv'
forbidden+='|system|popen|dwfl_.*|dwarf_.*|g?elf_(begin|memory|end)|inflate.*|deflate.*'

# OBJECT NAME: uses that stand in the list, with their reason.
is_excused() {
    list "$here/agent_symbols_allowed.txt" | grep -qxF -- "$1:$2"
}

for folder in base "base_$machine" libc process store unwind "unwind_$machine" \
    signals capture labels journal sampling sampling_trigger agent hooks; do
    archive=$build/libsprof_$folder.a
    [ -e "$archive" ] || { complain "$archive: not built"; continue; }
    while read -r object name; do
        case $folder/$object in store/reader*) continue ;; esac
        is_excused "$folder/${object%%.*}" "$name" ||
            complain "$folder/$object calls $name: use base/note.h or" \
                "base/text.h, or add a row to agent_symbols_allowed.txt"
    done < <(nm -A --undefined-only "$archive" |
        sed -n 's/^[^:]*:\([^:]*\):.* U \(.*\)$/\1 \2/p' |
        grep -E " ($forbidden)$")
done
finish
