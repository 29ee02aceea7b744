// SPDX-License-Identifier: MIT
/** model.test.mjs -- the page's sums, without a browser. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { App, initialState, usualValue } from '../../src/page/src/app.js';
import { buildTree, sumTree } from '../../src/page/src/calltree.js';
import * as confidence from '../../src/page/src/confidence.js';
import * as functions_ from '../../src/page/src/functions.js';
import {
  addThread,
  collectLanes,
  emptyStrip,
} from '../../src/page/src/lanes.js';
import {
  boxAt,
  layoutSequence,
  layoutTree,
} from '../../src/page/src/layout.js';
import {
  comparableModule,
  comparableName,
  mergeModels,
} from '../../src/page/src/merge.js';
import { collectFunctions } from '../../src/page/src/model.js';
import * as selection from '../../src/page/src/selection.js';
import { fromFragment, toFragment } from '../../src/page/src/url.js';
import * as window_ from '../../src/page/src/window.js';
import { makeModel, random } from './synthetic.mjs';

const { model, time } = makeModel();
const functions = collectFunctions(model);
const plain = { group: 'none', fold: false, invert: false };
const all = (values) => values.reduce((sum, value) => sum + value, 0);

/** The functions of a row's stack, leaf first, without the page's code. */
function stackOf(row) {
  const stack = [];
  for (let node = model.rows.node[row]; node; node = model.nodes.parent[node])
    stack.push(functions.of[model.frames.func[model.nodes.frame[node]]]);
  return stack;
}

test('a page of a program that waits begins with wall time', () => {
  const of = (cpuNs, mode) => usualValue({ mode, cpuNs, wallNs: 1e9 });
  assert.equal(of(49e6, 'wall'), 'wall');
  assert.equal(of(0, 'wall'), 'wall');
  assert.equal(of(51e6, 'wall'), 'cpu');
  assert.equal(of(1e6, 'cpu'), 'cpu');
});

test('a tree keeps the sum, whatever its shape', () => {
  for (const group of ['none', 'thread', 'process', 'state', 'request'])
    for (const fold of [false, true])
      for (const invert of [false, true]) {
        const tree = buildTree(model, functions, { group, fold, invert });
        const sums = sumTree(tree, model.rows.cpu);
        assert.equal(sums.total[0], all(model.rows.cpu));
        assert.equal(all(sums.self), all(model.rows.cpu));
        for (let node = 1; node < tree.n; node++)
          assert.ok(tree.parent[node] < node);
      }
});

test('folded: a function once on a stack, with the same time of its own', () => {
  const selfOf = (tree) => {
    const { self } = sumTree(tree, model.rows.cpu);
    const sums = new Float64Array(functions.n);
    for (let node = 1; node < tree.n; node++)
      sums[tree.func[node]] += self[node];
    return sums;
  };
  const folded = buildTree(model, functions, { ...plain, fold: true });
  const whole = buildTree(model, functions, plain);
  assert.ok(folded.n < whole.n);
  assert.deepEqual(selfOf(folded), selfOf(whole));
  for (let node = 1; node < folded.n; node++) {
    const path = [];
    for (let at = node; at > 0; at = folded.parent[at])
      path.push(folded.func[at]);
    assert.equal(new Set(path).size, path.length);
  }
});

test('markers are not folded', () => {
  const marked = { ...functions, kind: functions.kind.map(() => 4) };
  const folded = buildTree(model, marked, { ...plain, fold: true });
  assert.equal(folded.n, buildTree(model, functions, plain).n);
});

test('self and total of functions are those of the stacks', () => {
  const tree = buildTree(model, functions, plain);
  const top = functions_.topmost(tree, functions.n);
  const sums = sumTree(tree, model.rows.wall);
  const got = functions_.sumFunctions(tree, top, sums, functions.n);
  const self = new Float64Array(functions.n);
  const total = new Float64Array(functions.n);
  for (let row = 0; row < model.rows.n; row++) {
    const stack = stackOf(row);
    self[stack[0]] += model.rows.wall[row];
    for (const func of new Set(stack)) total[func] += model.rows.wall[row];
  }
  assert.deepEqual(got.self, self);
  assert.deepEqual(got.total, total);
});

