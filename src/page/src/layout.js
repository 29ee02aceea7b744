// SPDX-License-Identifier: MIT
/**
 * layout.js -- where the boxes of a flame graph are. X runs from 0 to the total
 * in ns; boxes of a level are sorted by X.
 */
import { childrenOf } from './functions.js';

/**
 * @typedef {import('./calltree.js').Tree} Tree
 * @typedef {object} Level
 * @property {Int32Array} node
 * @property {Float64Array} from
 * @property {Float64Array} to
 * @typedef {object} Layout
 * @property {Level[]} levels
 * @property {number} width
 * @property {boolean} ordered by time
 * @property {number} boxes
 * @property {number} thinned samples for each that is drawn; 1 is all
 */

/** Steps along a time order; with more samples each step shows one of them. */
const STEPS = 60000;

/**
 * The heaviest child stands left, or they stand by name. LAST is right of all.
 * @param {Tree} tree
 * @param {Float64Array} widths total of each node
 * @param {((a: number, b: number) => number) | null} compare order by name
 * @param {number} [last] a function
 * @returns {Layout}
 */
export function layoutTree(tree, widths, compare, last) {
  const { first, list } = childrenOf(tree);
  const usual = compare ?? ((a, b) => widths[b] - widths[a] || a - b);
  const order = (/** @type {number} */ a, /** @type {number} */ b) =>
    Number(tree.func[a] === last) - Number(tree.func[b] === last) ||
    usual(a, b);
  for (let node = 0; node < tree.n; node++)
    if (first[node + 1] - first[node] > 1)
      list.subarray(first[node], first[node + 1]).sort(order);
  const levels = emptyLevels(tree, widths);
  const used = new Uint32Array(levels.length);
  const next = first.slice();
  const x = new Float64Array(tree.n);
  place(levels, used, 0, 0, 0, widths[0]);
  const cursor = new Float64Array(tree.n);
  for (let at = 0; at >= 0;) {
    if (next[at] === first[at + 1]) {
      at = tree.parent[at];
      continue;
    }
    const child = list[next[at]++];
    if (widths[child] <= 0) continue;
    x[child] = cursor[at];
    cursor[at] += widths[child];
    cursor[child] = x[child];
    const depth = tree.depth[child];
    place(levels, used, depth, child, x[child], x[child] + widths[child]);
    at = child;
  }
  const boxes = used.reduce((sum, count) => sum + count, 0);
  return { levels, width: widths[0], ordered: false, boxes, thinned: 1 };
}

/**
 * @param {Level[]} levels
 * @param {Uint32Array} used
 * @param {number} depth
 * @param {number} node
 * @param {number} from
 * @param {number} to
 */
function place(levels, used, depth, node, from, to) {
  const level = levels[depth];
  const at = used[depth]++;
  level.node[at] = node;
  level.from[at] = from;
  level.to[at] = to;
}

/**
 * @param {Tree} tree
 * @param {Float64Array} widths
 * @returns {Level[]}
 */
function emptyLevels(tree, widths) {
  const counts = [1];
  for (let node = 1; node < tree.n; node++)
    if (widths[node] > 0)
      counts[tree.depth[node]] = (counts[tree.depth[node]] ?? 0) + 1;
  return counts.map((count) => ({
    node: new Int32Array(count),
    from: new Float64Array(count),
    to: new Float64Array(count),
  }));
}

/**
 * @typedef {{node: Int32Array, value: Float64Array, n: number}} Sequence
 */

/**
 * Stacks one after the other; neighbours of the same function are one box.
 * @param {Tree} tree
 * @param {Sequence} sequence
 * @returns {Layout}
 */
export function layoutSequence(tree, sequence) {
  /** @type {{node: number[], from: number[], to: number[]}[]} */
  const levels = [];
  const thin = thinned(sequence);
  /** @type {number[]} */
  let open = [];
  let x = 0;
  for (let i = 0; i < thin.n; i++) {
    const path = [];
    for (let at = thin.node[i]; at >= 0; at = tree.parent[at]) path.push(at);
    path.reverse();
    let same = 0;
    while (same < open.length && open[same] === path[same]) same++;
    for (let depth = 0; depth < path.length; depth++) {
      const level = (levels[depth] ??= { node: [], from: [], to: [] });
      if (depth < same) level.to[level.to.length - 1] = x + thin.value[i];
      else {
        level.node.push(path[depth]);
        level.from.push(x);
        level.to.push(x + thin.value[i]);
      }
    }
    open = path;
    x += thin.value[i];
  }
  return {
    levels: levels.map(({ node, from, to }) => ({
      node: Int32Array.from(node),
      from: Float64Array.from(from),
      to: Float64Array.from(to),
    })),
    width: x,
    ordered: true,
    boxes: levels.reduce((sum, { node }) => sum + node.length, 0),
    thinned: sequence.n / Math.max(1, thin.n),
  };
}

/**
 * At most STEPS of SEQUENCE, at even distances; each stands for its step.
 * @param {Sequence} sequence
 * @returns {Sequence}
 */
function thinned(sequence) {
  if (sequence.n <= STEPS) return sequence;
  let total = 0;
  for (let i = 0; i < sequence.n; i++) total += sequence.value[i];
  const node = new Int32Array(STEPS);
  const value = new Float64Array(STEPS).fill(total / STEPS);
  let sum = 0;
  let step = 0;
  for (let i = 0; i < sequence.n; i++) {
    sum += sequence.value[i];
    while (step < STEPS && (step + 0.5) * (total / STEPS) <= sum)
      node[step++] = sequence.node[i];
  }
  return { node, value, n: step };
}

/**
 * The index of the box of LEVEL at X, or -1.
 * @param {Level} level
 * @param {number} x
 */
export function boxAt(level, x) {
  const at = firstBox(level, x);
  return at < level.from.length && level.from[at] <= x ? at : -1;
}

/**
 * The first box that ends after X.
 * @param {Level} level
 * @param {number} x
 * @param {number} [from] an index known to be at or before it
 */
export function firstBox({ to }, x, from = 0) {
  let low = from;
  let high = to.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (to[middle] <= x) low = middle + 1;
    else high = middle;
  }
  return low;
}
