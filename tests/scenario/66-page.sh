#!/bin/bash
# SPDX-License-Identifier: MIT
#
# Goals of this test: pages, and what a function cost in source and machine code.
# - every way to ask for a page writes one: SPROF_OUTPUT, record, convert, merge,
#   flame, diff;
# - a page has what it was asked for: times, source, two profiles;
# - no name of a program is markup;
# - flame names its page after its input and replaces no other file;
# - it is opened only where there is a desktop and a terminal;
# - a page is small;
# - annotate shows lines and instructions, and says what is missing.
. "$(dirname "$0")/lib.sh"

costs=$work/two_costs
[ -x "$costs" ] || skip "$costs is not built"

# page FILE ID...: a page with exactly these elements of data. The template has
# its own code in an element of that kind.
page() {
    local file=$1 ids
    shift
    [ -s "$file" ] || { fail "there is no $file"; return; }
    [ "$(stat -c %a "$file")" = 600 ] || fail "$file: others may read it"
    head -n 1 "$file" | grep -qi '^<!doctype html>' ||
        fail "$file: it begins with $(head -c 40 "$file")"
    tail -n 1 "$file" | grep -q '</html>$' || fail "$file: it has no end"
    ids=$(grep -o '<script type="application/octet-stream" id="sprof-[a-z-]*">' \
        "$file" | sed 's/.*id="\(.*\)">/\1/' | grep -vx sprof-code | xargs)
    [ "$ids" = "$*" ] || fail "$file has $ids, expected $*"
    # After the place of the data, such an element holds base64 alone.
    ! grep '^<script type="application/octet-stream"' "$file" | grep -vqE \
        '^<script [^>]*>[A-Za-z0-9+/]*={0,2}</script>$' ||
        fail "$file: an element is not base64"
}

echo "-- every way"
plain env LD_PRELOAD="$library" SPROF_OUTPUT=a.html,a.sprof "$costs" 300 1000 1000
expect_status 0
page a.html sprof-head sprof-time
plain "$sprofile" record -q -o b.html,b.sprof -- "$costs" 300 2000 1000
expect_status 0
page b.html sprof-head sprof-time
for command in "convert a.sprof c.html" "merge -o c.html a.sprof b.sprof" \
    "convert --thread two_costs a.sprof c.html" "flame a.sprof -o c.html"; do
    rm -f c.html
    # shellcheck disable=SC2086
    plain "$sprofile" $command
    expect_status 0
    page c.html sprof-head sprof-time
done
for command in "convert --format html a.sprof -" "flame -o - a.sprof"; do
    # shellcheck disable=SC2086
    plain "$sprofile" $command
    expect_status 0
    cp out c.html
    chmod 600 c.html
    page c.html sprof-head sprof-time
done
plain sh -c "'$sprofile' flame - <a.sprof"
[ "$(cat out)" = sprofile.html ] || fail "standard input: $(cat out)"
page sprofile.html sprof-head sprof-time

echo "-- without times"
plain "$sprofile" convert a.sprof a.pb.gz
plain "$sprofile" convert a.pb.gz t.html
expect_status 0
page t.html sprof-head

echo "-- names of pages"
mkdir dir
for input in x.sprof x.pb.gz x; do
    case $input in
    *.gz) cp a.pb.gz dir/$input ;;
    *) cp a.sprof dir/$input ;;
    esac
    plain "$sprofile" flame dir/$input
    expect_status 0
    [ "$(cat out)" = dir/x.html ] || fail "the page of $input is $(cat out)"
    [ -e dir/x.html ] || fail "$input: there is no dir/x.html"
done
echo mine >dir/x.html
plain "$sprofile" flame dir/x.sprof
expect_status 1
grep -q '^sprofile: dir/x.html: it exists, and is no page' err ||
    fail "another file: $(cat err)"
[ "$(cat dir/x.html)" = mine ] || fail "another file was replaced"
plain "$sprofile" flame -o x.json a.sprof
expect_status 2
plain "$sprofile" flame missing.sprof
expect_status 1
! [ -e missing.html ] || fail "a page of nothing"
plain "$sprofile" flame --thread nobody -o none.html a.sprof
expect_status 1
page none.html sprof-head sprof-time

