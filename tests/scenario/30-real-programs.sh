#!/bin/bash
# SPDX-License-Identifier: MIT
#
# Goals of this test: programs as a distribution ships them.
# - python3, xz and sqlite3 compute what they compute without the library;
# - >= 99 % of their stacks reach the root.
. "$(dirname "$0")/lib.sh"

# reaches_root NAME COMMAND...: profiled, compared with a plain run.
reaches_root() {
    echo "-- $1"
    shift
    command -v "$1" >/dev/null || { echo "$1 is not installed"; return; }
    rm -f p.folded
    expect_same "$@"
    expect_roots 99 p.folded
    expect_share 99 '^[^[]' p.folded
    expect_samples 200 p.folded
}

cat >job.py <<'P'
import json, re
def collatz(n):
    steps = 0
    while n != 1:
        n = n // 2 if n % 2 == 0 else 3 * n + 1
        steps += 1
    return steps
print(max(collatz(n) for n in range(1, 40000)))
text = json.dumps([{"key": i, "text": "x" * (i % 50)} for i in range(30000)])
print(len(json.loads(text)), len(re.findall(r"x+", text)))
print(sum(sorted(hash(str(i)) % 1000 for i in range(300000))) > 0)
P
seq 1 1500000 >numbers
sql="with recursive n(i) as (select 1 union all select i + 1 from n
    where i < 400000) select count(*), sum(i * i % 7), max(s) from
    (select i, substr(hex(i * 7919), 2, 3) s from n order by s, i desc);"

reaches_root python3 python3 job.py
[ -x /usr/bin/python3 ] && reaches_root "/usr/bin/python3" \
    /usr/bin/python3 job.py
reaches_root xz xz -T2 --block-size=2MiB -4 -k -c numbers
reaches_root sqlite3 sqlite3 :memory: "$sql"

finish
