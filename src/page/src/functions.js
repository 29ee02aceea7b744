// SPDX-License-Identifier: MIT
/**
 * functions.js -- sums by function. A stack in which a function occurs several
 * times counts once in its total.
 */

/**
 * @typedef {import('./calltree.js').Tree} Tree
 * @typedef {import('./calltree.js').TreeSums} TreeSums
 * @typedef {{self: Float64Array, total: Float64Array}} FunctionSums by function
 * @typedef {{func: number, total: number}} Neighbour
 */

/**
 * Children of each node, in one array.
 * @param {Tree} tree
 */
export function childrenOf(tree) {
  const first = new Uint32Array(tree.n + 1);
  for (let node = 1; node < tree.n; node++) first[tree.parent[node] + 1]++;
  for (let node = 0; node < tree.n; node++) first[node + 1] += first[node];
  const next = first.slice();
  const list = new Uint32Array(Math.max(0, tree.n - 1));
  for (let node = 1; node < tree.n; node++)
    list[next[tree.parent[node]]++] = node;
  return { first, list };
}

/**
 * 1 for each node whose function is on no place above it.
 * @param {Tree} tree
 * @param {number} functionCount
 */
export function topmost(tree, functionCount) {
  const { first, list } = childrenOf(tree);
  const top = new Uint8Array(tree.n);
  const onPath = new Uint32Array(functionCount);
  const next = first.slice();
  for (let at = 0; at >= 0;) {
    if (next[at] < first[at + 1]) {
      at = list[next[at]++];
      const func = tree.func[at];
      if (func >= 0 && onPath[func]++ === 0) top[at] = 1;
    } else {
      if (at > 0 && tree.func[at] >= 0) onPath[tree.func[at]]--;
      at = tree.parent[at];
    }
  }
  return top;
}

/**
 * @param {Tree} tree from the root
 * @param {Uint8Array} top
 * @param {TreeSums} sums
 * @param {number} functionCount
 * @returns {FunctionSums}
 */
export function sumFunctions(tree, top, sums, functionCount) {
  const self = new Float64Array(functionCount);
  const total = new Float64Array(functionCount);
  for (let node = 1; node < tree.n; node++) {
    const func = tree.func[node];
    if (func < 0) continue;
    self[func] += sums.self[node];
    if (top[node]) total[func] += sums.total[node];
  }
  return { self, total };
}

/**
 * @param {Map<number, number>} sums
 * @returns {Neighbour[]}
 */
function sorted(sums) {
  return [...sums]
    .filter(([, total]) => total > 0)
    .map(([func, total]) => ({ func, total }))
    .sort((a, b) => b.total - a.total || a.func - b.func);
}

/**
 * The functions that call FUNC, each with the part of its total: -1 if it is
 * at the root.
 * @param {Tree} tree
 * @param {Uint8Array} top
 * @param {TreeSums} sums
 * @param {number} func
 */
export function callersOf(tree, top, sums, func) {
  /** @type {Map<number, number>} */
  const callers = new Map();
  for (let node = 1; node < tree.n; node++)
    if (tree.func[node] === func && top[node]) {
      const parent = tree.parent[node];
      const caller = parent === 0 ? -1 : tree.func[parent];
      callers.set(caller, (callers.get(caller) ?? 0) + sums.total[node]);
    }
  return sorted(callers);
}

/**
 * The functions that FUNC calls, each with what it had there.
 * @param {Tree} tree
 * @param {TreeSums} sums
 * @param {number} func
 */
export function calleesOf(tree, sums, func) {
  /** @type {Map<number, number>} */
  const callees = new Map();
  for (let node = 1; node < tree.n; node++) {
    const parent = tree.parent[node];
    const callee = tree.func[node];
    if (parent <= 0 || tree.func[parent] !== func || callee === func) continue;
    if (!isRepeated(tree, parent, func, callee))
      callees.set(callee, (callees.get(callee) ?? 0) + sums.total[node]);
  }
  return sorted(callees);
}

/**
 * Whether FUNC calls CALLEE above NODE already.
 * @param {Tree} tree
 * @param {number} node
 * @param {number} func
 * @param {number} callee
 */
function isRepeated(tree, node, func, callee) {
  for (let at = node; at > 0; at = tree.parent[at])
    if (
      tree.func[at] === callee &&
      tree.parent[at] > 0 &&
      tree.func[tree.parent[at]] === func
    )
      return true;
  return false;
}

/**
 * The time in stacks that have one of the functions YES, each stack once.
 * @param {Tree} tree from the root
 * @param {TreeSums} sums
 * @param {Uint8Array} yes by function
 */
export function matchedTotal(tree, sums, yes) {
  const inside = new Uint8Array(tree.n);
  let total = 0;
  for (let node = 1; node < tree.n; node++) {
    inside[node] = inside[tree.parent[node]];
    if (inside[node] || tree.func[node] < 0 || !yes[tree.func[node]]) continue;
    inside[node] = 1;
    total += sums.total[node];
  }
  return total;
}

/**
 * The MOST indexes with the largest values, those first; of equal values those
 * with a larger THEN, then smaller indexes.
 * @param {Float64Array} values
 * @param {Float64Array} then
 * @param {number} most
 */
export function largest(values, then, most) {
  const order = (/** @type {number} */ a, /** @type {number} */ b) =>
    values[b] - values[a] || then[b] - then[a] || a - b;
  const all = Array.from(values.keys());
  if (all.length <= most) return all.sort(order);
  const least = values.slice().sort()[all.length - most];
  const above = all.filter((i) => values[i] > least);
  const equal = all.filter((i) => values[i] === least);
  const rest = most - above.length;
  const limit = Float64Array.from(equal, (i) => then[i]).sort()[
    equal.length - rest
  ];
  const list = [...above, ...equal.filter((i) => then[i] >= limit)];
  return list.sort(order).slice(0, most);
}
