// SPDX-License-Identifier: MIT
/**
 * calltree.js -- the stacks of a profile merged by function. The shape depends
 * on how stacks are read (grouped, recursion folded, from the leaf); the sums
 * depend on the rows that are selected. Parents come before their children.
 */
import { Pairs, longer } from './pairs.js';
import { KIND, processName, string, threadTitle } from './model.js';

/**
 * @typedef {import('./model.js').Model} Model
 * @typedef {import('./model.js').Functions} Functions
 *
 * @typedef {object} Shape
 * @property {string} group 'none', 'thread', 'process', 'state', or a label's key
 * @property {boolean} fold a function stands once on a stack
 * @property {boolean} invert from the leaf to its callers
 *
 * @typedef {object} Tree
 * @property {number} n
 * @property {Int32Array} parent -1 for the root, which is 0
 * @property {Int32Array} func function; below 0 is group -1 - FUNC
 * @property {Uint16Array} depth
 * @property {Int32Array} sample a node of the model at this place
 * @property {Int32Array} node by row: where its stack ends (from the root), or
 * begins (from the leaf)
 * @property {Int32Array | null} path by row, from the leaf: the last caller
 * @property {string[]} groups
 */

/** A tree that grows. Pair N is node N; that of the root has no parent. */
class Growing {
  /** @param {ArrayLike<number>} kind of each function */
  constructor(kind) {
    this.kind = kind;
    this.pairs = new Pairs();
    this.pairs.put(-1, 0);
    this.depth = new Int32Array(this.pairs.first.length);
    this.sample = new Int32Array(this.pairs.first.length);
  }

  /**
   * The child of PARENT with FUNC.
   * @param {number} parent
   * @param {number} func
   * @param {number} sample
   */
  child(parent, func, sample) {
    const before = this.pairs.n;
    const number = this.pairs.put(parent, func);
    if (number < before) return number;
    if (number === this.depth.length) {
      this.depth = longer(this.depth);
      this.sample = longer(this.sample);
    }
    this.depth[number] = this.depth[parent] + 1;
    this.sample[number] = sample;
    return number;
  }
}

/**
 * The group of each row, as a number into the names that are returned.
 * @param {Model} model
 * @param {string} group
 */
export function groupRows(model, group) {
  const { rows } = model;
  /** @type {string[]} */
  const names = [];
  /** @type {Map<string, number>} */
  const known = new Map();
  const numberOf = (/** @type {string} */ name) => {
    const old = known.get(name);
    if (old !== undefined) return old;
    known.set(name, names.length);
    return names.push(name) - 1;
  };
  const { by, nameOf } = groupNames(model, group);
  const numbers = Array.from({ length: nameOf.length }, (_, i) =>
    numberOf(nameOf.at(i)),
  );
  const of = new Int32Array(rows.n);
  for (let row = 0; row < rows.n; row++) of[row] = numbers[by[row]] ?? 0;
  return { names, of };
}

/**
 * @param {Model} model
 * @param {string} group
 */
function groupNames(model, group) {
  const { rows } = model;
  const { threads } = model;
  if (group === 'thread')
    return {
      by: rows.thread,
      nameOf: {
        length: threads.length,
        at: (/** @type {number} */ i) => threadTitle(model, i),
      },
    };
  if (group === 'process')
    return {
      by: rows.thread,
      nameOf: {
        length: threads.length,
        at: (/** @type {number} */ i) => processName(model, threads[i].process),
      },
    };
  if (group === 'state')
    return {
      by: rows.state,
      nameOf: {
        length: model.states.length,
        at: (/** @type {number} */ i) => string(model, model.states[i].name),
      },
    };
  return {
    by: rows.label,
    nameOf: {
      length: Math.max(1, model.labels.length),
      at: (/** @type {number} */ i) => {
        const pair = model.labels[i]?.find(
          ([key]) => string(model, key) === group,
        );
        return pair ? `${group}=${string(model, pair[1])}` : `no ${group}`;
      },
    },
  };
}

/**
 * @param {Model} model
 * @param {Functions} functions
 * @param {Shape} shape
 * @returns {Tree}
 */
export function buildTree(model, functions, shape) {
  const growing = new Growing(functions.kind);
  const groups = shape.group === 'none' ? null : groupRows(model, shape.group);
  const ends = shape.invert
    ? fromLeaf(model, functions, shape, growing, groups?.of ?? null)
    : fromRoot(model, functions, shape, growing, groups?.of ?? null);
  return {
    n: growing.pairs.n,
    parent: growing.pairs.first.slice(0, growing.pairs.n),
    func: growing.pairs.second.slice(0, growing.pairs.n),
    depth: Uint16Array.from(growing.depth.subarray(0, growing.pairs.n)),
    sample: growing.sample.slice(0, growing.pairs.n),
    ...ends,
    groups: groups?.names ?? [],
  };
}

/**
 * The function of each node of the model.
 * @param {Model} model
 * @param {Functions} functions
 */
export function nodeFunctions(model, functions) {
  const { frame } = model.nodes;
  const of = new Uint32Array(model.nodes.n);
  for (let node = 1; node < of.length; node++)
    of[node] = functions.of[model.frames.func[frame[node]]];
  return of;
}

/**
 * Without groups every node of the model has one place; with them each group
 * has its own, made when a row asks for it.
 * @param {Model} model
 * @param {Functions} functions
 * @param {Shape} shape
 * @param {Growing} growing
 * @param {Int32Array | null} groups
 */
