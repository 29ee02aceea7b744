// SPDX-License-Identifier: MIT
/** synthetic.mjs -- profiles in memory, as the decoder gives them. */

/** A small generator of numbers, the same in each run. */
export function random(seed) {
  let state = seed >>> 0;
  return () => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return state / 4294967296;
  };
}

const STATES = [
  { name: 'running', kind: 'running' },
  { name: 'runnable', kind: 'runnable' },
  { name: 'futex', kind: 'waiting' },
  { name: 'read', kind: 'waiting' },
];

/**
 * A profile of THREADS threads whose stacks are paths of a random tree.
 */
export function makeModel({
  seed = 1,
  nodes = 300,
  functions = 60,
  threads = 5,
  samples = 20000,
  names = (i) => `function_${i}`,
} = {}) {
  const next = random(seed);
  const strings = [''];
  const intern = (text) => strings.push(text) - 1;
  const modules = ['', '/usr/bin/app', '/lib/libc.so.6', '/lib/libz.so.1'].map(
    (path) => ({
      name: intern(path.slice(path.lastIndexOf('/') + 1)),
      path: intern(path),
      buildId: 0,
    }),
  );
  const funcs = {
    n: functions,
    name: Uint32Array.from({ length: functions }, (_, i) => intern(names(i))),
    file: new Uint32Array(functions).fill(intern('/src/app.c')),
    module: Uint32Array.from({ length: functions }, (_, i) => 1 + (i % 3)),
    kind: new Uint8Array(functions),
  };
  const frames = {
    n: functions,
    func: Uint32Array.from({ length: functions }, (_, i) => i),
    line: Uint32Array.from({ length: functions }, (_, i) => 10 + i),
    inlined: new Uint8Array(functions),
  };
  const tree = {
    n: nodes,
    parent: Uint32Array.from({ length: nodes }, (_, i) =>
      i < 2 ? 0 : Math.max(1, Math.floor(i - 1 - next() * Math.min(i - 1, 40))),
    ),
    frame: Uint32Array.from({ length: nodes }, (_, i) =>
      i < 2 ? 0 : Math.floor(next() * functions),
    ),
  };
  const model = {
    meta: makeMeta(samples, threads),
    strings,
    modules,
    funcs,
    frames,
    nodes: tree,
    processes: [{ pid: 4711, name: intern('app'), command: intern('./app') }],
    threads: Array.from({ length: threads }, (_, i) => ({
      process: 0,
      tid: 4711 + i,
      name: intern(i === 0 ? 'main' : `worker-${i}`),
      startNs: 0,
      endNs: 1e10,
    })),
    states: STATES,
    waits: ['', 'mutex held by worker-1 (4712)'],
    waitHolders: Int32Array.from([-1, 1]),
    labels: [[], [['request', '/index']], [['request', '/search']]],
    marks: [{ timeNs: 3e9, thread: -1, name: 'loaded' }],
    spans: [{ startNs: 4e9, endNs: 5e9, thread: 1, name: 'frame' }],
  };
  return { model, ...makeSamples(model, samples, next) };
}

function makeMeta(samples, threads) {
  return {
    version: '0',
    product: 'libsprof',
    kind: 'profile',
    command: './app --synthetic',
    executable: '/usr/bin/app',
    host: 'host',
    frames: 'usual',
    hasNative: false,
    start: Date.UTC(2026, 0, 1),
    wallNs: 1e10,
    cpuNs: 0,
    samples,
    threads,
    processes: 1,
    rate: {
      asked: 1000,
      reached: 990,
      text: '990 a CPU second of 1,000 asked',
    },
    lost: [],
    cut: [],
    cost: { percent: 0.4, text: 'sampler 0.04 s CPU' },
    notes: [],
    hasTime: true,
    sessions: [[0, 1e10]],
    mode: 'wall',
    summary: [],
  };
}

/** Samples of each thread one after the other; rows are their sums. */
function makeSamples(model, samples, next) {
  const rows = new Map();
  const per = Math.floor(samples / model.threads.length);
  const time = {
    n: per * model.threads.length,
    row: new Uint32Array(per * model.threads.length),
    start: new Float64Array(per * model.threads.length),
    dur: new Float64Array(per * model.threads.length),
    cpu: new Float64Array(per * model.threads.length),
    first: new Uint32Array(model.threads.length + 1),
  };
  const list = [];
  let n = 0;
  model.threads.forEach((_, thread) => {
    time.first[thread] = n;
    let at = 0;
    let node = 1;
    for (let i = 0; i < per; i++) {
      if (next() < 0.3) node = 1 + Math.floor(next() * (model.nodes.n - 1));
      const state = next() < 0.6 ? 0 : 1 + Math.floor(next() * 3);
      const wait = state === 2 ? 1 : 0;
      const label = thread % 3;
      const dur = Math.floor((0.5 + next()) * (1e10 / per / 1.5));
      const key = [node, thread, state, wait, label].join();
      let row = rows.get(key);
      if (row === undefined) {
        row = list.length;
        rows.set(key, row);
        list.push({
          node,
          thread,
          state,
          wait,
          label,
          count: 0,
          cpu: 0,
          wall: 0,
        });
      }
      const cpu = state === 0 ? Math.floor(dur * 0.9) : 0;
      time.row[n] = row;
      time.start[n] = at;
      time.dur[n] = dur;
      time.cpu[n++] = cpu;
      list[row].count++;
      list[row].cpu += cpu;
      list[row].wall += dur;
      at += dur;
    }
  });
  time.first[model.threads.length] = n;
  const column = (key, Kind) => Kind.from(list, (row) => row[key]);
  model.rows = {
    n: list.length,
    node: column('node', Uint32Array),
    thread: column('thread', Uint32Array),
    state: column('state', Uint16Array),
    wait: column('wait', Uint32Array),
    label: column('label', Uint32Array),
    count: column('count', Float64Array),
    cpu: column('cpu', Float64Array),
    wall: column('wall', Float64Array),
  };
  model.meta.cpuNs = list.reduce((sum, row) => sum + row.cpu, 0);
  return { time };
}
