# SPDX-License-Identifier: MIT
#
# lib.sh -- shared by the scenarios. Each runs in a new directory that is
# removed at the end, starts programs with a deadline, and ends with 0, 1 or 77
# (skipped). A folded profile has a stack a line, root first: "main;work;leaf
# 17".
set -u
export LC_ALL=C

# What nohup and a shell's "&" have ignored, a shell cannot get back.
case $(sed -n 's/^SigIgn:\t.*\(.\)$/\1/p' /proc/$$/status) in
0 | 8) ;;
*)
    [ -n "${signals_are_default:-}" ] ||
        signals_are_default=yes exec \
            env --default-signal=HUP,INT,QUIT bash "$0" "$@"
    ;;
esac
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
build=${SPROF_BUILD:-$(cd "$here/../.." && pwd)/build}
sprofile=$build/sprofile
work=$build/tests/workload
failures=0

# What a section may change for itself.
defaults() {
    local variable
    library=$build/libsprof.so
    # Only a program that hangs takes this many seconds.
    deadline=180
    # The rates at which a program must not notice that it is profiled.
    rates='1000 10000'
    unset slow_times slow_ms
    # Nothing of the caller's own settings. Those that are for tests stay in
    # this shell: the library would say that it does not know them.
    for variable in $(compgen -e SPROF_); do
        [[ $variable = SPROF_TEST_* ]] || unset "$variable"
    done
    export -n SPROF_TEST_FULL SPROF_TEST_SCRAPED
    # On a busy machine a profile may take longer than the default.
    export SPROF_EXIT_MS=120000
}
defaults

# What was tried: programs that were run, parts that were announced, and the
# names of those that were left out.
programs_run=0
parts_run=0
parts_left_out=

tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
cd "$tmp" || exit 1
# What Go has compiled stays; `go tool pprof` is compiled when it is first used.
export GOCACHE=${GOCACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/go-build}
# No names are kept, unless a section makes this directory.
export XDG_CACHE_HOME=$tmp/.cache

fail() {
    echo "FAIL: $*"
    failures=$((failures + 1))
}

# skip WHY...: the scenario's end, unless something has failed before.
skip() {
    echo "skipped: $*"
    [ "$failures" -eq 0 ] || exit 1
    exit 77
}

# part NAME: announces a part that the machine may lack something for.
part() {
    echo "-- $*"
    parts_run=$((parts_run + 1))
}

# lacks NAME WHY...: announces that this part is left out.
lacks() {
    echo "-- $1 is left out: ${*:2}"
    parts_left_out="$parts_left_out $1"
}

# has PROGRAM: whether it is installed; announces the part that needs it.
has() {
    if command -v "$1" >/dev/null; then
        part "$1"
        return 0
    fi
    lacks "$1" "not installed"
    return 1
}

