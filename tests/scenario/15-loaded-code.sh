#!/bin/bash
# SPDX-License-Identifier: MIT
#
# Goals of this test: files of code that come, go, move, or are replaced. Each
# section names its goals.
. "$(dirname "$0")/lib.sh"

# Goals:
# - code that is loaded and unloaded while it is sampled does no harm, and what
#   was sampled in it has its name and its way to the root;
# - a library that comes to lie where code without a file was sampled has names.
section "loaded and unloaded"

profile SPROF_COST=off SPROF_FREQUENCY=5000 "$work/dlopen_loop" 1500 3
expect_ok
expect_stacks 95 ';loader'
expect_share 50 'load_and_compute;plugin_compute' p.folded ';loader'
expect_roots 98 p.folded

profile "$work/late_library" 500
expect_ok
expect_share 25 'main;compute_for;plugin_compute' p.folded ';compute_for'
expect_share 25 'main;compute_for;0x[0-9a-f]+ ' p.folded ';compute_for.*[^]] [0-9]*$'

# Code without a file, without a frame pointer.
profile "$work/late_library" 500 plugin.so
expect_ok
expect_share 25 'main;compute_for;(\[caller guessed\];)?0x[0-9a-f]+ ' p.folded \
    '0x[0-9a-f]* [0-9]*$|plugin_compute [0-9]*$'

# Goals:
# - a library at the address of another one that was just unloaded: no sample has
#   a name of the other, alone, beside other programs, and in several threads;
# - most of them have the right name.
section "at the address of another one"

for beside in none busy threads; do
    echo "-- $beside"
    busy=()
    if [ "$beside" = busy ]; then
        for i in 1 2 3 4; do
            timeout "$deadline" bash -c 'while :; do :; done' &
            busy+=($!)
        done
    fi
    plain env LD_PRELOAD="$library" SPROF_COST=off SPROF_OUTPUT="$tmp/p.sprof" \
        "$work/same_place" 60 10 $([ $beside != threads ] || echo 3)
    expect_ok
    [ "$beside" != busy ] || kill "${busy[@]}"
    for name in one two three; do
        plain "$sprofile" convert --label library=$name p.sprof $name.folded
        expect_status 0
        wrong=$(grep -E '(one|two|three)_(burn|wait|compute|end)' $name.folded |
            grep -v "${name}_")
        [ -z "$wrong" ] || fail "$name has the names of another: $wrong"
        expect_share 50 "${name}_(burn|wait|compute|end)" $name.folded .
    done
done

# A library whose code was moved by a tool (BOLT) into a last segment, after a
# hole, is one module.
# - functions that were moved and those that were left alone have names, and
#   stacks go through both to the root, wherever the program headers are;
# - no address of it is taken for generated code;
# - the official Rust tool chain, which is made so: stacks of a build reach their
#   roots.
section "moved by a tool"

for library_of in moved moved_inside moved_outside; do
    echo "-- $library_of"
    profile SPROF_KEEP_SPOOL=1 "$work/chosen_library" 400 \
        "$work/$library_of.so" "$PWD/loaded"
    expect_ok
    expect_share 95 ';main;compute;plugin_compute;moved_compute[ ;]' p.folded \
        ';main'
    expect_roots 98 p.folded
    plain "$sprofile" info p.sprof
    expect_status 0
    ! grep 'generated code' out || fail "code of a file is called generated"
done

# Half a second of a compiler: a few functions, as often as it takes.
official=$(rustc --print sysroot 2>/dev/null)
if readelf -SW "$official"/lib/librustc_driver-*.so 2>/dev/null |
    grep -qF .bolt.org.text; then
    echo "-- rustc"
    for i in {1..60}; do
        echo "pub fn f$i(n: u64) -> String" \
            "{ (0..n).map(|k| format!(\"{}\", k * $i)).collect() }"
    done >lib.rs
    plain "$sprofile" record -o rust.sprof -- \
        rustc -O --crate-type lib --edition 2021 lib.rs
    expect_status 0
    plain "$sprofile" convert rust.sprof rust.folded
    expect_status 0
    # On a crowded machine a walk may lack the time; 1 % may be cut besides.
    "$sprofile" info rust.sprof >info
    cut=$(tr -d , <info | awk '/^cut .* of / {
        late = match($0, /[0-9]+ deadline/) ? substr($0, RSTART) + 0 : 0
        print ($2 - late > 0.01 * $4) }')
    [ "${cut:-0}" -eq 0 ] || fail "$(grep '^cut' info)"
    grep -qE '[;:]rustc_[a-z]+::' rust.folded || fail "rustc has no names"
