// SPDX-License-Identifier: MIT
/**
 * app.js -- the state of the page, and what follows from it. A view reads; a
 * change of state goes through set(). What follows is made when it is asked for
 * and kept until something that it depends on changes.
 */
import { buildTree, sumTree } from './calltree.js';
import { chanceOfNoise, isUnsampled, pointsOf } from './confidence.js';
import { choicesOf, foldIdle, withFrames } from './frames.js';
import { matchedTotal, sumFunctions, topmost } from './functions.js';
import { layoutSequence, layoutTree } from './layout.js';
import { comparableModule, comparableName } from './merge.js';
import { collectFunctions, KIND } from './model.js';
import { sumOwnLines } from './ownlines.js';
import {
  compile,
  matchFunctions,
  matchNodes,
  selectRows,
} from './selection.js';
import {
  collectLong,
  partOf,
  rowValues,
  sumWindow,
  total,
  visitWindow,
} from './window.js';

/**
 * @typedef {import('./model.js').Model} Model
 * @typedef {import('./model.js').Time} Time
 * @typedef {import('./model.js').Value} Value
 * @typedef {import('./window.js').Range} Range
 * @typedef {import('./window.js').Sums} Sums
 * @typedef {import('./selection.js').Filter} Filter
 * @typedef {import('./calltree.js').Tree} Tree
 * @typedef {import('./confidence.js').Sum} Sum
 *
 * @typedef {object} State
 * @property {'flame' | 'table' | 'tree' | 'waits' | 'changes' | 'source'} view
 * @property {Value} value
 * @property {'module' | 'state' | 'difference'} colour
 * @property {string} group
 * @property {'heavy' | 'name' | 'time'} order
 * @property {import('./frames.js').Frames} frames
 * @property {boolean} fold
 * @property {boolean} idle idle threads are as all others
 * @property {boolean} invert
 * @property {boolean} flip the root is at the bottom
 * @property {'share' | 'absolute'} compare
 * @property {string} search
 * @property {Filter[]} filters
 * @property {string[]} focus
 * @property {string[]} ignore
 * @property {Range | null} range
 * @property {Range | null} base
 * @property {string} chosen a function, as its key
 * @property {number[]} zoom functions from the root to the zoomed box
 * @property {string} sort column of the table
 * @property {'lanes' | 'heat'} strip
 * @property {'' | 'light' | 'dark'} theme
 */

/** @returns {State} */
export function initialState() {
  return {
    view: 'flame',
    value: 'cpu',
    colour: 'module',
    group: 'none',
    order: 'heavy',
    frames: 'usual',
    fold: false,
    idle: false,
    invert: false,
    flip: false,
    compare: 'share',
    search: '',
    filters: [],
    focus: [],
    ignore: [],
    range: null,
    base: null,
    chosen: '',
    zoom: [],
    sort: 'self',
    strip: 'lanes',
    theme: '',
  };
}

/**
 * The time that a page shows first: of a program that used less than 5 % of one
 * CPU, all time.
 * @param {import('./model.js').Meta} meta
 * @returns {import('./model.js').Value}
 */
export function usualValue({ mode, cpuNs, wallNs }) {
  return mode === 'wall' && cpuNs < wallNs / 20 ? 'wall' : 'cpu';
}

export class App {
  /** @param {Model} model */
  constructor(model) {
    /** The model as it is in the page. */
    this.whole = model;
    this.shown = { frames: model.meta.frames, folds: false, model };
    this.functions = collectFunctions(model);
    /** @type {import('./frames.js').Frames[]} */
    this.frameChoices = this.functions.kind.includes(KIND.script)
      ? choicesOf(model)
      : [];
    /** @type {Time | null} */
    this.time = null;
    /** @type {import('./window.js').Long | null} */
    this.long = null;
    /** @type {import('./changes.js').Changes | null} */
    this.changes = null;
    /** @type {import('./source.js').Sources | null} */
    this.sources = null;
    this.state = initialState();
    /** @type {Map<string, {on: unknown[], result: any}>} */
    this.kept = new Map();
    /** @type {((changed: Set<string>) => void)[]} */
    this.listeners = [];
    /** The function under the pointer, or -1. */
    this.pointed = -1;
    /** @type {((event: PointerEvent | null) => void)[]} */
    this.pointListeners = [];
    /** @type {Set<string>} */
    this.changed = new Set();
    this.isScheduled = false;
  }

