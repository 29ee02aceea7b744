// SPDX-License-Identifier: MIT
/**
 * decode.test.mjs -- what decode.js reads from a page is what the profile has:
 * sums by function, thread, state and range of time equal those of `sprofile
 * report --json` to the nanosecond.
 */
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { before, test } from 'node:test';

import {
  decodeHead,
  decodeJson,
  decodeTime,
  elementsOf,
} from '../../src/page/src/decode.js';
import { KIND } from '../../src/page/src/model.js';
import { build, elements, report, run, scratch } from './page.mjs';

/**
 * The profiles: one that make_spool knows, one of a program with lines, and one
 * of a program with many functions.
 */
const made = join(scratch, 'made.sprof');
const costs = join(scratch, 'costs.sprof');
const real = join(scratch, 'real.sprof');
/** Ranges of time, in seconds, of which something is left. */
const ranges = {
  made: [
    [0.001, 0.0041],
    [0.0021234, 0.0035],
  ],
  costs: [
    [0.01, 0.05],
    [0.02, 3],
  ],
  real: [
    [0.003, 0.0071],
    [0.0101234, 0.1],
    [0.02, 3],
  ],
};
const program = `
import json, re, threading, time
def work():
    for i in range(8):
        json.dumps([{"a": j} for j in range(9000)])
        re.findall(r"[a-z]+", "hello world " * 9000)
        time.sleep(0.01)
threads = [threading.Thread(target=work) for i in range(3)]
[thread.start() for thread in threads]
[thread.join() for thread in threads]
`;

async function load(file) {
  const page = `${file}.html`;
  run('sprofile', ['convert', file, page]);
  const document = elements(page);
  const model = await decodeHead(elementsOf(document, 'sprof-head'));
  const parts = elementsOf(document, 'sprof-time');
  const time = parts.length > 0 ? await decodeTime(model, parts) : null;
  return { model, time };
}

/** The name of the module of FUNC. In a report script functions have none. */
function moduleOf({ funcs, strings, modules }, func) {
  const name = strings[modules[funcs.module[func]].name];
  if (funcs.kind[func] !== KIND.script) return name;
  assert.equal(name, 'Python');
  return '';
}

/** The key of each node's function. */
function keysOf(model) {
  const { nodes, frames, funcs, strings } = model;
  return Array.from(nodes.frame, (frame, node) => {
    if (node === 0) return '';
    const func = frames.func[frame];
    return `${strings[funcs.name[func]]}\0${moduleOf(model, func)}`;
  });
}

/** Sums of ROWS (row, cpu, wall, count) by function, as the report has them. */
function table(model, rows) {
  const { parent } = model.nodes;
  const keys = keysOf(model);
  const sums = new Map();
  const add = (key, column, values) => {
    const sum = sums.get(key) ?? [0n, 0n, 0n, 0n, 0n, 0n];
    values.forEach((value, i) => (sum[column + 2 * i] += BigInt(value)));
    sums.set(key, sum);
  };
  for (const [row, ...values] of rows) {
    const leaf = model.rows.node[row];
    const seen = new Set();
    if (leaf !== 0) add(keys[leaf], 0, values);
    for (let node = leaf; node !== 0; node = parent[node]) seen.add(keys[node]);
    for (const key of seen) add(key, 1, values);
  }
  return sums;
}

function assertTable(model, rows, expected) {
  const sums = table(model, rows);
  for (const row of expected.rows) {
    const key = `${row.function}\0${row.module}`;
    assert.deepEqual(
      sums.get(key)?.map(Number),
      [
        row.cpu_flat_ns,
        row.cpu_cum_ns,
        row.wall_flat_ns,
        row.wall_cum_ns,
        row.samples_flat,
        row.samples_cum,
      ],
      key,
    );
    sums.delete(key);
  }
  for (const [key, sum] of sums)
    assert.ok(
      sum.every((value) => value === 0n),
      `not in the report: ${key}`,
    );
}

function* allRows({ rows }, keep = () => true) {
  for (let i = 0; i < rows.n; i++)
    if (keep(i)) yield [i, rows.cpu[i], rows.wall[i], rows.count[i]];
}