else
    echo "-- no official rustc"
fi

# The files of a program are gone when its profile is made.
# - an executable and a library that were deleted or replaced after they had
#   been loaded are read while the process lives: their functions have names;
# - a user who may not read a library that way (no CAP_SYS_ADMIN) has those of
#   the executable;
# - later, the new file is not taken for the old one: the report says so.
section "deleted or replaced"

# recorded COMMAND...: the same as profile, under sprofile record.
recorded() {
    rm -f p.sprof p.folded
    plain "$sprofile" record -q -o "$tmp/p.sprof,$tmp/p.folded" -- "$@"
}

# profile_while COMMAND...: run one when the workload has loaded its files, which
# waits in its middle until that is done.
profile_while() {
    cp "$work/chosen_library" victim
    cp "$work/plugin.so" library.so
    rm -f loaded p.folded p.sprof
    { for i in {1..1200}; do [ -e loaded ] || sleep 0.05; done
      [ -e loaded ] && "$@"; rm -f loaded; } &
    "${start[@]}" "${run_by[@]}" ./victim 400 "$PWD/library.so" \
        "$PWD/loaded" wait
    wait $!
    expect_ok
}
replace() {
    cp "$work/known_stack.o0" new
    mv new victim
    cp "$build/libsprof-report.so" new
    mv new library.so
}
run_by=()
start=(profile SPROF_KEEP_SPOOL=1)

if [ "$(id -u)" -eq 0 ]; then
    echo "-- recorded"
    start=(recorded)
    profile_while rm victim library.so
    expect_share 95 ';main;compute;plugin_compute[ ;]' p.folded ';main;compute'
    start=(profile SPROF_KEEP_SPOOL=1)
    for way in "rm victim library.so" replace "mv library.so moved.so"; do
        echo "-- $way"
        profile_while $way
        expect_share 95 ';main;compute;plugin_compute[ ;]' p.folded ';main;compute'
    done
    profile_while replace
    plain "$sprofile" report p.sprof
    expect_status 0
    grep -q '^note: .*/library.so is not the file that was profiled' out ||
        fail "no note on the library: $(cat out)"
    grep -Eq 'library.so\+0x[0-9a-f]+ ' out || fail "no bare address"
    # Without the capability, which the file system is not asked about.
    has setpriv && run_by=(setpriv --bounding-set=-all --inh-caps=-all)
fi

profile_while rm victim library.so
expect_share 95 ';main;compute;library.so\+0x' p.folded ';main;compute'
plain "$sprofile" report p.sprof
expect_status 0
grep -q '^note: .*/library.so cannot be read: .*while its process lives' out ||
    fail "no note on the library: $(cat out)"
start=(recorded)
profile_while rm victim library.so
expect_share 95 ';main;compute;library.so\+0x' p.folded ';main;compute'
plain "$sprofile" info p.sprof
expect_status 0
grep -q 'the file is not at its path' out || fail "no hint: $(cat out)"

# A file may have been deleted before the first sample, or never had a name.
# - It has its names, with a build-id or without, also for a user who may only
#   look at /proc/PID/exe and at the process's descriptors.
# - Another file at its path gives it none, also when the process has ended.
section "deleted before the first sample"

# without_id FILE COPY: a copy that has no build-id, if objcopy exists.
without_id() {
    objcopy -R .note.gnu.build-id "$1" "$2" 2>err || cp "$1" "$2"
}

# run_deleted FILE OTHER COMMAND...: FILE, run by COMMAND, is replaced by OTHER
# before it begins.
run_deleted() {
    cp "$1" victim
    "${@:3}" bash -c 'exec 3<victim && rm victim && cp "$0" victim &&
        exec /proc/self/fd/3 400' "$2"
    expect_status 0
}

without_id "$work/known_stack.o2" bare
without_id "$work/two_phases" bare_other
ways=("")
setpriv --bounding-set=-all --inh-caps=-all true 2>err &&
    ways+=("setpriv --bounding-set=-all --inh-caps=-all")