  /**
   * The model with the frames that are asked for. Idle threads are one box where
   * they are one row of `sprofile report --wall`.
   */
  get model() {
    const { frames, value, idle, filters, focus } = this.state;
    const folds =
      value !== 'cpu' && !idle && filters.length + focus.length === 0;
    if (this.shown.frames !== frames || this.shown.folds !== folds) {
      const model = withFrames(this.whole, frames);
      this.shown = { frames, folds, model: folds ? foldIdle(model) : model };
    }
    return this.shown.model;
  }

  /** The function of idle threads, NaN if there is none. */
  get idle() {
    const { meta, frames, nodes } = this.whole;
    return meta.idle
      ? this.functions.of[frames.func[nodes.frame[meta.idle.node]]]
      : NaN;
  }

  /** VALUES by function, of which that of idle threads comes last. */
  idleLast(/** @type {Float64Array} */ values) {
    const { idle } = this;
    return values.map((value, func) => (func === idle ? -1 : value));
  }

  /** @param {Time} time */
  setTime(time) {
    this.time = time;
    this.long = collectLong(time);
    this.announce('time');
  }

  /** @param {Partial<State>} patch */
  set(patch) {
    Object.assign(this.state, patch);
    for (const key of Object.keys(patch)) this.announce(key);
  }

  /** @param {(changed: Set<string>) => void} listener */
  listen(listener) {
    this.listeners.push(listener);
  }

  /**
   * The pointer is on FUNC, -1 is none. EVENT: it has no box that shows it.
   * @param {number} func
   * @param {PointerEvent | null} [event]
   */
  point(func, event = null) {
    if (func === this.pointed) return;
    this.pointed = func;
    for (const listener of this.pointListeners) listener(event);
  }

  /** @param {string} key */
  announce(key) {
    this.changed.add(key);
    if (this.isScheduled) return;
    this.isScheduled = true;
    requestAnimationFrame(() => this.flush());
  }

  /** Notify the listeners at once of what has changed. */
  flush() {
    const changed = this.changed;
    if (changed.size === 0) return;
    this.changed = new Set();
    this.isScheduled = false;
    for (const listener of this.listeners) listener(changed);
  }

  /**
   * The result of MAKE, kept as NAME while the model and all of ON stay the
   * same.
   * @template T
   * @param {string} name
   * @param {unknown[]} on
   * @param {() => T} make
   * @returns {T}
   */
  keep(name, on, make) {
    const all = [this.model, ...on];
    const old = this.kept.get(name);
    if (old && old.on.every((value, i) => value === all[i])) return old.result;
    const result = make();
    this.kept.set(name, { on: all, result });
    return result;
  }

  /** Whether two things are compared. */
  get isDiff() {
    return this.model.rows.side !== undefined || this.state.base !== null;
  }

  /** 1 for each row that the filters keep. @returns {Uint8Array} */
  get rows() {
    const { filters, focus, ignore } = this.state;
    return this.keep('rows', [filters, focus, ignore], () =>
      selectRows(this.model, this.functions, { filters, focus, ignore }),
    );
  }

  /** @returns {Sums} */
  get sums() {
    const { range } = this.state;
    return this.keep('sums', [range, this.time], () =>
      sumWindow(this.model, this.time, this.long, range),
    );
  }

  /** @returns {Sums} */
  get baseSums() {
    const { base } = this.state;
    return this.keep('baseSums', [base, this.time], () =>
      sumWindow(this.model, this.time, this.long, base),
    );
  }

  /**
   * Rows that the filters keep, of one side.
   * @param {number} side
   */
  rowsOf(side) {
    const { side: sides } = this.model.rows;
    const rows = this.rows;
    if (!sides) return rows;
    return this.keep(`rows${side}`, [rows], () =>
      rows.map((keep, row) => (sides[row] === side ? keep : 0)),
    );
  }

  /**
   * By row, what is looked at.
   * @param {Value} [value]
   */
  values(value = this.state.value) {
    const rows = this.rowsOf(0);
    return this.keep(`values ${value}`, [rows, this.sums], () =>
      rowValues(this.model, this.sums, rows, value),
    );
  }

