#!/bin/bash
# SPDX-License-Identifier: MIT
#
# dist.sh -- the source as an archive: `cmake --build build --target dist`.
#
#   dist.sh SOURCE NAME.tar.gz
#
# What git knows of is in it, as it is in the work tree, below NAME/. The same
# commit gives the same bytes: names are sorted, owners are 0, modes are 644 or
# 755, and the time is that of the commit, or SOURCE_DATE_EPOCH. Without .git,
# all files but those of build trees are in it, with the time of CMakeLists.txt. So
# an unpacked archive gives the archive that it came from.
set -euo pipefail
export LC_ALL=C
archive=$(realpath -m "$2")
name=$(basename "$archive" .tar.gz)
cd "$1"

if [ -e .git ]; then
    # Also of another user, as root has it in a container (git-config(1)).
    git=(git -c "safe.directory=$PWD")
    time=$("${git[@]}" log -1 --format=%ct)
    files=("${git[@]}" ls-files -z)
else
    time=$(stat -c %Y CMakeLists.txt)
    files=(find . -type d -exec test -e '{}/CMakeCache.txt' ';' -prune -o
        -type f -printf '%P\0')
fi

# gzip without -n would add the time and the name.
"${files[@]}" | sort -z |
    tar --create --null --files-from=- --format=ustar \
        --transform="s|^|$name/|" --mtime="@${SOURCE_DATE_EPOCH:-$time}" \
        --owner=root:0 --group=root:0 --numeric-owner \
        --mode=u+rwX,go+rX,go-w,a-st | gzip -9n >"$archive.part"
mv "$archive.part" "$archive"
