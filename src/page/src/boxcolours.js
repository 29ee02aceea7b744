// SPDX-License-Identifier: MIT
/** boxcolours.js -- the colour of each box of the flame graph. */
import { sumTree } from './calltree.js';
import { changeColour, functionColours } from './colours.js';
import { mix } from './pixels.js';

/** @typedef {import('./app.js').App} App */

/** How boxes are coloured now. @param {App} app */
export function colouring(app) {
  const { colour } = app.state;
  return colour === 'difference' && !app.isDiff ? 'module' : colour;
}

/**
 * The colour of each node, with what is searched and chosen.
 * @param {App} app
 * @param {import('./colours.js').Theme} colours
 * @returns {(node: number) => number}
 */
export function nodeColours(app, colours) {
  const plain = plainColours(app, colours);
  const { tree, matches } = app;
  const chosen = app.functionOf(app.state.chosen);
  return (node) => {
    const func = tree.func[node];
    if (node > 0 && func >= 0) {
      if (matches?.[func]) return colours.match;
      if (func === chosen) return colours.chosen;
    }
    const colour = plain(node);
    return matches ? mix(colour, colours.ground, 0.4) : colour;
  };
}

/**
 * @param {App} app
 * @param {import('./colours.js').Theme} colours
 * @returns {(node: number) => number}
 */
function plainColours(app, colours) {
  const by = colouring(app);
  const { tree } = app;
  if (by === 'difference') return differences(app, colours);
  if (by === 'state') return stateColours(app, colours);
  const functions = functionColours(app, colours);
  return (node) =>
    node === 0 || tree.func[node] < 0
      ? colours.group
      : functions[tree.func[node]];
}

/**
 * @param {App} app
 * @param {import('./colours.js').Theme} colours
 */
function differences(app, colours) {
  const change = changeOf(app);
  return (/** @type {number} */ node) => changeColour(colours, change(node));
}

/**
 * How much a node changed, -1 (gone) to 1 (new).
 * @param {App} app
 * @returns {(node: number) => number}
 */
export function changeOf(app) {
  const now = app.treeSums.total;
  const before = app.treeBase?.total ?? now;
  const scale = app.baseScale;
  return (node) => {
    const [a, b] = [now[node], before[node] * scale];
    return a + b > 0 ? (a - b) / Math.max(a, b) : 0;
  };
}

/**
 * Whether the change of a node may be noise; tested once for each.
 * @param {App} app
 * @returns {(node: number) => boolean}
 */
export function noiseOf(app) {
  const tested = app.keep(
    'noise',
    [app.treeSums, app.treeBase, app.state.compare],
    () => new Int8Array(app.tree.n).fill(-1),
  );
  return (node) => {
    if (tested[node] < 0) tested[node] = app.noise(node) > 0.01 ? 1 : 0;
    return tested[node] === 1;
  };
}

export const STATE_KINDS = /** @type {const} */ ([
  'running',
  'runnable',
  'waiting',
]);

/**
 * The shares of running, runnable and waiting in the total of a node.
 * @param {App} app
 * @returns {(node: number) => Record<'running' | 'runnable' | 'waiting', number>}
 */
export function stateShares(app) {
  const { tree } = app;
  const values = app.values();
  const { states, rows } = app.model;
  const part = (/** @type {string} */ kind) =>
    app.keep(`state ${kind}`, [tree, values], () =>
      sumTree(
        tree,
        values.map((value, row) =>
          states[rows.state[row]].kind === kind ? value : 0,
        ),
      ),
    ).total;
  const runnable = part('runnable');
  const waiting = part('waiting');
  const { total } = app.treeSums;
  return (node) => {
    const whole = total[node] || 1;
    const late = runnable[node] / whole;
    const wait = waiting[node] / whole;
    return {
      running: Math.max(0, 1 - late - wait),
      runnable: late,
      waiting: wait,
    };
  };
}

/**
 * The colour of the state that a node is in most of its time.
 * @param {App} app
 * @param {import('./colours.js').Theme} colours
 * @returns {(node: number) => number}
 */
function stateColours(app, colours) {
  const shares = stateShares(app);
  return (node) => {
    const parts = shares(node);
    const most = STATE_KINDS.reduce((a, b) => (parts[b] > parts[a] ? b : a));
    return colours[most];
  };
}