  /** By row, what it is compared with; null if nothing is. */
  get baseValues() {
    if (!this.isDiff) return null;
    const { value, base } = this.state;
    const rows = this.rowsOf(this.model.rows.side ? 1 : 0);
    const sums = base ? this.baseSums : this.sums;
    return this.keep('baseValues', [rows, sums, value], () =>
      rowValues(this.model, sums, rows, value),
    );
  }

  /** By what the base is multiplied so that both can be compared. */
  get baseScale() {
    const { compare, range, base } = this.state;
    const values = this.baseValues;
    if (!values) return 1;
    const now = total(this.values());
    if (compare === 'share') return now / (total(values) || 1);
    if (!base) return 1;
    const length = (/** @type {Range | null} */ r) =>
      r ? r[1] - r[0] : this.model.meta.wallNs;
    return length(range) / (length(base) || 1);
  }

  /** The sum of what the filters keep in all of the time. */
  get wholeTotal() {
    const rows = this.rowsOf(0);
    return this.keep('wholeTotal', [this.state.value], () =>
      total(
        rowValues(
          this.model,
          this.model.rows,
          new Uint8Array(rows.length).fill(1),
          this.state.value,
        ),
      ),
    );
  }

  /** @returns {Tree} */
  get tree() {
    const { group, fold, invert } = this.state;
    if (group === 'none' && !fold && !invert) return this.plainTree.tree;
    return this.keep('tree', [group, fold, invert], () =>
      buildTree(this.model, this.functions, { group, fold, invert }),
    );
  }

  get treeSums() {
    const values = this.values();
    if (this.tree === this.plainTree.tree) return this.plainSums();
    return this.keep('treeSums', [this.tree, values], () =>
      sumTree(this.tree, values),
    );
  }

  get treeBase() {
    const values = this.baseValues;
    if (!values) return null;
    return this.keep('treeBase', [this.tree, values], () =>
      sumTree(this.tree, values),
    );
  }

  /** The tree from the root that functions are summed over. */
  get plainTree() {
    return this.keep('plainTree', [], () => {
      const tree = buildTree(this.model, this.functions, {
        group: 'none',
        fold: false,
        invert: false,
      });
      return { tree, top: topmost(tree, this.functions.n) };
    });
  }

  /**
   * Sums by node of the plain tree.
   * @param {Value} [value]
   */
  plainSums(value = this.state.value) {
    const values = this.values(value);
    return this.keep(`plainSums ${value}`, [values], () =>
      sumTree(this.plainTree.tree, values),
    );
  }

  /**
   * Sums by function.
   * @param {Value} [value]
   */
  functionSums(value = this.state.value) {
    const { tree, top } = this.plainTree;
    const sums = this.plainSums(value);
    return this.keep(`functionSums ${value}`, [sums], () =>
      sumFunctions(tree, top, sums, this.functions.n),
    );
  }

  /** Lines of the program's own files of Python or PHP. */
  ownLines() {
    const values = this.values();
    return this.keep('ownLines', [values], () =>
      sumOwnLines(this.model, values),
    );
  }

  get functionBase() {
    const values = this.baseValues;
    if (!values) return null;
    const { tree, top } = this.plainTree;
    return this.keep('functionBase', [values], () =>
      sumFunctions(tree, top, sumTree(tree, values), this.functions.n),
    );
  }

  /** Variances: what a point of each row stands for. */
  get points() {
    return this.keep('points', [this.time], () =>
      pointsOf(this.model, this.time),
    );
  }

  /**
   * Of VALUES by row, their variances.
   * @param {string} name
   * @param {Float64Array} values
   * @param {{cpu: Float64Array, wall: Float64Array}} [of]
   */
  squaresOf(name, values, of = this.points) {
    const point = this.state.value === 'cpu' ? of.cpu : of.wall;
    return this.keep(`${name} by row`, [values, point], () =>
      values.map((value, row) => value * point[row]),
    );
  }

  /**
   * Sums of squares over the tree of VALUES.
   * @param {string} name
   * @param {Float64Array} values
   * @param {{cpu: Float64Array, wall: Float64Array}} [of]
   */
  treeSquares(name, values, of) {
    const squares = this.squaresOf(name, values, of);
    return this.keep(name, [this.tree, squares], () =>
      sumTree(this.tree, squares),
    );
  }

