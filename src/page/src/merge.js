// SPDX-License-Identifier: MIT
/**
 * merge.js -- two profiles as one model, whose rows say which side they are
 * of. Functions are the same if their names and modules are, without what
 * compilers add for clones and without the version of a library.
 */
import { base, string } from './model.js';

/**
 * @typedef {import('./model.js').Model} Model
 */

/** What `sprofile diff` leaves out: all from the first mark of a clone. */
const CLONE =
  /^(.+?)( \[clone |\.(constprop|isra|part|lto_priv|llvm)\.|\.cold).*$/s;

/** @param {string} name */
export function comparableName(name) {
  return name.replace(CLONE, '$1');
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
 * FIRST and SECOND in one; the numbers of SECOND are raised BY.
 * @template {Uint8Array | Uint16Array | Uint32Array | Float64Array} T
 * @param {{new (length: number): T}} Kind
 * @param {ArrayLike<number>} first
 * @param {ArrayLike<number>} second
 * @param {number} [by]
 * @returns {T}
 */
function joined(Kind, first, second, by = 0) {
  const both = new Kind(first.length + second.length);
  both.set(first);
  for (let i = 0; i < second.length; i++)
    both[first.length + i] = second[i] + by;
  return both;
}

/**
 * NOW and BEFORE in one; the rows of BEFORE have the side 1.
 * @param {Model} now
 * @param {Model} before
 * @returns {Model}
 */
export function mergeModels(now, before) {
  return {
    ...now,
    meta: {
      ...now.meta,
      kind: 'diff',
      before: before.meta,
      hasTime: false,
      hasNative: now.meta.hasNative || before.meta.hasNative,
    },
    strings: [...now.strings, ...before.strings],
    ...mergeCode(now, before),
    ...mergeLists(now, before),
    rows: mergeRows(now, before),
  };
}

/**
 * Texts of BEFORE as they are in both.
 * @param {Model} now
 */
function renumber(now) {
  return (/** @type {number | string} */ value) =>
    typeof value === 'string' ? value : value + now.strings.length;
}

/**
 * @param {Model} now
 * @param {Model} before
 */
function mergeCode(now, before) {
  const names = renamer(now, before);
  const text = renumber(now);
  const modules = now.modules.length;
  const nodes = now.nodes.n - 1;
  const { funcs, frames } = now;
  const oldParents = before.nodes.parent.subarray(1);
  const oldFrames = before.nodes.frame.subarray(1);
  return {
    modules: [
      ...now.modules,
      ...before.modules.map((m, i) => ({
        name: names.module[i] ?? text(m.name),
        path: text(m.path),
        buildId: text(m.buildId),
      })),
    ],
    funcs: {
      n: funcs.n + before.funcs.n,
      name: joined(Uint32Array, funcs.name, names.func),
      file: joined(
        Uint32Array,
        funcs.file,
        before.funcs.file,
        now.strings.length,
      ),
      module: joined(Uint32Array, funcs.module, before.funcs.module, modules),
      kind: joined(Uint8Array, funcs.kind, before.funcs.kind),
    },
    frames: {
      n: frames.n + before.frames.n,
      func: joined(Uint32Array, frames.func, before.frames.func, funcs.n),
      line: joined(Uint32Array, frames.line, before.frames.line),
      inlined: joined(Uint8Array, frames.inlined, before.frames.inlined),
    },
    nodes: {
      n: now.nodes.n + before.nodes.n - 1,
      parent: joined(
        Uint32Array,
        now.nodes.parent,
        oldParents.map((n) => (n === 0 ? 0 : n + nodes)),
      ),
      frame: joined(Uint32Array, now.nodes.frame, oldFrames, frames.n),
    },
  };
}

/**
 * @param {Model} now
 * @param {Model} before
 */
function mergeLists(now, before) {
  const text = renumber(now);
  const threads = now.threads.length;
  /** @type {Model['labels']} */
  const oldLabels = before.labels.map((set) =>
    set.map(([key, value]) => [text(key), text(value)]),
  );
  return {
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
    labels: [...now.labels, ...oldLabels],
  };
}

/**
 * @param {Model} now
 * @param {Model} before
 */
function mergeRows(now, before) {
  const { rows } = now;
  const old = before.rows;
  const nodes = now.nodes.n - 1;
  const joinNodes = (
    /** @type {Uint32Array} */ first,
    /** @type {Uint32Array} */ second,
  ) =>
    joined(
      Uint32Array,
      first,
      second.map((n) => (n === 0 ? 0 : n + nodes)),
    );
  return {
    n: rows.n + old.n,
    node: joinNodes(rows.node, old.node),
    native: joinNodes(rows.native ?? rows.node, old.native ?? old.node),
    thread: joined(Uint32Array, rows.thread, old.thread, now.threads.length),
    state: joined(Uint32Array, rows.state, old.state, now.states.length),
    wait: joined(Uint32Array, rows.wait, old.wait, now.waits.length),
    label: joined(Uint32Array, rows.label, old.label, now.labels.length),
    count: joined(Float64Array, rows.count, old.count),
    cpu: joined(Float64Array, rows.cpu, old.cpu),
    wall: joined(Float64Array, rows.wall, old.wall),
    side: joined(
      Uint8Array,
      new Uint8Array(rows.n),
      new Uint8Array(old.n).fill(1),
    ),
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
