#!/bin/bash
# SPDX-License-Identifier: MIT
#
# day.sh [--full] -- a day of a host in a minute, or in five: day.py. Ends with
# 0, 1 or 77 (skipped).
set -u
here=$(cd "$(dirname "$0")" && pwd)
for program in gcc python3 awk; do
    command -v "$program" >/dev/null || {
        echo "skipped: no $program"
        exit 77
    }
done
exec python3 "$here/day.py" "$@"