for way in "${ways[@]}"; do
    for how in profile recorded; do
        echo "-- $how $way"
        run_deleted bare bare_other $how $way
        expect_stacks 85 ';main'
        run_deleted "$work/known_stack.o2" "$work/two_phases" $how $way
        expect_stacks 85 ';main'
        $how $way "$work/in_memory" 400 "$work/plugin.so"
        expect_status 0
        expect_stacks 85 ';main'
    done
done

echo "-- later"
rm -f p.*
run_deleted bare bare_other profile SPROF_KEEP_SPOOL=1
plain "$sprofile" report p.sprof
expect_status 0
grep -Eq ' victim\+0x[0-9a-f]+' out || fail "names: $(cat out)"
cmp -s bare "$work/known_stack.o2" ||
    grep -q '^note: .*/victim is not the file that was profiled' out ||
    fail "no note: $(cat out)"

# A file whose own name ends as the kernel marks those that were deleted.
# - It has its names, later, too. The file of the shorter name gives it none.
section "named like a deleted one"

cp "$work/two_phases" victim
for copy in cp without_id; do
    $copy "$work/known_stack.o2" "victim (deleted)"
    profile SPROF_KEEP_SPOOL=1 "./victim (deleted)" 400
    expect_ok
    expect_stacks 90 ';main'
    plain "$sprofile" report p.sprof
    expect_status 0
    grep -qF ' work_burn (victim (deleted))' out || fail "no names: $(cat out)"
done

# A program in a container: another file lies at its path for everybody else.
# - Its functions have names where they are looked up while it lives, and in a
#   recording. The other file gives it none. So it is with a build-id and
#   without, in the same PID namespace and in another one.
section "in another mount namespace"

# has_served: whether the server's last second has the names.
has_served() {
    timeout "$deadline" python3 "$here/serve_client.py" body "$address" \
        "/debug/pprof/wall?seconds=1&pid=$pid" >wall.pb.gz &&
        "$sprofile" report wall.pb.gz >out && grep -q ' work_burn ' out
}

# expect_contained OPTION...: of unshare.
expect_contained() {
    unshare "$@" bash -c 'mount --bind inner victim && LD_PRELOAD=$0 \
        SPROF_OUTPUT=$1 exec ./victim 1000000' "$library" "$tmp/v.folded" \
        >v.out 2>v.err &
    running=$!
    until_true grep -qs expect v.out
    pid=$(grep -ls "^\./victim" /proc/[0-9]*/cmdline | tail -n 1)
    pid=$(basename "${pid%/cmdline}")
    "$sprofile" serve --only "$tmp" --listen 127.0.0.1:0 >url 2>serve.err &
    server=$!
    shows 'leaf_spin known_stack.c:' stacks "$pid" || fail "stacks: $(cat out)"
    shows ' leaf_spin (victim)' top --once -d 0.5 "$pid" ||
        fail "top: $(cat out)"
    until_true [ -s url ]
    address=$(sed 's|^http://\(.*\)/debug/pprof/$|\1|' url)
    until_true has_served || fail "serve: $(cat out)"
    kill "$server"
    kill -KILL "$pid"
    wait "$server" "$running" 2>/dev/null
    rm -f v.* url
}

if unshare -m true 2>err; then
    for copy in cp without_id; do
        part "$copy"
        $copy "$work/known_stack.o2" inner
        $copy "$work/two_phases" victim
        recorded unshare -m \
            bash -c 'mount --bind inner victim && exec ./victim 400'
        expect_status 0
        expect_stacks 85 ';main'
        expect_contained -m
        expect_contained -m -p -f --mount-proc
    done
else
    lacks containers "unshare does not work: $(cat err)"
fi

# A file without a build-id is known by its size and the time of its last change.
# - The file that was profiled gives names.
# - Another one at its path gives none, and a note says why.
section "replaced files without a build-id"

