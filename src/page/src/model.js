// SPDX-License-Identifier: MIT
/**
 * model.js -- what a profile is in the page, and its names. The decoder makes
 * the model; every other module only reads it. Numbers are indexes, times are
 * whole nanoseconds.
 */

import { Pairs } from './pairs.js';

/**
 * @typedef {'cpu' | 'wall' | 'waiting' | 'runnable'} Value
 * @typedef {{cause: string, count: number}} Cause
 * @typedef {Uint8Array | Uint16Array | Uint32Array | Float64Array} Numbers
 *
 * @typedef {object} Meta
 * @property {string} version
 * @property {string} product
 * @property {'profile' | 'diff'} kind
 * @property {string} command
 * @property {string} executable
 * @property {string} host
 * @property {number} start ms since the epoch
 * @property {number} wallNs length of the run
 * @property {number} cpuNs
 * @property {number} samples
 * @property {number} looks for each point at which a thread did not run
 * @property {number} threads
 * @property {number} processes
 * @property {{asked: number, reached: number, text: string}} rate
 * @property {Cause[]} lost
 * @property {Cause[]} cut
 * @property {{percent: number, text: string}} cost
 * @property {string[]} notes what is missing
 * @property {boolean} hasTime
 * @property {'usual' | 'script' | 'native'} frames those of interpreters that
 * stacks have
 * @property {boolean} hasNative rows have their stacks with all native frames
 * @property {number} [spread] without times: by how much the squares of
 * samples of running threads exceed those of equal ones
 * @property {[number, number][]} sessions
 * @property {{node: number, threads: number[]}} [idle] the idle threads, and
 * the node that stands for their waits
 * @property {'wall' | 'cpu'} mode
 * @property {string[]} summary
 * @property {string} [lostText]
 * @property {string} [cutText]
 * @property {string | null} [filter] what was left when the page was made
 * @property {Meta} [before] on a page of two profiles: that of the old one
 *
 * @typedef {object} Rows one for each thread, stack, state, wait and label set
 * @property {number} n
 * @property {Uint32Array} node
 * @property {Uint32Array} thread
 * @property {Uint16Array | Uint32Array} state
 * @property {Uint32Array} wait
 * @property {Uint32Array} label
 * @property {Float64Array} count
 * @property {Float64Array} cpu
 * @property {Float64Array} wall
 * @property {Uint32Array} [native] node of the stack with all native frames
 * @property {Uint8Array} [side] on a page of two profiles: 1 is the old one
 *
 * @typedef {object} Model
 * @property {Meta} meta
 * @property {string[]} strings
 * @property {{name: number | string, path: number | string, buildId: number | string}[]} modules
 * @property {{n: number, name: Uint32Array, file: Uint32Array, module: Uint32Array, kind: Uint8Array}} funcs
 * @property {{n: number, func: Uint32Array, line: Uint32Array, inlined: Uint8Array}} frames
 * @property {{n: number, parent: Uint32Array, frame: Uint32Array}} nodes
 * @property {{pid: number, name: number | string, command: number | string}[]} processes
 * @property {{process: number, tid: number, name: number | string, startNs: number, endNs: number}[]} threads
 * @property {{name: number | string, kind: 'running' | 'runnable' | 'waiting'}[]} states
 * @property {(number | string)[]} waits
 * @property {Int32Array | number[]} waitHolders
 * @property {[number | string, number | string][][]} labels
 * @property {Rows} rows
 * @property {{timeNs: number, thread: number, name: number | string}[]} marks
 * @property {{startNs: number, endNs: number, thread: number, name: number | string}[]} spans
 *
 * @typedef {object} Time samples one by one, by thread and then by start
 * @property {number} n
 * @property {Uint32Array} row
 * @property {Float64Array} start ns since the start of the profile
 * @property {Numbers} dur
 * @property {Numbers} cpu
 * @property {Numbers} [wall] where it is not DUR
 * @property {Numbers} [count] where it is not 1
 * @property {Uint32Array} first the first sample of each thread, and N
 */

/** Kinds of functions, as in the data. */
export const KIND = {
  native: 0,
  kernel: 1,
  generated: 2,
  script: 3,
  marker: 4,
};

/** @type {Value[]} */
export const VALUES = ['cpu', 'wall', 'waiting', 'runnable'];

/**
 * The text of TEXT, which is a number of a string or the string itself.
 * @param {Model} model
 * @param {number | string} text
 */
export function string(model, text) {
  return typeof text === 'string' ? text : (model.strings[text] ?? '');
}

/** @param {string} path */
export function base(path) {
  return path.slice(path.lastIndexOf('/') + 1);
}

/**
 * @typedef {object} Functions functions by name and module; the data may have
 * one of them in several files
 * @property {number} n
 * @property {string[]} name
 * @property {string[]} module '' for a function of Python or PHP
 * @property {string[]} group its module, or its language
 * @property {Uint32Array} moduleOf
 * @property {Uint8Array} kind
 * @property {Uint32Array} first one of its entries in model.funcs
 * @property {Uint32Array} of function by entry in model.funcs
 */

/**
 * Make one function of all entries with the same name in the same module.
 * @param {Model} model
 * @returns {Functions}
 */
export function collectFunctions(model) {
  const { funcs, modules } = model;
  const of = new Uint32Array(funcs.n);
  const kind = new Uint8Array(funcs.n);
  const moduleOf = new Uint32Array(funcs.n);
  const first = new Uint32Array(funcs.n);
  const names = modules.map((its) => base(string(model, its.name)));
  const numbers = names.map((text) => names.indexOf(text));
  const known = new Pairs();
  /** @type {string[]} */
  const name = [];
  /** @type {string[]} */
  const module = [];
  /** @type {string[]} */
  const group = [];
  for (let i = 0; i < funcs.n; i++) {
    const number = known.put(funcs.name[i], numbers[funcs.module[i]] ?? -1);
    of[i] = number;
    if (number < name.length) continue;
    name.push(string(model, funcs.name[i]));
    group.push(names[funcs.module[i]] ?? '');
    module.push(funcs.kind[i] === KIND.script ? '' : group[number]);
    kind[number] = funcs.kind[i];
    moduleOf[number] = funcs.module[i];
    first[number] = i;
  }
  return { n: name.length, name, module, group, moduleOf, kind, first, of };
}

/**
 * "file:line" of the function of NODE, or "".
 * @param {Model} model
 * @param {number} node
 */
export function place(model, node) {
  const frame = model.nodes.frame[node];
  const file = string(model, model.funcs.file[model.frames.func[frame]]);
  const line = model.frames.line[frame];
  if (!file) return '';
  return line ? `${file}:${line}` : file;
}

/**
 * @param {Model} model
 * @param {number} thread
 */
export function threadName(model, thread) {
  const its = model.threads[thread];
  return its ? string(model, its.name) || String(its.tid) : 'process';
}

/**
 * "name (tid)", and the process where there are several.
 * @param {Model} model
 * @param {number} thread
 */
export function threadTitle(model, thread) {
  const its = model.threads[thread];
  if (!its) return 'process';
  const title = `${string(model, its.name)} (${its.tid})`;
  if (model.processes.length < 2) return title;
  return `${title} of ${processName(model, its.process)}`;
}

/**
 * @param {Model} model
 * @param {number} process
 */
export function processName(model, process) {
  const its = model.processes[process];
  return its ? `${base(string(model, its.name))} (${its.pid})` : '';
}