test('callers have what a function has; callees have theirs below it', () => {
  const tree = buildTree(model, functions, plain);
  const top = functions_.topmost(tree, functions.n);
  const sums = sumTree(tree, model.rows.cpu);
  const { total } = functions_.sumFunctions(tree, top, sums, functions.n);
  for (let func = 0; func < functions.n; func++) {
    const callers = functions_.callersOf(tree, top, sums, func);
    assert.equal(all(callers.map((caller) => caller.total)), total[func]);
    const expected = new Map();
    for (let row = 0; row < model.rows.n; row++) {
      const stack = stackOf(row);
      const seen = new Set();
      for (let i = 1; i < stack.length; i++)
        if (stack[i] === func && stack[i - 1] !== func) seen.add(stack[i - 1]);
      for (const callee of seen)
        expected.set(callee, (expected.get(callee) ?? 0) + model.rows.cpu[row]);
    }
    for (const callee of functions_.calleesOf(tree, sums, func))
      assert.equal(callee.total, expected.get(callee.func));
  }
});

test('what matches is counted once', () => {
  const tree = buildTree(model, functions, plain);
  const sums = sumTree(tree, model.rows.cpu);
  const yes = selection.matchFunctions(functions, /_1/);
  let expected = 0;
  for (let row = 0; row < model.rows.n; row++)
    if (stackOf(row).some((func) => yes[func])) expected += model.rows.cpu[row];
  assert.equal(functions_.matchedTotal(tree, sums, yes), expected);
});

test('filters of one key are alternatives, of two both hold', () => {
  const keep = (filters, focus = [], ignore = []) =>
    selection.selectRows(model, functions, { filters, focus, ignore });
  const count = (rows) => all(rows);
  const main = { key: 'thread', value: 'main' };
  const second = { key: 'tid', value: '4712' };
  const workers = { key: 'thread', value: 'worker-*' };
  const waiting = { key: 'state', value: 'waiting' };
  assert.equal(count(keep([main])) + count(keep([workers])), model.rows.n);
  assert.equal(count(keep([main, workers])), model.rows.n);
  assert.ok(count(keep([main, waiting])) < count(keep([main])));
  assert.equal(count(keep([main, second])), 0);
  assert.equal(
    count(keep([{ key: 'process', value: 'app.4711' }])),
    model.rows.n,
  );
  assert.equal(count(keep([{ key: 'module', value: 'nowhere' }])), 0);
  assert.ok(count(keep([{ key: 'module', value: 'libc*' }])) > 0);
  const request = [{ key: 'request', value: '/index' }];
  assert.ok(count(keep(request)) > 0);
  assert.equal(
    count(keep([], ['function_1$'])) + count(keep([], [], ['function_1$'])),
    model.rows.n,
  );
  assert.equal(count(keep([], ['('])), 0);
});

test('the parts of a value add up, also beyond 2^53', () => {
  const next = random(7);
  for (let i = 0; i < 5000; i++) {
    const length = 1 + Math.floor(next() * 10 ** (1 + (i % 13)));
    const value = Math.floor(next() * 10 ** (1 + (i % 12)));
    const middle = Math.floor(next() * length);
    const exact = (BigInt(value) * BigInt(middle)) / BigInt(length);
    assert.equal(window_.partOf(value, 0, middle, length), Number(exact));
    assert.equal(
      window_.partOf(value, 0, middle, length) +
        window_.partOf(value, middle, length, length),
      value,
    );
  }
});

test('neighbouring windows add up to the profile', () => {
  const long = window_.collectLong(time);
  const cuts = [-1, 1234567, 2.5e9, 2.5e9 + 1, 7e9, 1e12];
  const sums = { cpu: 0, wall: 0 };
  for (let i = 0; i + 1 < cuts.length; i++) {
    const part = window_.sumWindow(model, time, long, [cuts[i], cuts[i + 1]]);
    sums.cpu += all(part.cpu);
    sums.wall += all(part.wall);
  }
  assert.equal(sums.cpu, all(model.rows.cpu));
  assert.equal(sums.wall, all(model.rows.wall));
});

test('a long sample reaches into a window from far before it', () => {
  const one = { ...makeModel({ samples: 10, threads: 1 }) };
  const late = {
    n: 2,
    row: Uint32Array.of(0, 0),
    start: Float64Array.of(0, 5e9),
    dur: Float64Array.of(9e9, 10),
    cpu: Float64Array.of(0, 0),
    first: Uint32Array.of(0, 2),
  };
  const sums = window_.sumWindow(
    one.model,
    late,
    window_.collectLong(late),
    [6e9, 7e9],
  );
  assert.equal(all(sums.wall), 1e9);
});