function fromRoot(model, functions, shape, growing, groups) {
  const { rows, nodes } = model;
  const func = nodeFunctions(model, functions);
  const node = new Int32Array(rows.n);
  const used = usedNodes(model);
  const order = groups ? sortByGroup(groups) : null;
  const place = new Int32Array(nodes.n).fill(-1);
  let current = -1;
  for (let k = 0; k < rows.n; k++) {
    const row = order ? order[k] : k;
    if (groups && groups[row] !== current) {
      current = groups[row];
      place.fill(-1);
    }
    if (place[0] < 0) {
      place[0] = groups ? growing.child(0, -1 - current, 0) : 0;
      if (!groups) placeAll(growing, place, used, nodes.parent, func, shape);
    }
    node[row] = groups
      ? placeOne(growing, place, nodes.parent, func, shape, rows.node[row])
      : place[rows.node[row]];
  }
  return { node, path: null };
}

/** @param {Model} model */
function usedNodes({ rows, nodes }) {
  const used = new Uint8Array(nodes.n);
  for (let row = 0; row < rows.n; row++) {
    let node = rows.node[row];
    while (node !== 0 && !used[node]) {
      used[node] = 1;
      node = nodes.parent[node];
    }
  }
  return used;
}

/** @param {Int32Array} groups */
function sortByGroup(groups) {
  const order = Uint32Array.from(groups.keys());
  return order.sort((a, b) => groups[a] - groups[b]);
}

/**
 * @param {Growing} growing
 * @param {Int32Array} place
 * @param {Uint8Array} used
 * @param {Uint32Array} parent
 * @param {Uint32Array} func
 * @param {Shape} shape
 */
function placeAll(growing, place, used, parent, func, shape) {
  for (let node = 1; node < place.length; node++)
    if (used[node])
      place[node] = below(
        growing,
        place[parent[node]],
        func[node],
        node,
        shape,
      );
}

/**
 * @param {Growing} growing
 * @param {Int32Array} place
 * @param {Uint32Array} parent
 * @param {Uint32Array} func
 * @param {Shape} shape
 * @param {number} leaf
 */
function placeOne(growing, place, parent, func, shape, leaf) {
  const path = [];
  let node = leaf;
  for (; place[node] < 0; node = parent[node]) path.push(node);
  let at = place[node];
  while (path.length > 0) {
    node = /** @type {number} */ (path.pop());
    at = place[node] = below(growing, at, func[node], node, shape);
  }
  return at;
}

/**
 * The place below AT for FUNC. With recursion folded, a stack that comes back
 * to a function goes on in its first box. A marker stands for no one function,
 * so it is not folded.
 * @param {Growing} growing
 * @param {number} at
 * @param {number} func
 * @param {number} sample
 * @param {Shape} shape
 */
function below(growing, at, func, sample, shape) {
  const { first, second } = growing.pairs;
  if (shape.fold && growing.kind[func] !== KIND.marker)
    for (let up = at; up > 0; up = first[up])
      if (second[up] === func) return up;
  return growing.child(at, func, sample);
}

/**
 * @param {Model} model
 * @param {Functions} functions
 * @param {Shape} shape
 * @param {Growing} growing
 * @param {Int32Array | null} groups
 */
function fromLeaf(model, functions, shape, growing, groups) {
  const { rows, nodes } = model;
  const func = nodeFunctions(model, functions);
  const node = new Int32Array(rows.n);
  const path = new Int32Array(rows.n);
  const known = new Pairs();
  const leaves = [];
  const ends = [];
  for (let row = 0; row < rows.n; row++) {
    const group = groups ? groups[row] : -1;
    const number = known.put(rows.node[row], group);
    if (number === leaves.length) {
      const start = groups ? growing.child(0, -1 - group, 0) : 0;
      let at = start;
      let leaf = start;
      for (let up = rows.node[row]; up !== 0; up = nodes.parent[up]) {
        at = below(growing, at, func[up], up, shape);
        if (leaf === start) leaf = at;
      }
      leaves.push(leaf);
      ends.push(at);
    }
    node[row] = leaves[number];
    path[row] = ends[number];
  }
  return { node, path };
}

/**
 * @typedef {{self: Float64Array, total: Float64Array}} TreeSums
 */

/**
 * Sum VALUES over the tree. From the leaf, SELF is what the stacks of a node's
 * function had there: only the first level has any.
 * @param {Tree} tree
 * @param {Float64Array} values by row
 * @returns {TreeSums}
 */
export function sumTree(tree, values) {
  const self = new Float64Array(tree.n);
  const total = new Float64Array(tree.n);
  const end = tree.path ?? tree.node;
  for (let row = 0; row < values.length; row++) {
    if (values[row] === 0) continue;
    self[tree.node[row]] += values[row];
    total[end[row]] += values[row];
  }
  for (let node = tree.n - 1; node > 0; node--)
    total[tree.parent[node]] += total[node];
  return { self, total };
}

/**
 * The functions from NODE up to the root, NODE first.
 * @param {Tree} tree
 * @param {number} node
 */
export function pathOf(tree, node) {
  const path = [];
  for (let at = node; at > 0; at = tree.parent[at]) path.push(at);
  return path;
}

/**
 * @param {Tree} tree
 * @param {Functions} functions
 * @param {number} node
 */
export function nodeName(tree, functions, node) {
  if (node === 0) return 'all';
  const func = tree.func[node];
  return func < 0 ? tree.groups[-1 - func] : functions.name[func];
}