echo "-- a desktop"
mkdir bin
printf '#!/bin/sh\necho "$@" >>"%s/opened"\n' "$tmp" >bin/xdg-open
chmod +x bin/xdg-open
plain env PATH="$tmp/bin:$PATH" DISPLAY=:0 "$sprofile" flame a.sprof
! [ -e opened ] || fail "a page was opened without a terminal"
if [ -x /usr/bin/script ]; then
    terminal="script -qec"
    plain env PATH="$tmp/bin:$PATH" DISPLAY=:0 WAYLAND_DISPLAY= $terminal \
        "'$sprofile' flame a.sprof" /dev/null
    for ((i = 0; i < 1200; i++)); do
        [ -s opened ] && break
        sleep 0.05
    done
    [ "$(cat opened 2>/dev/null)" = a.html ] || fail "the page was not opened"
    rm -f opened
    plain env -u DISPLAY -u WAYLAND_DISPLAY PATH="$tmp/bin:$PATH" $terminal \
        "'$sprofile' flame a.sprof" /dev/null
    sleep 0.2
    ! [ -e opened ] || fail "a page was opened without a desktop"
    plain env PATH="$tmp/none" DISPLAY=:0 "$(command -v script)" -qec \
        "'$sprofile' flame a.sprof" /dev/null
    grep -q 'not opened: xdg-open: No such file' out ||
        fail "xdg-open is missing: $(cat out)"
else
    lacks "a terminal" "there is no script(1)"
fi

echo "-- comparison"
plain "$sprofile" diff a.sprof b.sprof -o d.html
expect_status 0
[ "$(cat out)" = d.html ] || fail "diff printed $(cat out)"
page d.html sprof-head sprof-head-old sprof-diff
plain "$sprofile" diff a.sprof b.sprof --json -o d.html
expect_status 2
plain "$sprofile" diff --shares --fail-above 5 a.sprof b.sprof -o e.html
[ "$status" -eq 0 ] || [ "$status" -eq 3 ] || fail "status $status"
page e.html sprof-head sprof-head-old sprof-diff

echo "-- source"
plain "$sprofile" flame --source a.sprof
expect_status 0
page a.html sprof-head sprof-time sprof-source

echo "-- hostile names"
mkdir "$tmp/<b>"
cp "$costs" "$tmp/<b>/<i>x<i>"
plain "$sprofile" record -q -o h.html -- "$tmp/<b>/<i>x<i>" 60 1000 1000
expect_status 0
page h.html sprof-head sprof-time
! grep -q '<i>x<i>' h.html || fail "a name stands in the page"

echo "-- size"
size=$(stat -c %s a.html)
template=$(stat -c %s "$here/../../src/page/dist/page.html")
[ $((size - template)) -le 100000 ] || fail "$((size - template)) bytes of data"
"$work/make_spool" "$tmp/m.sprof" 100000
plain "$sprofile" convert m.sprof m.html
[ "$(stat -c %s m.html)" -le 3000000 ] ||
    fail "$(stat -c %s m.html) bytes for 100,000 samples"

echo "-- annotate"
plain "$sprofile" annotate first a.sprof
expect_status 0
grep -q '^first (two_costs), .*/two_costs.c$' out || fail "no source: $(cat out)"
if command -v objdump >/dev/null; then
    grep -q '^first (two_costs), machine code$' out || fail "no code"
    # An instruction: times, a line, an address and a mnemonic.
    grep -qE '^ +[0-9.]+ +[0-9.]+ +[0-9.]+ +[0-9.]+ +[0-9]+ +[0-9a-f]+  [a-z]' \
        out || fail "no instruction has samples: $(cat out)"
    # What the source and the code have is the same.
    awk '/machine code$/ { code = 1 }
        $1 ~ /^[0-9]+[.][0-9]+$/ && NF > 4 { sum[code + 0] += $1 }
        END { exit !(sum[0] > 0 && sum[0] - sum[1] < 0.01 &&
                     sum[1] - sum[0] < 0.01) }' out ||
        fail "lines and instructions have different sums: $(cat out)"
else
    lacks objdump "not installed"
fi
plain env PATH=/nonexistent "$sprofile" annotate first a.sprof
expect_status 0
grep -q '^note: objdump, which shows machine code, cannot be run' out ||
    fail "objdump is missing: $(cat out)"
mkdir bin2
printf '#!/bin/sh\nexec yes\n' >bin2/objdump
chmod +x bin2/objdump
plain env PATH="$tmp/bin2:$PATH" "$sprofile" annotate first a.sprof
expect_status 0
grep -q '^note: objdump printed more than' out || fail "endless: $(cat out)"
plain "$sprofile" annotate nosuch a.sprof
expect_status 1
plain "$sprofile" annotate first
expect_status 2
cp "$costs" gone
plain "$sprofile" record -q -o g.sprof -- ./gone 300 1000 1000
rm gone
plain "$sprofile" annotate first g.sprof
expect_status 0
grep -q '^note: ' out || fail "a program that is gone: $(cat out)"
finish
