#!/bin/bash
# SPDX-License-Identifier: MIT
#
# What only one machine has stands in the folders that bear its name: registers,
# instructions, the kernel's and libunwind's names for them, and system calls
# that other machines lack. arch_allowed.txt lists the rows of tables that name
# a machine elsewhere. A line there that is not needed any more is a fault, too.
. "$(dirname "$0")/lib.sh"

names='\bREG_R([A-D]X|[SD]I|[SBI]P|[0-9]+)\b|\bgregs(et_t)?\b|\bgreg_t\b'
names+='|\b[er]([abcd]x|[sd]i|[sbi]p)\b|%r[0-9]+|\b__x86_64__\b'
names+='|\b0x0f, 0x05\b|\bUNW_X86_64_\w+|\b_Ux86_64_\w+'
names+='|\blibunwind-x86_64\b|\b(EM|R)_X86_64\w*|\b__asm__ volatile\b'

# The system calls of a machine that has no old ones (aarch64's asm/unistd.h).
new_calls() {
    printf '#define __ARCH_WANT_%s\n' RENAMEAT NEW_STAT SET_GET_RLIMIT \
        TIME32_SYSCALLS SYS_CLONE3 |
        cat - <(echo '#include <asm-generic/unistd.h>') | cc -E -dM -x c - |
        sed -n 's/^#define __NR_\([a-z0-9_]*\) .*/SYS_\1/p'
}

# FILE NAME: whether arch_allowed.txt has this name for this file.
is_allowed() {
    list_pairs | grep -qxF -- "$1 $2"
}

list_pairs() {
    sed -e 's/#.*//' "$here/arch_allowed.txt" | awk 'NF { print $1, $2 }'
}

# FILE:LINE:NAME of all names that NAMES, an expression, finds.
find_names() {
    (cd "$source" && c_sources src | sed "s|^$source/||" |
        grep -vE '/(x86_64|aarch64)/' | xargs grep -noE -- "$1")
}

calls=$(new_calls)
[ -n "$calls" ] || skip "asm-generic/unistd.h is not installed"
found=$(
    find_names "$names"
    # SYS_name, also where a row pastes it from CALL(name).
    find_names '\bSYS_[a-z0-9_]+|^ *CALL\([a-z0-9_]+\),$' |
        sed 's/: *CALL(\(.*\)),/:SYS_\1/' |
        grep -vxE ".*:($(echo $calls | tr ' ' '|'))"
)
while IFS=: read -r file line name; do
    [ -z "$file" ] || is_allowed "$file" "$name" ||
        complain "$file:$line: $name: only one machine has that: move it to" \
            "a folder of its name, or add a row to arch_allowed.txt"
done <<<"$found"
while read -r file name; do
    grep -q "^$file:[0-9]*:$name\$" <<<"$found" ||
        complain "arch_allowed.txt: $file $name: not needed any more: delete it"
done < <(list_pairs)
finish
