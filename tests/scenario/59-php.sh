#!/bin/bash
# SPDX-License-Identifier: MIT
#
# Goals of this test: functions of PHP on the stacks of a real interpreter.
# - Each sample in a function that knows its callers has just these, with the
#   lines of their calls: functions, methods, closures, callbacks of native
#   functions, generators, included files, eval, recursion.
# - A wait has its functions, too.
# - The loop is not shown, except with --native.
# - kill -9 leaves the names; with SPROF_PYTHON=0 there are none.
# - Files that know kinds of code know this one. Its module is PHP, also in a
#   pprof file.
. "$(dirname "$0")/lib.sh"
has php || finish
php -r 'exit(PHP_VERSION_ID >= 80200 && PHP_VERSION_ID < 80300 && !PHP_ZTS
             ? 0 : 1);' ||
    { lacks frames "this version of PHP is not known"; finish; }

cat >part.php <<'P'
<?php
leaf_of_include();
P
cat >app.php <<'P'
<?php
$known = [];

/* Note once who called the leaf that calls this. */
function note(string $leaf): void
{
    global $known;
    if (isset($known[$leaf]))
        return;
    $trace = debug_backtrace(DEBUG_BACKTRACE_IGNORE_ARGS);
    $chain = [];
    for ($i = 1; $i < count($trace); $i++) {
        $at = $trace[$i];
        $name = $at['function'];
        if (isset($at['class']))
            $name = $at['class'] . '::' . $name;
        elseif (in_array($name, ['include', 'eval']))
            $name = '{main} ' . basename($trace[$i - 1]['file']);
        elseif (function_exists($name) &&
                (new ReflectionFunction($name))->isInternal())
            continue;
        $chain[] = [$name, $trace[$i - 1]['line']];
    }
    $chain[] = ['{main} app.php', end($trace)['line']];
    $known[$leaf] = array_reverse($chain);
}

foreach (['plain', 'method', 'fixed', 'closure', 'callback', 'sort',
          'generator', 'include', 'eval', 'deep'] as $name)
    eval("function leaf_of_$name() {
        note(__FUNCTION__);
        for (\$i = 0, \$s = 0; \$i < 1200000; \$i++)
            \$s += \$i % 7;
    }");

function leaf_of_wait()
{
    note(__FUNCTION__);
    usleep(60000);
}

class Shop
{
    public function sum(): void
    {
        leaf_of_method();
    }

    public static function of(): void
    {
        leaf_of_fixed();
    }
}

function values()
{
    for ($i = 0; $i < 2; $i++) {
        leaf_of_generator();
        yield $i;
    }
}

function descend(int $n): void
{
    if ($n > 0)
        descend($n - 1);
    else
        leaf_of_deep();
}

function turn(): void
{
    leaf_of_plain();
    (new Shop())->sum();
    Shop::of();
    $shut = function () {
        leaf_of_closure();
    };
    $shut();
    array_map(function ($x) {
        leaf_of_callback();
        return $x;
    }, [1]);
    $list = [1, 2];
    usort($list, function ($a, $b) {
        leaf_of_sort();
        return $a <=> $b;
    });
    foreach (values() as $value)
        continue;
    include __DIR__ . '/part.php';
    eval('leaf_of_eval();');
    descend(100);
    leaf_of_wait();
}

for ($turns = 0; $turns < $argv[1]; $turns++)
    turn();
file_put_contents('known.json', json_encode($known));
P

for rate in 1000 10000; do
    plain env LD_PRELOAD="$library" SPROF_COST=off SPROF_FREQUENCY=$rate \
        SPROF_OUTPUT="$tmp/p.pb.gz,$tmp/p.sprof,$tmp/p.json" \
        SPROF_MAX_DEPTH=1024 php app.php 13
    [ "$status" -eq 0 ] || fail "php ended with $status"
    said=$(python3 "$here/php_stacks.py" known.json p.pb.gz) ||
        fail "at $rate Hz: $said"
done
"$sprofile" convert --native p.sprof native.folded
grep -q 'execute_ex' native.folded || fail "--native does not show the loop"
"$sprofile" convert p.sprof p.folded
grep 'leaf_of_plain' p.folded | grep -q execute_ex &&
    fail "the loop is shown without --native"
for file in p.sprof p.pb.gz; do
    "$sprofile" report --by module -n 3 "$file" >modules
    grep -qE ' PHP$' modules && ! grep -q 'generated code' modules ||
        fail "$file: --by module: $(cat modules)"
    "$sprofile" convert --script "$file" script.folded
    grep -q '^{main} app\.php;.*leaf_of_plain ' script.folded &&
        ! grep -q '_start;.*leaf_of' script.folded ||
        fail "$file: --script: $(head -n 3 script.folded)"
done
grep -q '"name":"PHP"' p.json || fail "Firefox knows no category for PHP"
"$sprofile" report p.sprof >report.txt
grep -Eq '^php +[0-9.]+ % of CPU time' report.txt ||
    fail "the report does not begin with the program's own lines"

# What the process does now; and names outlive kill -9.
profile_begin k SPROF_COST=off php app.php 10000
pid=$(pgrep -P "$running")
shows '{main} app\.php' stacks "$pid" ||
    fail "stacks: no function: $(cat out)"
shows leaf_of_method report -n 0 k.sprof || fail "no names: $(cat out)"
kill -9 "$pid"
wait "$running" 2>/dev/null
plain "$sprofile" convert k.sprof killed.folded
grep -q 'Shop::sum;leaf_of_method' killed.folded || fail "kill -9: no names"

# Without them the loop is shown.
plain env LD_PRELOAD="$library" SPROF_PYTHON=0 SPROF_OUTPUT="$tmp/n.folded" \
    php app.php 3
grep -q execute_ex n.folded || fail "SPROF_PYTHON=0: no loop"
grep -q leaf_of_plain n.folded && fail "SPROF_PYTHON=0: functions of PHP"
finish