  /**
   * The part of the squares of VALUES by running threads, over the tree, and
   * what a point of such a thread stands for.
   * @param {string} name
   * @param {Float64Array} values
   */
  treeSampled(name, values) {
    const squares = this.squaresOf(name, values);
    return this.keep(`${name} sampled`, [this.tree, squares], () => {
      const { rows, states } = this.model;
      let running = 0;
      const sampled = squares.map((square, row) => {
        if (states[rows.state[row]].kind !== 'running') return 0;
        running += values[row];
        return square;
      });
      const sums = sumTree(this.tree, sampled);
      return { sums, point: sums.total[0] / (running || 1) };
    });
  }

  /**
   * The total of a node of the tree with its variance.
   * @param {number} node
   * @param {string} [name]
   * @param {{cpu: Float64Array, wall: Float64Array}} [of]
   * @returns {Sum}
   */
  nodeSum(node, name = 'squares', of) {
    return {
      value: this.treeSums.total[node],
      squares: this.treeSquares(name, this.values(), of).total[node],
    };
  }

  /** The same for its share. @param {number} node */
  nodeShare(node) {
    return this.nodeSum(node, 'shares', this.points.share);
  }

  /**
   * Self or total of a function with its variance.
   * @param {'self' | 'total'} part
   * @param {number} func
   * @returns {Sum}
   */
  functionShare(part, func) {
    const { tree, top } = this.plainTree;
    const squares = this.squaresOf('shares', this.values(), this.points.share);
    const sums = this.keep('functionShares', [squares], () =>
      sumFunctions(tree, top, sumTree(tree, squares), this.functions.n),
    );
    return {
      value: this.functionSums()[part][func],
      squares: sums[part][func],
    };
  }

  /** What is selected, as the head shows it. */
  get selected() {
    const { model, sums } = this;
    const rows = this.rowsOf(0);
    return this.keep('selected', [rows, sums], () => {
      const its = { cpu: 0, wall: 0, ran: 0, looks: 0, threads: new Set() };
      for (let row = 0; row < rows.length; row++) {
        if (!rows[row] || !(sums.count[row] || sums.cpu[row])) continue;
        const { kind } = model.states[model.rows.state[row]];
        its.cpu += sums.cpu[row];
        its.wall += sums.wall[row];
        if (kind !== 'running') its.looks += sums.count[row];
        else if (!isUnsampled(model, row)) its.ran += sums.count[row];
        its.threads.add(model.rows.thread[row]);
      }
      return its;
    });
  }

  /**
   * The same of what it is compared with.
   * @param {number} node
   * @returns {Sum}
   */
  baseSum(node) {
    const values = this.baseValues;
    if (!values || !this.treeBase) return { value: 0, squares: 0 };
    return {
      value: this.treeBase.total[node],
      squares: this.treeSquares('baseSquares', values).total[node],
    };
  }

  /** The chance that the change of NODE is noise. @param {number} node */
  noise(node) {
    const values = this.baseValues;
    if (!values) return 1;
    const old = this.treeSampled('baseSquares', values);
    const now = this.treeSampled('squares', this.values());
    return chanceOfNoise(
      this.baseSum(0),
      this.nodeSum(0),
      { ...this.baseSum(node), sampled: old.sums.total[node] },
      { ...this.nodeSum(node), sampled: now.sums.total[node] },
      old.point > 0 && now.point > 0 ? now.point / old.point : 1,
      this.state.compare === 'absolute',
    );
  }

  /** The widths of nodes: with a base, the mean of both. */
  get widths() {
    const now = this.treeSums.total;
    const before = this.treeBase?.total;
    if (!before) return now;
    const scale = this.baseScale;
    return this.keep('widths', [now, before, scale], () =>
      now.map((value, node) => (value + scale * before[node]) / 2),
    );
  }

  /** @returns {import('./layout.js').Layout} */
  get layout() {
    const { order } = this.state;
    const isTimed = order === 'time' && this.time !== null;
    if (isTimed)
      return this.keep('layout', [this.tree, this.values(), order], () =>
        layoutSequence(this.tree, this.sequence()),
      );
    const names = order === 'name' ? this.compareNames() : null;
    return this.keep('layout', [this.tree, this.widths, order], () =>
      layoutTree(this.tree, this.widths, names, this.idle),
    );
  }

  compareNames() {
    const { tree, functions } = this;
    const name = (/** @type {number} */ node) =>
      tree.func[node] < 0
        ? tree.groups[-1 - tree.func[node]]
        : functions.name[tree.func[node]];
    return (/** @type {number} */ a, /** @type {number} */ b) =>
      name(a) < name(b) ? -1 : name(a) > name(b) ? 1 : a - b;
  }