test('boxes of a level are sorted, and inside their callers', () => {
  const tree = buildTree(model, functions, plain);
  const sums = sumTree(tree, model.rows.cpu);
  const layout = layoutTree(tree, sums.total, null);
  assert.equal(layout.width, sums.total[0]);
  for (const level of layout.levels)
    for (let i = 0; i < level.node.length; i++) {
      assert.equal(level.to[i] - level.from[i], sums.total[level.node[i]]);
      if (i > 0) assert.ok(level.from[i] >= level.to[i - 1]);
      const middle = (level.from[i] + level.to[i]) / 2;
      assert.equal(boxAt(level, middle), i);
    }
});

test('in the order of time neighbours of one function are one box', () => {
  const tree = buildTree(model, functions, plain);
  const sequence = {
    node: Int32Array.of(1, 1, 2, 1),
    value: Float64Array.of(5, 6, 7, 8),
    n: 4,
  };
  const layout = layoutSequence(tree, sequence);
  assert.equal(layout.width, 26);
  assert.deepEqual([...layout.levels[0].to], [26]);
  assert.equal(
    all(layout.levels[1].to.map((to, i) => to - layout.levels[1].from[i])),
    26,
  );
});

test('lanes fold threads of one name, and keep their time', () => {
  const lanes = collectLanes(model);
  assert.deepEqual(lanes.map(({ threads }) => threads.length).sort(), [1, 4]);
  const strip = emptyStrip(100);
  const source = {
    model,
    time,
    long: window_.collectLong(time),
    keep: new Uint8Array(model.rows.n).fill(1),
    matches: null,
  };
  for (let thread = 0; thread < 5; thread++)
    addThread(source, thread, [0, 1e11], strip);
  const cpu = all(model.rows.cpu);
  assert.ok(Math.abs(all(strip.running) - cpu) < cpu * 1e-4);
});

test('the state survives the address', () => {
  const state = {
    ...initialState(),
    view: 'table',
    value: 'waiting',
    search: 'a&b=c#d %+',
    filters: [
      { key: 'thread', value: 'x=y' },
      { key: 'request', value: '/a?b' },
    ],
    focus: ['^f$', 'g'],
    range: [1500000000, 2250001000],
    fold: true,
    chosen: 'operator=@lib',
    zoom: [3, -1, 7],
  };
  assert.deepEqual(fromFragment(`#${toFragment(state)}`), state);
  assert.equal(toFragment(initialState()), '');
  assert.deepEqual(
    fromFragment('#view=nowhere&range=5-1&value=x'),
    initialState(),
  );
});

test('intervals are those of counting', () => {
  const row = { value: 250, squares: 250 };
  const whole = { value: 1000, squares: 1000 };
  // Wilson's interval for 250 of 1,000 ends at 0.2778; for none of them, and
  // for all of 10, at 0.0038 and 0.7225.
  const close = (value, expected) =>
    assert.ok(Math.abs(value - expected) < 1e-4, `${value}`);
  const ten = { value: 10, squares: 10 };
  close(confidence.interval(row, whole), 0.0278);
  close(confidence.interval({ value: 0, squares: 0 }, whole), 0.0038);
  close(confidence.interval(ten, ten), 0.2775);
  assert.equal(confidence.interval({ value: 9, squares: 0 }, whole), 0);
  assert.equal(confidence.dim({ value: 4, squares: 4 }), ' few');
  assert.equal(confidence.dim({ value: 5, squares: 5 }), '');
  assert.equal(confidence.points(row), 250);
  assert.ok(Math.abs(confidence.tails(1.959964) - 0.05) < 1e-6);
});

