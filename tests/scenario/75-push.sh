#!/bin/bash
# SPDX-License-Identifier: MIT
#
# Goals of this test: `sprofile push` gives each server what all processes did,
# once:
# - the sum of all requests is that of the spools, to the nanosecond, while push
#   is killed and started again, the server is slow, busy, fails and drops
#   answers, and a process lives for less than an interval;
# - a request that is repeated has the same key and the same bytes;
# - what a server refuses is reported, and the backlog keeps to its bound;
# - OpenTelemetry's own decoder reads what is written, where it is installed.
. "$(dirname "$0")/lib.sh"

command -v python3 >/dev/null || skip "no python3"
service=push_test_$$
protocols=(v1development_profiles push.v1.PusherService_Push
    api_profiles_writeraw pprof)

# serve MODE...: a server in $tmp/got, which answers so; $url is where. It speaks
# TLS with $certificate, if that is set.
serve() {
    mkdir -p got
    echo "$*" >got/mode
    rm -f got/port
    # shellcheck disable=SC2086
    python3 "$here/push_server.py" "$tmp/got" ${certificate:-} &
    server=$!
    until_true [ -s got/port ]
    url=http${certificate:+s}://127.0.0.1:$(cat got/port)
}

# push OPTION...: in the background, when it has begun; $pusher is its pid.
push() {
    rm -f pushed
    "$sprofile" push --interval 0.5 --state "$tmp/state" "$@" >pushed 2>>push.err &
    pusher=$!
    until_true [ -s pushed ]
}

# end_push SIGNAL: its status in $status.
end_push() {
    kill -"$1" "$pusher"
    status=0
    wait "$pusher" 2>/dev/null || status=$?
}

# profiled FILE "ARGUMENT..." [NAME=VALUE]: a program with the library; $program
# is its pid. With "0 next" it runs until SIGUSR1.
profiled() {
    # shellcheck disable=SC2086
    env LD_PRELOAD="$library" SPROF_OUTPUT="$tmp/$1.otlp.json" "${@:3}" \
        "$tmp/$service" $2 >/dev/null &
    program=$!
    programs_run=$((programs_run + 1))
}

# has_got N: whether the server has that many requests, or more.
has_got() {
    [ "$(find got -name '*.body' | wc -l)" -ge "$1" ]
}

