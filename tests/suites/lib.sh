# SPDX-License-Identifier: MIT
#
# lib.sh -- shared by the suites. A suite is a file that defines
#
#     suite_ready        get what is missing and build it; prints why it cannot
#                        be run and returns 1
#     suite_cases FULL   prints the names of its cases, a line each; with FULL
#                        empty a few quick ones
#     suite_run CASE     runs one in the current, empty directory and prints a
#                        line "NAME RESULT" for each of its tests
#
# A case starts its program by `under`, which preloads the library or does not.

sources=$build/suites
under_deadline=300
preload=()
as_user=() # how a suite that refuses to be run by root is run

# under COMMAND...: with what this run is about. Its output is in "log", what it
# says on stderr in "messages".
under() {
    timeout -k 5 "$under_deadline" "${as_user[@]}" env "${preload[@]}" "$@" \
        >log 2>messages </dev/null
}

# say_status NAME STATUS: the result of a program as a whole.
say_status() {
    case $2 in
    124 | 137) echo "$1 too-late" ;;
    *) echo "$1 status-$2" ;;
    esac
}

# use_source_lists: apt with the configured sources, as sources of source
# packages, whose lists are kept here; the system's are not changed.
use_source_lists() {
    local apt=$sources/apt list
    source_options=(-qq -o Dir::Etc::sourcelist=/dev/null
        -o Dir::Etc::sourceparts="$apt/parts" -o Dir::State::lists="$apt/lists"
        -o Dir::Cache="$apt/cache" -o APT::Sandbox::User=root)
    [ ! -e "$apt/ready" ] || return 0
    mkdir -p "$apt"/{parts,lists/partial,cache/archives/partial}
    for list in /etc/apt/sources.list /etc/apt/sources.list.d/*.list; do
        [ -f "$list" ] && sed -n 's/^deb /deb-src /p' "$list" \
            >"$apt/parts/$(basename "$list")"
    done
    for list in /etc/apt/sources.list.d/*.sources; do
        [ -f "$list" ] && sed 's/^Types:.*/Types: deb-src/' "$list" \
            >"$apt/parts/$(basename "$list")"
    done
    timeout 300 apt-get "${source_options[@]}" update >>"$apt/log" 2>&1 &&
        touch "$apt/ready"
}

# get_source PACKAGE: its original source, unpacked, in $sources/PACKAGE.
get_source() {
    local archive
    [ ! -e "$sources/$1/unpacked" ] || return 0
    mkdir -p "$sources/$1"
    use_source_lists || { echo "apt-get has no source packages"; return 1; }
    (cd "$sources/$1" &&
        timeout 300 apt-get "${source_options[@]}" source --download-only "$1" \
            >>apt.log 2>&1) || { echo "no source package of $1"; return 1; }
    archive=$(find "$sources/$1" -maxdepth 1 -name '*.orig.tar.*' \
        ! -name '*.asc' | head -n 1)
    tar xf "$archive" -C "$sources/$1" --strip-components=1 &&
        touch "$sources/$1/unpacked"
}
