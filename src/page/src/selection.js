// SPDX-License-Identifier: MIT
/**
 * selection.js -- which rows of a profile are seen. Filters mean here what they
 * mean on the command line: values of one key are alternatives, different keys
 * all hold, a stack matches an expression if one of its functions does.
 */
import { base, KIND, string } from './model.js';

/**
 * @typedef {import('./model.js').Model} Model
 * @typedef {import('./model.js').Functions} Functions
 *
 * @typedef {object} Filter KEY is thread, tid, process, state, waits_on,
 * module, or that of a label
 * @property {string} key
 * @property {string} value
 *
 * @typedef {object} Selection
 * @property {Filter[]} filters
 * @property {string[]} focus expressions that a stack must match
 * @property {string[]} ignore expressions that no stack may match
 */

/** What stands for code in no module. */
export const NO_MODULE = '[generated code]';

/** @returns {Selection} */
export function everything() {
  return { filters: [], focus: [], ignore: [] };
}

/** @param {string} text */
export function escape(text) {
  return text.replace(/[.*+?^${}()|[\]\\]/g, '\\$&');
}

/**
 * The expression that only NAME matches.
 * @param {string} name
 */
export function exactly(name) {
  return `^${escape(name)}$`;
}

/**
 * A pattern of the shell as an expression; null if it has none.
 * @param {string} pattern
 */
function glob(pattern) {
  if (!/[*?[]/.test(pattern)) return null;
  const text = pattern
    .replace(/[.+^${}()|\\]/g, '\\$&')
    .replace(/\*/g, '.*')
    .replace(/\?/g, '.')
    .replace(/\[!/g, '[^');
  try {
    return new RegExp(`^${text}$`, 's');
  } catch {
    return null;
  }
}

/**
 * A test of names against VALUE, which is a name or a pattern.
 * @param {string} value
 * @returns {(name: string) => boolean}
 */
function matcher(value) {
  const pattern = glob(value);
  return (name) => name === value || (pattern?.test(name) ?? false);
}

/**
 * What each thread, state, module... has to be for one filter.
 * @param {Model} model
 * @param {Functions} functions
 * @param {Filter} filter
 * @returns {(row: number) => boolean}
 */
function rowTest(model, functions, { key, value }) {
  const { rows } = model;
  const matches = matcher(value);
  if (key === 'module') {
    const yes = leavesIn(model, functions, matches);
    return (row) => yes[rows.node[row]] === 1;
  }
  if (key === 'thread' || key === 'tid' || key === 'process') {
    const yes = model.threads.map((thread) => {
      if (key === 'process') return isProcess(model, thread.process, value);
      if (String(thread.tid) === value) return true;
      return key === 'thread' && matches(string(model, thread.name));
    });
    return (row) => yes[rows.thread[row]];
  }
  if (key === 'state') {
    const yes = model.states.map(
      (state) =>
        string(model, state.name) === value ||
        (state.kind === 'waiting' && value === 'waiting'),
    );
    return (row) => yes[rows.state[row]];
  }
  if (key === 'waits_on') {
    const yes = model.waits.map((wait) => string(model, wait) === value);
    return (row) => yes[rows.wait[row]];
  }
  const yes = model.labels.map((set) =>
    set.some(
      ([name, text]) =>
        string(model, name) === key && matches(string(model, text)),
    ),
  );
  return (row) => yes[rows.label[row]] ?? false;
}

/**
 * The nodes whose function is in a module of a name or path that MATCHES.
 * A marker that stands for no code of a module is in none.
 * @param {Model} model
 * @param {Functions} functions
 * @param {(name: string) => boolean} matches
 */
function leavesIn(model, functions, matches) {
  const modules = model.modules.map((module, number) => {
    const name = base(string(model, module.name));
    if (name === '') return matches(NO_MODULE);
    return matches(name) || (number > 0 && matches(string(model, module.path)));
  });
  const { frame } = model.nodes;
  const yes = new Uint8Array(model.nodes.n);
  for (let node = 1; node < yes.length; node++) {
    const entry = model.frames.func[frame[node]];
    const module = model.funcs.module[entry];
    if (model.funcs.kind[entry] === KIND.marker && !module) continue;
    yes[node] = modules[module] ? 1 : 0;
  }
  return yes;
}

/**
 * @param {Model} model
 * @param {number} process
 * @param {string} value
 */
function isProcess(model, process, value) {
  const { pid, name } = model.processes[process];
  const text = base(string(model, name));
  return value === String(pid) || value === text || value === `${text}.${pid}`;
}

/**
 * The functions whose names match EXPRESSION. A marker ("[truncated]") is none:
 * an expression matches it only by its brackets.
 * @param {Functions} functions
 * @param {RegExp} expression
 */
export function matchFunctions(functions, expression) {
  const yes = new Uint8Array(functions.n);
  for (let i = 0; i < functions.n; i++) {
    const name = functions.name[i];
    yes[i] = Number(
      expression.test(name) &&
        !(
          functions.kind[i] === KIND.marker &&
          expression.test(name.slice(1, -1))
        ),
    );
  }
  return yes;
}

/**
 * The nodes that have one of the functions YES on their stack.
 * @param {Model} model
 * @param {Functions} functions
 * @param {Uint8Array} yes by function
 */
export function matchNodes(model, functions, yes) {
  const { parent, frame } = model.nodes;
  const nodes = new Uint8Array(model.nodes.n);
  for (let node = 1; node < nodes.length; node++)
    nodes[node] =
      nodes[parent[node]] | yes[functions.of[model.frames.func[frame[node]]]];
  return nodes;
}

/**
 * Compile EXPRESSION; null if it is not valid.
 * @param {string} expression
 * @param {string} [flags]
 */
export function compile(expression, flags = '') {
  try {
    return new RegExp(expression, flags);
  } catch {
    return null;
  }
}

/**
 * 1 for each row that SELECTION has. An expression that is not valid selects
 * nothing.
 * @param {Model} model
 * @param {Functions} functions
 * @param {Selection} selection
 * @returns {Uint8Array}
 */
export function selectRows(model, functions, selection) {
  const { rows } = model;
  const keep = new Uint8Array(rows.n).fill(1);
  for (const key of new Set(selection.filters.map((filter) => filter.key)))
    drop(
      keep,
      selection.filters
        .filter((filter) => filter.key === key)
        .map((filter) => rowTest(model, functions, filter)),
    );
  for (const [list, wanted] of /** @type {[string[], number][]} */ ([
    [selection.focus, 1],
    [selection.ignore, 0],
  ]))
    for (const expression of list) {
      const compiled = compile(expression);
      const nodes = compiled
        ? matchNodes(model, functions, matchFunctions(functions, compiled))
        : new Uint8Array(model.nodes.n).fill(1 - wanted);
      for (let row = 0; row < rows.n; row++)
        if (nodes[rows.node[row]] !== wanted) keep[row] = 0;
    }
  return keep;
}

/**
 * Drop the rows for which none of TESTS is true.
 * @param {Uint8Array} keep
 * @param {((row: number) => boolean)[]} tests
 */
function drop(keep, tests) {
  for (let row = 0; row < keep.length; row++)
    if (keep[row] && !tests.some((test) => test(row))) keep[row] = 0;
}
