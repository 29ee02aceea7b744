// SPDX-License-Identifier: MIT
/**
 * merge.js -- two profiles as one model, whose rows tell which side they are
 * of. Functions are the same if their names and modules are, without what
 * compilers add for clones and without the version of a library.
 */
import { base, string } from './model.js';

/**
 * @typedef {import('./model.js').Model} Model
 */

/** @param {string} name */
export function comparableName(name) {
  return name
    .replace(/ \[clone [^\]]*\]/g, '')
    .replace(/\.(constprop|part|isra|cold|lto_priv)(\.\d+)?/g, '');
}

/**
 * @param {string} module
 * @param {string} executable
 */
export function comparableModule(module, executable) {
  if (module !== '' && module === base(executable)) return '[program]';
  const end = module.indexOf('.so');
  return end < 0 ? module : module.slice(0, end + 3);
}

/**
 * @template {Uint8Array | Uint16Array | Uint32Array | Float64Array} T
 * @param {{from(values: ArrayLike<number>): T}} Kind
 * @param {ArrayLike<number>} first
 * @param {ArrayLike<number>} second
 * @param {(number: number) => number} [turn]
 * @returns {T}
 */
function joined(Kind, first, second, turn = (number) => number) {
  return Kind.from([...Array.from(first), ...Array.from(second, turn)]);
}

/**
 * NOW and BEFORE in one; the rows of BEFORE have the side 1.
 * @param {Model} now
 * @param {Model} before
 * @returns {Model}
 */
export function mergeModels(now, before) {
  const names = renamer(now, before);
  const text = (/** @type {number | string} */ value) =>
    typeof value === 'string' ? value : value + now.strings.length;
  const module = now.modules.length;
  const nodes = now.nodes.n - 1;
  const threads = now.threads.length;
  const { rows } = before;
  return {
    ...now,
    meta: { ...now.meta, kind: 'diff', hasTime: false },
    strings: [...now.strings, ...before.strings],
    modules: [
      ...now.modules,
      ...before.modules.map((m, i) => ({
        name: names.module[i] ?? text(m.name),
        path: text(m.path),
        buildId: text(m.buildId),
      })),
    ],
    funcs: {
      n: now.funcs.n + before.funcs.n,
      name: joined(Uint32Array, now.funcs.name, names.func),
      file: joined(
        Uint32Array,
        now.funcs.file,
        before.funcs.file,
        (n) => n + now.strings.length,
      ),
      module: joined(
        Uint32Array,
        now.funcs.module,
        before.funcs.module,
        (n) => n + module,
      ),
      kind: joined(Uint8Array, now.funcs.kind, before.funcs.kind),
    },
    frames: {
      n: now.frames.n + before.frames.n,
      func: joined(
        Uint32Array,
        now.frames.func,
        before.frames.func,
        (n) => n + now.funcs.n,
      ),
      line: joined(Uint32Array, now.frames.line, before.frames.line),
      inlined: joined(Uint8Array, now.frames.inlined, before.frames.inlined),
    },
    nodes: {
      n: now.nodes.n + before.nodes.n - 1,
      parent: joined(
        Uint32Array,
        now.nodes.parent,
        before.nodes.parent.subarray(1),
        (n) => (n === 0 ? 0 : n + nodes),
      ),
      frame: joined(
        Uint32Array,
        now.nodes.frame,
        before.nodes.frame.subarray(1),
        (n) => n + now.frames.n,
      ),
    },
    processes: [
      ...now.processes,
      ...before.processes.map((p) => ({
        ...p,
        name: text(p.name),
        command: text(p.command),
      })),
    ],
    threads: [
      ...now.threads,
      ...before.threads.map((t) => ({
        ...t,
        name: text(t.name),
        process: t.process + now.processes.length,
      })),
    ],
    states: [
      ...now.states,
      ...before.states.map((s) => ({ ...s, name: text(s.name) })),
    ],
    waits: [...now.waits, ...before.waits.map(text)],
    waitHolders: [
      ...now.waitHolders,
      ...Array.from(before.waitHolders, (n) => (n < 0 ? n : n + threads)),
    ],
    labels: [
      ...now.labels,
      ...before.labels.map((set) =>
        set.map(
          ([key, value]) =>
            /** @type {[number | string, number | string]} */ ([
              text(key),
              text(value),
            ]),
        ),
      ),
    ],
    rows: {
      n: now.rows.n + rows.n,
      node: joined(Uint32Array, now.rows.node, rows.node, (n) =>
        n === 0 ? 0 : n + nodes,
      ),
      thread: joined(
        Uint32Array,
        now.rows.thread,
        rows.thread,
        (n) => n + threads,
      ),
      state: joined(
        Uint32Array,
        now.rows.state,
        rows.state,
        (n) => n + now.states.length,
      ),
      wait: joined(
        Uint32Array,
        now.rows.wait,
        rows.wait,
        (n) => n + now.waits.length,
      ),
      label: joined(
        Uint32Array,
        now.rows.label,
        rows.label,
        (n) => n + now.labels.length,
      ),
      count: joined(Float64Array, now.rows.count, rows.count),
      cpu: joined(Float64Array, now.rows.cpu, rows.cpu),
      wall: joined(Float64Array, now.rows.wall, rows.wall),
      side: joined(
        Uint8Array,
        new Uint8Array(now.rows.n),
        new Uint8Array(rows.n).fill(1),
      ),
    },
  };
}

/**
 * Names of functions and modules of BEFORE that are the same in NOW get those
 * of NOW.
 * @param {Model} now
 * @param {Model} before
 */
function renamer(now, before) {
  const moduleKey = (/** @type {Model} */ model, /** @type {number} */ i) =>
    comparableModule(
      base(string(model, model.modules[i]?.name ?? '')),
      model.meta.executable,
    );
  /** @type {Map<string, number>} */
  const modules = new Map();
  now.modules.forEach((m, i) => {
    if (typeof m.name === 'number') modules.set(moduleKey(now, i), m.name);
  });
  /** @type {Map<string, number>} */
  const known = new Map();
  for (let i = 0; i < now.funcs.n; i++)
    known.set(
      `${comparableName(now.strings[now.funcs.name[i]])}\0${moduleKey(now, now.funcs.module[i])}`,
      now.funcs.name[i],
    );
  const func = Uint32Array.from(before.funcs.name, (name, i) => {
    const key = `${comparableName(before.strings[name])}\0${moduleKey(before, before.funcs.module[i])}`;
    return known.get(key) ?? name + now.strings.length;
  });
  return {
    func,
    module: before.modules.map((_, i) => modules.get(moduleKey(before, i))),
  };
}
