# SPDX-License-Identifier: MIT
#
# lib.sh -- shared by the lints. Sets $source, $build and $machine; complain
# counts, and finish turns the count into the exit status. A lint prints one
# line for each fault: where it is, and what to do.
set -u
export LC_ALL=C
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
source=${SPROF_SOURCE:-$(cd "$here/../.." && pwd)}
build=${SPROF_BUILD:-$source/build}
machine=$(uname -m)
lint=${0##*/check_}
lint=${lint%.sh}
faults=0

complain() {
    echo "$*"
    faults=$((faults + 1))
}

finish() {
    if [ "$faults" -gt 0 ]; then
        echo "$faults fault(s); docs/STYLE.md says why there is lint.$lint"
        exit 1
    fi
    exit 0
}

skip() {
    echo "skipped: $*"
    exit 77
}

# The words of a list file: first column, without comments.
list() {
    sed -e 's/#.*//' "$1" | awk 'NF { print $1 }'
}

# All C and C++ sources, or those under the folders given.
c_sources() {
    local folder
    for folder in "${@:-src}"; do
        [ -d "$source/$folder" ] || continue
        find "$source/$folder" -name '*.[ch]' -o -name '*.cc'
    done | sort
}