  /** The samples that are looked at, in their order: places and values. */
  sequence() {
    const { time, long, model, tree } = this;
    const { range, value } = this.state;
    if (!time || !long) {
      return { node: new Int32Array(0), value: new Float64Array(0), n: 0 };
    }
    const seen = this.values();
    const source = value === 'cpu' ? time.cpu : (time.wall ?? time.dur);
    let most = 0;
    for (let i = 0; i < time.n; i++) if (seen[time.row[i]] > 0) most++;
    const node = new Int32Array(most);
    const values = new Float64Array(most);
    const ends = tree.path ?? tree.node;
    const window = range ?? /** @type {Range} */ ([-1, Infinity]);
    let n = 0;
    for (let thread = 0; thread < model.threads.length; thread++)
      visitWindow(time, long, thread, window, (i, a, b, length) => {
        if (seen[time.row[i]] === 0 || source[i] === 0) return;
        node[n] = ends[time.row[i]];
        values[n++] =
          b - a < length ? partOf(source[i], a, b, length) : source[i];
      });
    return { node, value: values, n };
  }

  /** The functions that the search matches; null without a search. */
  get matches() {
    const { search } = this.state;
    return this.keep('matches', [search], () => {
      if (!search) return null;
      const expression = compile(search, /[A-Z]/.test(search) ? '' : 'i');
      return expression && matchFunctions(this.functions, expression);
    });
  }

  /** By row, whether its stack has a match; null without a search. */
  get matchedRows() {
    const matches = this.matches;
    return this.keep('matchedRows', [matches], () =>
      matches ? this.rowsWith(matches) : null,
    );
  }

  /**
   * By row, whether one of the functions YES is on its stack.
   * @param {Uint8Array} yes
   */
  rowsWith(yes) {
    const nodes = matchNodes(this.model, this.functions, yes);
    return Uint8Array.from(this.model.rows.node, (leaf) => nodes[leaf]);
  }

  /** By function, 1 for FUNC alone. @param {number} func */
  only(func) {
    const yes = new Uint8Array(this.functions.n);
    yes[func] = 1;
    return yes;
  }

  /** By row, whether lanes light it: the search, else a function. */
  get litRows() {
    if (this.matches) return this.matchedRows;
    const func =
      this.pointed >= 0 ? this.pointed : this.functionOf(this.state.chosen);
    return this.keep('litRows', [func], () => {
      if (func < 0) return null;
      return this.rowsWith(this.only(func));
    });
  }

  /** What the matched stacks have, each once. */
  get matchedTotal() {
    const matches = this.matches;
    if (!matches) return 0;
    const sums = this.plainSums();
    return this.keep('matchedTotal', [matches, sums], () =>
      matchedTotal(this.plainTree.tree, sums, matches),
    );
  }

  /**
   * The function with KEY, or -1.
   * @param {string} key
   */
  functionOf(key) {
    if (!key) return -1;
    const { name, module } = this.functions;
    const keys = this.keep('functionKeys', [], () => {
      /** @type {Map<string, number>} */
      const known = new Map();
      name.forEach((text, i) => known.set(`${text}@${module[i]}`, i));
      return known;
    });
    return keys.get(key) ?? -1;
  }

  /**
   * The function of a change, or -1: its name may be without what compilers
   * add for clones, and its module without a version.
   * @param {string} name
   * @param {string} module
   */
  comparableOf(name, module) {
    const exact = this.functionOf(`${name}@${module}`);
    if (exact >= 0) return exact;
    const { functions, model } = this;
    const key = (/** @type {string} */ text, /** @type {string} */ where) =>
      `${comparableName(text)}@${comparableModule(where, model.meta.executable)}`;
    const keys = this.keep('comparableKeys', [], () => {
      /** @type {Map<string, number>} */
      const known = new Map();
      functions.name.forEach((text, i) =>
        known.set(key(text, functions.module[i]), i),
      );
      return known;
    });
    return keys.get(key(name, module)) ?? -1;
  }

  /** @param {number} func */
  keyOf(func) {
    const { name, module } = this.functions;
    return func < 0 ? '' : `${name[func]}@${module[func]}`;
  }
}