test('the chance of a change is what the hand gives', () => {
  const sum = (value, squares, sampled) => ({ value, squares, sampled });
  const close = (chance, expected) =>
    assert.ok(Math.abs(chance - expected) < expected / 100, `${chance}`);
  const whole = sum(1000, 1000, 1000);
  const none = sum(0, 0, 0);
  const few = sum(30, 30, 30);
  const noise = (...rows) => confidence.chanceOfNoise(whole, whole, ...rows);
  assert.equal(noise(few, few), 1);
  assert.equal(noise(none, none), 1);
  // (0.03 - 0.001) / sqrt(0.045 * 0.955 * 2 / 1000) = 3.128
  close(noise(few, sum(60, 60, 60)), 0.00176);
  // A second at 1,000 Hz against one at 62.5: a point of the row stands for
  // 1 ms and for 16. The common share of 30 points and 5 is 35 of 1,062.5.
  // (0.05 - 0.0085) / sqrt(0.03294 * 0.96706 * (0.001 + 0.016)) = 1.783
  const slow = (...rows) =>
    confidence.chanceOfNoise(whole, sum(1000, 16000), ...rows, 16);
  close(slow(few, sum(80, 1280, 1280)), 0.0745);
  // Of what the new run does not have, a point would stand for 16 ms.
  close(slow(few, none), 0.3195);
  // That of a wait stands for what it is, at any rate.
  assert.ok(slow(sum(80, 80, 0), none) < 1e-9);
  // Large points of one side are those of both: 630 / 90 = 7 for each.
  // (0.03 - 0.007) / sqrt(0.045 * 0.955 * (2 * 0.955 * 0.007 + 0.045 * 0.001426))
  close(noise(few, sum(60, 600, 600)), 0.3385);
  // Times: (60 - 30 - 1) / sqrt(45 * (1 + 1)) = 3.057
  const times = (...rows) =>
    confidence.chanceOfNoise(whole, sum(500, 500, 500), ...rows, 1, true);
  close(times(few, sum(60, 60, 60)), 0.00224);
  // Half of the time and the same share of it.
  assert.ok(times(sum(900, 900, 900), sum(450, 450, 450)) < 1e-9);
});

test('boxes of two runs have that chance, at the rates of both', () => {
  const app = new App(mergeModels(model, makeModel({ samples: 5000 }).model));
  app.state.value = 'wall';
  const { rows, states } = app.model;
  const { tree } = app;
  const sums = (node) => {
    const sides = [0, 1].map(() => ({ value: 0, squares: 0, sampled: 0 }));
    for (let row = 0; row < rows.n; row++) {
      let at = tree.node[row];
      while (at > node) at = tree.parent[at];
      if (at !== node) continue;
      const isRunning = states[rows.state[row]].kind === 'running';
      const square = rows.wall[row] ** 2 / (isRunning ? rows.count[row] : 1);
      const side = sides[rows.side[row]];
      side.value += rows.wall[row];
      side.squares += square;
      side.sampled += isRunning ? square : 0;
    }
    return sides;
  };
  const running = [0, 0];
  for (let row = 0; row < rows.n; row++)
    if (states[rows.state[row]].kind === 'running')
      running[rows.side[row]] += rows.wall[row];
  const [now, old] = sums(0);
  const ratio = now.sampled / running[0] / (old.sampled / running[1]);
  assert.ok(ratio > 0.2 && ratio < 0.3, `${ratio}`);
  let found = 0;
  for (let node = 1; node < 60; node++) {
    const [after, before] = sums(node);
    const expected = confidence.chanceOfNoise(old, now, before, after, ratio);
    assert.ok(Math.abs(app.noise(node) - expected) < 1e-9, `${node}`);
    found += Number(expected < 1);
  }
  assert.ok(found > 5, `${found}`);
});

test('a change without the marks of clones finds its function', () => {
  const names = (i) =>
    i === 3 ? 'f.lto_priv.7' : i === 4 ? 'g(int) [clone .part.0]' : `h_${i}`;
  const app = new App(makeModel({ names }).model);
  const find = (name, module) =>
    app.functions.name[app.comparableOf(name, module)];
  assert.equal(find('f', 'app'), 'f.lto_priv.7');
  assert.equal(find('g(int)', 'libc.so.6'), 'g(int) [clone .part.0]');
  assert.equal(find('h_5', 'libz.so.1'), 'h_5');
  assert.equal(find('h_5', 'libz.so.2'), 'h_5');
  assert.equal(find('f', 'libc.so.6'), undefined);
});