/** The samples from FROM to TO ns, as view/filter.h counts them. */
function* between(time, from, to) {
  for (let i = 0; i < time.n; i++) {
    const start = BigInt(time.start[i]);
    const length = BigInt(time.dur[i]);
    let a = 0n;
    let b = 1n;
    if (length === 0n) {
      if (start < from || start >= to) continue;
    } else {
      const end = start + length;
      if (from >= end || to <= start) continue;
      a = from > start ? from - start : 0n;
      b = (to < end ? to : end) - start;
    }
    const whole = length === 0n ? 1n : length;
    const part = (value) =>
      (BigInt(value) * b) / whole - (BigInt(value) * a) / whole;
    yield [
      time.row[i],
      part(time.cpu[i]),
      part(time.wall[i]),
      part(time.count[i]),
    ];
  }
}

const loaded = {};

before(async () => {
  run('tests/workload/make_spool', [made]);
  run('/usr/bin/python3', ['-c', program], {
    LD_PRELOAD: join(build, 'libsprof.so'),
    SPROF_OUTPUT: real,
    SPROF_CACHE: 'off',
  });
  run('tests/workload/two_costs', ['60', '1000', '1000'], {
    LD_PRELOAD: join(build, 'libsprof.so'),
    SPROF_OUTPUT: costs,
    SPROF_CACHE: 'off',
  });
  loaded.made = await load(made);
  loaded.costs = await load(costs);
  loaded.real = await load(real);
});

for (const [name, file] of [
  ['made', made],
  ['costs', costs],
  ['real', real],
]) {
  test(`${name}: sums by function are those of the report`, () => {
    const { model } = loaded[name];
    assertTable(model, allRows(model), report([file]));
  });

  test(`${name}: own times of lines are those of the report`, () => {
    const { model } = loaded[name];
    const { nodes, frames, funcs, strings, rows } = model;
    const sums = new Map();
    for (const [row, cpu, wall] of allRows(model)) {
      const frame = nodes.frame[rows.node[row]];
      const func = frames.func[frame];
      const key = [
        strings[funcs.name[func]],
        moduleOf(model, func),
        strings[funcs.file[func]],
        frames.line[frame],
      ].join('\0');
      const sum = sums.get(key) ?? [0, 0];
      sums.set(key, [sum[0] + cpu, sum[1] + wall]);
    }
    let lines = 0;
    for (const row of report(['--by', 'line', file]).rows) {
      const key = [row.function, row.module, row.file, row.line].join('\0');
      const own = [row.cpu_flat_ns, row.wall_flat_ns];
      assert.deepEqual(sums.get(key) ?? [0, 0], own, key);
      lines += row.line > 0;
    }
    if (name === 'costs') assert.ok(lines > 0);
  });

  test(`${name}: the samples of a row add up to the row`, () => {
    const { model, time } = loaded[name];
    const { rows } = model;
    const sums = Array.from({ length: rows.n }, () => [0, 0, 0]);
    for (let i = 0; i < time.n; i++) {
      const sum = sums[time.row[i]];
      sum[0] += time.cpu[i];
      sum[1] += time.wall[i];
      sum[2] += time.count[i];
    }
    for (let i = 0; i < rows.n; i++)
      assert.deepEqual(sums[i], [rows.cpu[i], rows.wall[i], rows.count[i]]);
  });

  test(`${name}: samples lie in their threads, in the order of time`, () => {
    const { model, time } = loaded[name];
    assert.equal(time.first.length, model.threads.length + 1);
    assert.equal(time.first.at(-1), time.n);
    for (let thread = 0; thread < model.threads.length; thread++)
      for (let i = time.first[thread]; i < time.first[thread + 1]; i++) {
        assert.equal(model.rows.thread[time.row[i]], thread);
        if (i > time.first[thread])
          assert.ok(time.start[i] >= time.start[i - 1]);
      }
  });

  test(`${name}: each thread has what the report says`, () => {
    const { model } = loaded[name];
    const sums = new Map();
    for (const [row, cpu] of allRows(model)) {
      const { tid, name: id } = model.threads[model.rows.thread[row]];
      const key = `${tid} ${model.strings[id]}`;
      sums.set(key, (sums.get(key) ?? 0) + cpu);
    }
    for (const row of report(['--by', 'thread', file]).rows)
      assert.equal(sums.get(`${row.tid} ${row.thread}`), row.cpu_ns);
  });

  test(`${name}: each state has what the report says`, () => {
    const { model } = loaded[name];
    const sums = new Map();
    for (const [row, , wall] of allRows(model)) {
      const key = model.strings[model.states[model.rows.state[row]].name];
      sums.set(key, (sums.get(key) ?? 0) + wall);
    }
    for (const row of report(['--by', 'state', file]).rows)
      assert.equal(sums.get(row.state), row.wall_ns);
  });

  test(`${name}: a range of time is cut as by --time`, () => {
    const { model, time } = loaded[name];
    for (const [from, to] of ranges[name]) {
      const rows = between(
        time,
        BigInt(Math.round(from * 1e9)),
        BigInt(Math.round(to * 1e9)),
      );
      assertTable(model, rows, report(['--time', `${from}-${to}`, file]));
    }
  });

  test(`${name}: filters leave what the report leaves`, () => {
    const { model } = loaded[name];
    const { rows, states, threads, strings, waits } = model;
    const thread = threads[rows.thread[rows.n - 1]].tid;
    assertTable(
      model,
      allRows(model, (i) => threads[rows.thread[i]].tid === thread),
      report(['--thread', `${thread}`, file]),
    );
    assertTable(
      model,
      allRows(model, (i) => states[rows.state[i]].kind === 'waiting'),
      report(['--state', 'waiting', file]),
    );
    const wait = rows.wait.find((number) => number > 0);
    if (wait === undefined) return;
    const text = strings[waits[wait]];
    assertTable(
      model,
      allRows(model, (i) => strings[waits[rows.wait[i]]] === text),
      report(['--label', `waits_on=${text}`, file]),
    );
  });
}