if has objcopy; then
    objcopy -R .note.gnu.build-id "$work/known_stack.o2" victim
    profile SPROF_KEEP_SPOOL=1 ./victim 400
    expect_ok
    for name in same replaced; do
        [ "$name" = same ] || {
            objcopy -R .note.gnu.build-id "$work/two_phases" new
            mv new victim
        }
        plain "$sprofile" report p.sprof
        expect_status 0
        note='^note: .*/victim is not the file that was profiled'
        if [ "$name" = same ]; then
            grep -q "$note" out && fail "a note on the same file: $(cat out)"
            grep -q ' work_burn ' out || fail "no names: $(cat out)"
        else
            grep -q "$note" out || fail "no note: $(cat out)"
            grep -Eq ' victim\+0x[0-9a-f]+' out || fail "names: $(cat out)"
        fi
    done
fi

# A spool of another host, on which files are the same or others.
# - Files that are the same, by build-id or by size and time, give names.
# - Others give none, and one hint says so for all of them.
section "a spool of another host"

if unshare --uts true 2>err && has objcopy; then
    cp "$work/known_stack.o2" with
    objcopy -R .note.gnu.build-id "$work/known_stack.o2" without
    boot=$(cat /proc/sys/kernel/random/boot_id)
    for name in with without; do
        # shellcheck disable=SC2016
        profile SPROF_KEEP_SPOOL=1 SPROF_OUTPUT="$tmp/$name.folded" \
            unshare --uts sh -c 'hostname elsewhere; exec "$0" 400' "./$name"
        expect_ok
        # A container of this machine has the same boot id (proc(5)).
        LC_ALL=C sed -i "s/$boot/${boot//[0-9a-f]/0}/" "$name.sprof"
    done
    for name in same replaced; do
        [ "$name" = same ] || {
            cp "$work/two_phases" with
            objcopy -R .note.gnu.build-id "$work/two_phases" without
        }
        plain "$sprofile" report -n 0 with.sprof without.sprof
        expect_status 0
        if [ "$name" = same ]; then
            ! grep '^note' out || fail "a note on the same files"
            [ "$(grep -c ' work_burn ' out)" -eq 2 ] || fail "no names: $(cat out)"
        else
            [ "$(grep -c '^note' out)" -eq 1 ] || fail "notes: $(grep note out)"
            grep -q '^note: 2 files of host elsewhere are not here' out ||
                fail "no hint: $(cat out)"
            ! grep -q ' work_burn ' out || fail "a name of another file"
            plain "$sprofile" info with.sprof
            grep -q 'the profile is of another host' out ||
                fail "info: no hint: $(cat out)"
        fi
    done
else
    lacks hosts "unshare does not work: $(cat err)"
fi

# Debug sections that were compressed by zstd.
# - They have lines, or one line of `report` and of `info` says that this build
#   cannot read them;
# - so it does of a file whose sections are damaged, or compressed in a way that
#   is not known.
section "compressed by zstd"

# expect_told PATTERN: both say so, in one line.
expect_told() {
    for command in report info; do
        plain "$sprofile" $command p.sprof
        expect_status 0
        [ "$(grep -cE "^note: .*debug sections of .*/victim .*$1" out)" -eq 1 ] ||
            fail "$command: no note on the sections: $(tail -n 3 out)"
    done
}

cp "$work/known_stack.o2" victim
if has objcopy && objcopy --compress-debug-sections=zstd victim 2>err &&
    readelf -t victim | grep -q ZSTD; then
    profile SPROF_KEEP_SPOOL=1 ./victim 400
    expect_ok
    if ! grep -q '^SPROF_ZSTD:.*=OFF' "$build/CMakeCache.txt" &&
        grep -q '^ZSTD_FOUND:.*=1' "$build/CMakeCache.txt"; then
        plain "$sprofile" report --by line p.sprof
        expect_status 0
        grep -q ' work_burn work\.c:[0-9]' out || fail "no lines: $(cat out)"
        ! grep '^note' out || fail "a note"
        # The compression header of .debug_line says how in its first byte.
        line=$(readelf -SW victim |
            sed -n 's/.* \.debug_line  *PROGBITS  *[0-9a-f]* \([0-9a-f]*\) .*/\1/p')
        printf '\011' | dd of=victim bs=1 seek=$((0x$line)) conv=notrunc 2>err
        expect_told 'method 9'
        printf '\001' | dd of=victim bs=1 seek=$((0x$line)) conv=notrunc 2>err
        expect_told 'damaged'
    else
        expect_told 'cannot read: .* build with libzstd'
    fi
else
    lacks zstd "objcopy does not know it"
fi

finish