test('two runs are one model with two sides', () => {
  const other = makeModel({ seed: 1, samples: 5000 }).model;
  const both = mergeModels(model, other);
  const side = (number) =>
    all(both.rows.cpu.filter((_, row) => both.rows.side[row] === number));
  assert.equal(side(0), all(model.rows.cpu));
  assert.equal(side(1), all(other.rows.cpu));
  assert.equal(collectFunctions(both).n, functions.n);
  assert.equal(comparableName('f.constprop.0 [clone .cold]'), 'f');
  assert.equal(comparableName('g.lto_priv.12.part.3'), 'g');
  assert.equal(comparableName('.cold'), '.cold');
  assert.equal(comparableModule('libz.so.1.2', '/bin/app'), 'libz.so');
  assert.equal(comparableModule('app', '/bin/app'), '[program]');
});

test('the largest come first, whatever is equal', () => {
  const next = random(3);
  const values = Float64Array.from({ length: 500 }, () =>
    Math.floor(next() * 9),
  );
  const then = Float64Array.from({ length: 500 }, () => Math.floor(next() * 9));
  const order = (a, b) => values[b] - values[a] || then[b] - then[a] || a - b;
  const expected = [...values.keys()].sort(order);
  for (const most of [1, 7, 60, 499, 500, 900])
    assert.deepEqual(
      functions_.largest(values, then, most),
      expected.slice(0, most),
    );
});

/** A model with a node for waits of threads 1 and 2, as a page has it. */
function withIdle() {
  const made = makeModel().model;
  const { strings, funcs, frames, nodes } = made;
  const grown = (array, value) => array.constructor.from([...array, value]);
  return {
    ...made,
    meta: { ...made.meta, idle: { node: nodes.n, threads: [1, 2] } },
    strings: [...strings, '[2 idle threads]'],
    funcs: {
      n: funcs.n + 1,
      name: grown(funcs.name, strings.length),
      file: grown(funcs.file, 0),
      module: grown(funcs.module, 0),
      kind: grown(funcs.kind, 4),
    },
    frames: {
      n: frames.n + 1,
      func: grown(frames.func, funcs.n),
      line: grown(frames.line, 0),
      inlined: grown(frames.inlined, 0),
    },
    nodes: {
      n: nodes.n + 1,
      parent: grown(nodes.parent, 0),
      frame: grown(nodes.frame, frames.n),
    },
  };
}

test('waits of idle threads are one box, the last one', () => {
  const app = new App(withIdle());
  const { rows, states } = app.whole;
  const isFolded = (row) =>
    states[rows.state[row]].kind !== 'running' &&
    [1, 2].includes(rows.thread[row]);
  const waits = all(rows.wall.map((ns, row) => (isFolded(row) ? ns : 0)));
  app.state.value = 'wall';
  assert.equal(app.functions.name[app.idle], '[2 idle threads]');
  assert.equal(app.functionSums().self[app.idle], waits);
  assert.equal(all(app.functionSums().self), all(rows.wall));
  const [, level] = app.layout.levels;
  const last = level.node[level.node.length - 1];
  assert.equal(app.tree.func[last], app.idle);
  assert.equal(level.to.at(-1) - level.from.at(-1), waits);
  const order = functions_.largest(
    app.idleLast(app.functionSums().self),
    app.functionSums().total,
    app.functions.n,
  );
  assert.equal(order.at(-1), app.idle);
  for (const state of [
    { idle: true },
    { value: 'cpu' },
    { filters: [{ key: 'thread', value: 'main' }] },
    { focus: ['function_1'] },
  ]) {
    const other = new App(withIdle());
    Object.assign(other.state, { value: 'wall', ...state });
    assert.equal(other.functionSums().self[other.idle], 0);
    assert.equal(other.model.rows.node, other.whole.rows.node);
  }
  assert.equal(
    fromFragment(toFragment({ ...initialState(), idle: true })).idle,
    true,
  );
  assert.ok(Number.isNaN(new App(makeModel().model).idle));
});

test('a note about a stack is found by its brackets alone', () => {
  const names = (i) => (i === 0 ? '[frames elided]' : `frame_${i}`);
  const { model } = makeModel({ names });
  model.funcs.kind[0] = 4;
  const found = collectFunctions(model);
  const count = (expression) =>
    all(selection.matchFunctions(found, expression));
  assert.equal(count(/frame/), found.n - 1);
  assert.equal(count(/elided/), 0);
  assert.equal(count(/\[frames elided/), 1);
  assert.equal(count(/^\[frames/), 1);
});