test('several files are added up, and filters hold', async () => {
  const page = join(scratch, 'both.html');
  const filters = ['--state', 'running', '--time', '0-0.2'];
  run('sprofile', ['flame', ...filters, '-o', page, real, made]);
  const document = elements(page);
  const model = await decodeHead(elementsOf(document, 'sprof-head'));
  const expected = report([...filters, real, made]);
  assertTable(model, allRows(model), expected);
  assert.equal(model.meta.filter, expected.filter);
  assert.equal(model.processes.length, expected.processes.length);
});

test('a comparison has the rows and chances of sprofile diff', async () => {
  const page = join(scratch, 'diff.html');
  const options = ['--wall', '--shares'];
  run('sprofile', ['diff', ...options, '-o', page, made, real]);
  const document = elements(page);
  const old = await decodeHead(elementsOf(document, 'sprof-head-old'));
  const diff = await decodeJson(elementsOf(document, 'sprof-diff'));
  assert.equal(old.meta.command, 'app --fast');
  for (const [words, key] of [
    [[], ''],
    [['--cum'], 'Total'],
  ]) {
    const rows = new Map(
      diff.rows.map((row) => [`${row.name}\0${row.module}`, row]),
    );
    const text = run('sprofile', [
      ...['diff', '--json', '--all', ...options, ...words],
      ...[made, real],
    ]);
    for (const expected of JSON.parse(text).rows) {
      const row = rows.get(`${expected.function}\0${expected.module}`);
      assert.equal(row[`old${key || 'Self'}`], expected.old_ns);
      assert.equal(row[`new${key || 'Self'}`], expected.new_ns);
      assert.equal(row[`p${key}`], expected.false_alarm_chance);
      assert.equal(
        ['new', 'gone', 'slower', 'faster'].includes(row[`verdict${key}`]),
        expected.significant,
      );
    }
  }
});

test('source has the lines of the file', async () => {
  const page = join(scratch, 'source.html');
  run('sprofile', ['flame', '--source', '-o', page, made]);
  const source = await decodeJson(elementsOf(elements(page), 'sprof-source'));
  assert.deepEqual(source, { files: [], missing: [] });
});

test('the head tells what ran', () => {
  const { meta } = loaded.made.model;
  assert.equal(meta.command, 'app --fast');
  assert.equal(meta.hasTime, true);
  assert.equal(meta.kind, 'profile');
  assert.deepEqual(meta.lost, [{ cause: 'exited', count: 2 }]);
  assert.deepEqual(meta.cut, [{ cause: 'no rule', count: 1 }]);
  assert.match(meta.summary[0], /^command +app --fast/);
});

test('a page of a pprof file has no time axis, and says so', async () => {
  const file = join(scratch, 'made.pb.gz');
  run('sprofile', ['convert', made, file]);
  const { model, time } = await load(file);
  assert.equal(time, null);
  assert.equal(model.meta.hasTime, false);
  assert.match(model.meta.notes[0], /^no time axis: a pprof file/);
  assertTable(model, allRows(model), report([file]));
});

test('data that was cut or is of another version is refused', async () => {
  const document = elements(`${made}.html`);
  const { textContent } = document.getElementById('sprof-head');
  const half = {
    textContent: textContent.slice(0, 4 * Math.floor(textContent.length / 8)),
  };
  await assert.rejects(decodeHead(half));
  const other = { textContent: 'YwAA' };
  await assert.rejects(decodeHead(other));
});