# section TITLE: what follows begins as a scenario does: in an empty directory,
# with the settings of the beginning.
section() {
    echo "== $*"
    cd "$tmp" || exit 1
    rm -rf "${tmp:?}"/*
    chmod 700 "$tmp"
    defaults
}

# finish: the scenario's end. One that left out parts and ran nothing besides is
# skipped, not passed.
finish() {
    [ -z "$parts_left_out" ] || echo "$parts_run parts ran; left out:$parts_left_out"
    [ "$failures" -eq 0 ] || exit 1
    [ "$parts_run" -gt 0 ] || [ "$programs_run" -gt 0 ] || skip "nothing was run"
    exit 0
}

[ -e "$library" ] || skip "$library is not built"

# With SPROF_TEST_SCRAPED=1, `sprofile serve` is asked once a second about all
# processes while the scenario runs, which must change nothing. Both are no
# children of this shell, which may wait for all of its own.
if [ -n "${SPROF_TEST_SCRAPED:-}" ]; then
    scraped=$(mktemp -d)
    (setsid bash -c '
        exec >"$2/log" 2>&1 </dev/null
        "$1" serve --listen 127.0.0.1:0 >"$2/url" &
        while [ ! -s "$2/url" ]; do sleep 0.1; done
        url=$(sed "s|/debug/pprof/$||" "$2/url")
        url=${url#http://}
        while [ -e "$2/url" ]; do
            timeout 20 python3 "$3/serve_client.py" body "$url" /metrics
            timeout 20 python3 "$3/serve_client.py" body "$url" \
                "/debug/pprof/wall?last=1"
            echo >>"$2/count"
            sleep 1
        done
        kill $!' bash "$sprofile" "$scraped" "$here" &)
    trap 'rm -rf "$tmp"
        echo "scraped $(wc -l <"$scraped/count") times"
        rm -rf "$scraped"' EXIT
fi

# plain COMMAND...: its output in out and err, its status in $status.
plain() {
    local start=$SECONDS
    status=0
    programs_run=$((programs_run + 1))
    # New files for each run: processes that are left of the last run write
    # into others.
    rm -f out err
    # The shell's own remark about a signal goes nowhere.
    { timeout -k 5 "$deadline" "$@" >out 2>err </dev/null; } 2>/dev/null ||
        status=$?
    [ $((SECONDS - start)) -lt "$deadline" ] ||
        fail "not finished after $deadline s: $*"
}

# profile [NAME=VALUE...] COMMAND...: the same with the library preloaded.
# Without an SPROF_OUTPUT among the settings the profile is p.folded, with the
# stacks of waits.
profile() {
    local file
    plain env LD_PRELOAD="$library" SPROF_OUTPUT="$tmp/p.wall.folded" "$@"
    for file in "$tmp"/p*.wall.folded; do
        [ ! -f "$file" ] || mv "$file" "${file%.wall.folded}.folded"
    done
}

# until_true COMMAND...: tries until COMMAND succeeds.
until_true() {
    local end=$((SECONDS + deadline))
    until "$@" 2>/dev/null; do
        [ "$SECONDS" -lt "$end" ] || { fail "not within $deadline s: $*"; return 1; }
        sleep 0.05
    done
}

# shows REGEX ARGUMENT...: tries until sprofile prints it. What it printed last
# is in out.
shows() {
    local end=$((SECONDS + deadline))
    while plain "$sprofile" "${@:2}"; ! grep -q -- "$1" out; do
        [ "$SECONDS" -lt "$end" ] || return 1
        sleep 0.1
    done
}

# profile_begin FILE [NAME=VALUE...] COMMAND...: in the background, FILE.folded
# its profile. Returns when its spool FILE.sprof has been there for a moment;
# $running is the pid of timeout, whose child it is.
profile_begin() {
    local file=$1
    shift
    programs_run=$((programs_run + 1))
    timeout -k 5 "$deadline" env LD_PRELOAD="$library" \
        SPROF_OUTPUT="$tmp/$file.folded" "$@" >out 2>err &
    running=$!
    until [ -s "$file.sprof" ]; do
        kill -0 "$running" 2>/dev/null || { fail "no spool: $*"; return; }
        sleep 0.02
    done
    sleep 0.4
}

# profile_end: until it has ended, as a workload does that found nothing wrong.
profile_end() {
    status=0
    wait "$running" || status=$?
    expect_status 0
    grep -qx ok out || fail "the workload did not print ok"
}

# expect_status N: the last command's status.
expect_status() {
    [ "$status" -eq "$1" ] || {
        fail "status $status, expected $1"
        sed 's/^/    err: /' err | head -n 5
    }
}

# expect_ok: a workload that found nothing wrong, and a silent profiler.
expect_ok() {
    expect_status 0
    grep -qx ok out || fail "the workload did not print ok"
    ! grep -H '^sprof:' err || fail "the profiler complained"
}

# expect_note VARIABLE-OR-WORD...: exactly one line on stderr is the
# profiler's, and it names all of these.
expect_note() {
    local word count
    count=$(grep -c '^sprof:' err)
    [ "$count" -eq 1 ] || fail "$count lines of the profiler, expected 1"
    for word in "$@"; do
        grep '^sprof:' err | grep -qF -- "$word" ||
            fail "the message does not say \"$word\": $(grep '^sprof:' err)"
    done
}

# Milliseconds since some moment.
now_ms() {
    echo $(($(date +%s%N) / 1000000))
}

# settings_of RATE: how expect_same runs a program at that rate, in $settings. By
# turns it is the full rate, or default settings in place of 1,000 a second.
settings_of() {
    settings=(SPROF_COST=off SPROF_FREQUENCY="$1")
    [ "$1" -eq 1000 ] || return 0
    turn=$((1 - turn))
    [ "$turn" -eq 0 ] || settings=()
}
turn=${TEST_TURN:-0}

# expect_same [NAME=VALUE...] COMMAND...: the same output, messages and status
# with the library at each rate, and no longer than so many times the time that
# it takes without, plus what a loaded machine may add. No wait of the library
# may expire: each would be shorter than that. The last run's profile stays.
expect_same() {
    local before start took rate settings with
    local slow_times=${slow_times:-4} slow_ms=${slow_ms:-60000}
    start=$(now_ms)
    plain env "$@"
    took=$(($(now_ms) - start))
    before=$status
    mv out out.plain
    mv err err.plain
    for rate in $rates; do
        rm -f p.folded
        settings_of "$rate"
        start=$(now_ms)
        profile SPROF_OUTPUT="$tmp/p.wall.folded,$tmp/same.sprof" \
            "${settings[@]}" "$@"
        start=$(($(now_ms) - start))
        with="with ${settings[*]:-default settings}: $*"
        [ "$start" -le $((took * slow_times + slow_ms)) ] ||
            fail "took $start ms, $took without, $with"
        [ "$status" -eq "$before" ] || fail "status $status, not $before, $with"
        cmp -s out out.plain || {
            fail "other output $with"
            diff out.plain out | head -n 5
        }
        cmp -s err err.plain || {
            fail "other messages $with"
            diff err.plain err | head -n 5
        }
        "$sprofile" info same*.sprof >same.info 2>/dev/null
        ! grep '^expired' same.info || fail "waits expired $with"
        ! grep '^WRONG' same.info || fail "sums do not agree $with"
        rm -f same*.sprof
    done
}

# total FILE: the sum of a folded profile's counts, or of standard input's.
total() {
    awk '{ sum += $NF } END { printf "%.0f\n", sum }' "$@"
}

# share PART ALL: hundredths of a percent.
share() {
    awk -v part="$1" -v all="$2" \
        'BEGIN { printf "%d\n", (all > 0 ? 10000 * part / all : 0) }'
}

# What passed before sampling began is "[not sampled]", and has no stack.
sampled='^[^[]|^\[[^n]|^\[no '

# Where others have the processors, one look at a thread that has none stands for
# much time, and a thread waits for its first look. Nothing is asked of these.
unseen='(;\[runnable\]|^\[no stack\];\[waiting\]) [0-9]*$'

# expect_share PERCENT REGEX FILE [ONLY]: at least PERCENT of the counts have a
# stack that matches REGEX; only the stacks that match ONLY are looked at, or
# all that were sampled. Of what was not, REGEX says so itself. An empty REGEX
# would match everything, and fails.
expect_share() {
    local all part found only=$sampled
    [ -n "$2" ] || { fail "nothing is expected of $3"; return; }
    [ -s "$3" ] || { fail "no profile $3"; return; }
    [[ "$2" != *"not sampled"* ]] || only=.
    grep -vE "$unseen" "$3" | grep -E -- "${4:-$only}" >looked_at
    all=$(total looked_at)
    part=$(grep -E -- "$2" looked_at | total)
    found=$(share "$part" "$all")
    if [ "$found" -lt $(($1 * 100)) ]; then
        fail "$((found / 100)).$(printf %02d $((found % 100))) % of $all" \
            "match, expected $1 %: $2"
        grep -vE -- "$2" looked_at | sort -k2nr -t' ' | head -n 5 |
            sed 's/^/    /' | cut -c 1-400
    fi
}

# expected [FILE]: the patterns of a workload's output, as one; empty if it has
# printed none.
expected() {
    sed -n 's/^expect: //p' "${1:-out}" | sed 's/.*/(^|;)(&)/' | paste -sd'|'
}