# waiting LETTER...: whether requests of these protocols wait.
waiting() {
    local letter file
    for letter in "$@"; do
        for file in state/*."$letter".*; do
            [ ! -e "$file" ] || return 0
        done
    done
    return 1
}

# own_sums FILE...: of the programs' own profiles.
own_sums() {
    python3 - "$@" <<'END'
import json
import sys
sums = {}
for path in sys.argv[1:]:
    data = json.load(open(path))
    texts = data["dictionary"]["stringTable"]
    for resource in data["resourceProfiles"]:
        for profile in resource["scopeProfiles"][0]["profiles"]:
            kind = texts[profile["sampleType"]["typeStrindex"]]
            sums[kind] = sums.get(kind, 0) + sum(
                int(sample["values"][0])
                for sample in profile.get("samples", []))
print("cpu", sums["cpu"], "wall", sums["wall"])
END
}

# expect_sums SERVICE: what the server got is right, and the same as expected.
expect_sums() {
    python3 "$here/push_sums.py" got "$1" >sums || fail "a request is wrong"
    cat sums
    for protocol in "${protocols[@]}"; do
        grep "^$protocol " sums | grep -q " $(cat expected) " ||
            fail "$protocol: not $(cat expected)"
    done
}

all_has_come() {
    ! waiting o p a f && python3 "$here/push_sums.py" got "$service" >sums &&
        [ "$(grep -c " $(cat expected) " sums)" -eq ${#protocols[@]} ]
}

# Two spools were removed while no push ran. Of one nothing was taken before: it
# may have been empty, as that of a process without a sample, and not reported.
section "Spools that are gone"
mkdir -m 700 state
echo "sprofile push 1 0 0123456789abcdef0123456789abcdef" >state/state
for name in empty begun; do
    taken='0 0 0'
    [ "$name" = empty ] || taken='12 11000000 12000000'
    printf '%s\n' "spool $name.1.2.3" "path $tmp/$name.sprof" at \
        'position 4096 5000000' "taken $taken" 'debts 0 0 0' end
done >>state/state
serve ok
push --otlp "$url"
end_push TERM
expect_status 0
[ "$(grep -c 'is gone' push.err)" -eq 1 ] &&
    grep -q 'begun.sprof is gone: .* is lost$' push.err ||
    fail "what is told: $(cat push.err)"
kill "$server"
wait "$server" 2>/dev/null

section "Sums"
cp "$work/busy_and_waiting" "$service"
serve ok drop busy fail slow ok drop ok fail ok
all=(--otlp "$url" --pyroscope "$url" --parca "$url" --pprof "$url/pprof"
    --only "$tmp")
push "${all[@]}"
profiled long "0 next"
long=$program
until_true has_got 5
profiled short 200
wait "$program"
# Its spool was removed. It is whole when its end is after a saved position.
pid=$(grep -o '"process.pid","value":{"intValue":"[0-9]*' short.otlp.json |
    grep -o '[0-9]*$')
is_whole() {
    zgrep -aqs -- "process: $pid on" got/*pprof.body 2>/dev/null &&
        ! grep -q "^spool $pid\." state/state
}
until_true is_whole
end_push KILL
profiled unseen 300 SPROF_KEEP_SPOOL=1
wait "$program"
count=$(find got -name '*.body' | wc -l)
push "${all[@]}"
until_true has_got $((count + 4))
end_push KILL
push "${all[@]}"
kill -USR1 "$long"
wait "$long"
# Their own profiles say the same. Two spools were removed when these were
# written, and one was kept, because no push saw its process.
own_sums *.otlp.json >expected
until_true all_has_come
end_push TERM
expect_status 0
kill "$server"
expect_sums "$service"
grep "$tmp.*gone" push.err && fail "something was lost"
grep -q 'repeated [1-9]' sums || fail "no request was repeated"
! [ -e long.sprof ] && ! [ -e short.sprof ] && [ -e unseen.sprof ] ||
    fail "not one spool is left"

section "record --push"
cp "$work/busy_and_waiting" "$service"
serve ok drop busy ok
plain "$sprofile" record -o r.otlp.json \
    --push "--otlp $url --pyroscope $url --parca $url --pprof $url/pprof --interval 0.5" \
    -- sh -c "./$service 300; timeout 1.7 ./$service 9000; exit 3"
expect_status 3
kill "$server"
own_sums r.otlp.json >expected
expect_sums ""
! ls -d sprof.record.* 2>/dev/null || fail "something was left: $(cat err)"

section "A server that refuses, and none at all"
cp "$work/busy_and_waiting" "$service"
serve refuse
push --pprof "$url/" --otlp "http://127.0.0.1:1" --only "$tmp"
profiled long 500
wait "$program"
until_true grep -q 'refused with status 400' push.err
until_true grep -q '127.0.0.1:1.*tried again' push.err
end_push TERM
expect_status 0
kill "$server"
waiting o || fail "nothing waits for the collector"
! waiting f || fail "a refused request was kept"
plain "$sprofile" push --state "$tmp/state" --otlp "ftp://x"
[ "$status" -eq 2 ] || fail "a wrong URL is taken"

section "TLS"
if has openssl; then
    certificate=$tmp/own.pem
    openssl req -x509 -newkey rsa:2048 -nodes -days 1 -subj /CN=127.0.0.1 \
        -addext subjectAltName=IP:127.0.0.1 -keyout key.pem -out "$certificate" \
        2>log && cat key.pem >>"$certificate" || fail "openssl: $(cat log)"
    cp "$work/busy_and_waiting" "$service"
    serve ok
    # Nobody has signed it. Who names it trusts it.
    push --otlp "$url" --only "$tmp"
    profiled unknown 300
    wait "$program"
    until_true grep -qi 'certificate.*tried again' push.err
    end_push TERM
    expect_status 0
    SSL_CERT_FILE=$certificate push --otlp "$url" --only "$tmp"
    profiled known 300
    wait "$program"
    until_true has_got 1
    end_push TERM
    expect_status 0
    kill "$server"
    certificate=
fi

section "Without a directory: a process that /proc shows"
cp "$work/busy_and_waiting" "$service"
profiled long "0 next"
push --otlp "http://127.0.0.1:1"
waits_in_backlog() {
    zgrep -aqs "$service" state/*.o.* 2>/dev/null
}
until_true waits_in_backlog
plain "$sprofile" push --state "$tmp/state" --otlp "http://127.0.0.1:1"
expect_status 1
grep -q 'another sprofile push' err || fail "the message is another"
end_push TERM
kill -USR1 "$program"
wait "$program"

section "OpenTelemetry's own decoder"
cp "$work/busy_and_waiting" "$service"
if python3 -c 'import opentelemetry.proto.profiles.v1development.profiles_pb2' \
    2>/dev/null; then
    part "opentelemetry-proto"
    plain env LD_PRELOAD="$library" SPROF_OUTPUT="$tmp/a.otlp,$tmp/a.sprof" \
        OTEL_SERVICE_NAME=shop OTEL_RESOURCE_ATTRIBUTES=env=a%2Cb,x=1 \
        "$tmp/$service" 500
    python3 - <<'END' || fail "the decoder sees another profile"
import json
from opentelemetry.proto.profiles.v1development.profiles_pb2 import ProfilesData
data = ProfilesData()
data.ParseFromString(open("a.otlp", "rb").read())
d = data.dictionary
assert d.string_table[0] == ""
for table in (d.mapping_table, d.location_table, d.function_table,
              d.attribute_table, d.stack_table):
    assert not table[0].ListFields(), table[0]
facts = {a.key: a.value for a in data.resource_profiles[0].resource.attributes}
assert facts["service.name"].string_value == "shop"
assert facts["env"].string_value == "a,b"
names = set()
for profile in data.resource_profiles[0].scope_profiles[0].profiles:
    assert len(profile.profile_id) == 16
    names.add(d.string_table[profile.sample_type.type_strindex])
    for sample in profile.samples:
        for i in d.stack_table[sample.stack_index].location_indices:
            location = d.location_table[i]
            d.mapping_table[location.mapping_index]
            for line in location.lines:
                assert d.function_table[line.function_index].name_strindex > 0
assert names == {"cpu", "wall", "samples"}, names
END
else
    lacks "opentelemetry-proto" "not installed"
fi
finish