# expect_stacks PERCENT [ONLY]: p.folded has the stacks that the workload said.
expect_stacks() {
    expect_share "$1" "$(expected)" p.folded ${2:+"$2"}
}

# expect_roots PERCENT FILE: stacks that begin where a thread or a program does.
# A run of a tenth of a second or more is sampled but for its first instants,
# which are 25 ms of CPU time where others have the processors.
expect_roots() {
    expect_share 75 "$sampled" "$2" .
    expect_share "$1" '^([^;]*;)?(__libc_start_main|clone3?|start_thread)' "$2" \
        '^([^[]|\[t)'
    expect_share "$1" '^[^[]' "$2" '^([^[]|\[t)'
}

# expect_samples LEAST FILE: a folded profile with that much in it.
expect_samples() {
    local count
    [ -e "$2" ] || { fail "no profile $2"; return; }
    count=$(total "$2")
    [ "$count" -ge "$1" ] || fail "$2: $count samples, expected $1"
}

# What `sprofile info` printed, as numbers.
samples_of() {
    sed -n 's/^samples *\([0-9]*\) of.*/\1/p' "$1"
}
asked_of() {
    sed -n 's/^lost .* of \([0-9]*\) asked.*/\1/p' "$1"
}
lost_of() {
    sed -n 's/^lost *\([a-z0-9]*\) of.*/\1/p' "$1" | sed 's/none/0/'
}
taken_of() {
    sed -n 's/^due .*: \([0-9]*\) taken,.*/\1/p' "$1"
}

# expect_due FILE: what a line "due" says of the points adds up, and so do their
# causes; FILE has exactly one.
expect_due() {
    local line
    line=$(grep -aoE '^due:? .*' "$1")
    echo "   $line" | tr -s ' '
    ! grep -a '^WRONG' "$1" || fail "sums do not agree"
    echo "$line" | awk '
        { found++; sub(/^due:? */, "")
          count = split($0, words, /[ ,:]+/)
          for (i = 2; i <= count; i++) {
              if (words[i] == "taken") taken = words[i - 1]
              if (words[i] == "lost") lost = words[i - 1]
              if (words[i] == "not") { missing = words[i - 1]; at = i + 2 }
          }
          for (i = at; i < count; i += 2) causes += words[i]
          if (words[1] != taken + lost + missing || causes != missing) exit
          good++ }
        END { exit !(found == 1 && good == 1) }' ||
        fail "due does not add up: $line"
}

# expect_sum SPOOL: asked = taken + lost, and something was asked.
expect_sum() {
    local asked taken lost
    plain "$sprofile" info "$1"
    expect_status 0
    expect_due out
    asked=$(asked_of out) taken=$(taken_of out) lost=$(lost_of out)
    grep '^lost' out
    [ "${asked:-0}" -gt 0 ] && [ "$asked" -eq $((taken + lost)) ] ||
        fail "asked $asked is not taken $taken + lost $lost"
}
