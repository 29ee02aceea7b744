// SPDX-License-Identifier: MIT
/** colours.js -- the colours of boxes and lanes, light and dark. */
import { KIND } from './model.js';
import { css, mix, rgb } from './pixels.js';

/**
 * @typedef {import('./app.js').App} App
 *
 * @typedef {object} Theme
 * @property {boolean} dark
 * @property {number} ground
 * @property {number} text
 * @property {number} faint
 * @property {number} line
 * @property {number} running
 * @property {number} runnable
 * @property {number} waiting
 * @property {number} match
 * @property {number} chosen
 * @property {number} more
 * @property {number} less
 * @property {number} same
 * @property {number} group
 * @property {number} mark
 * @property {number} base
 */

/** @type {Theme} */
const LIGHT = {
  dark: false,
  ground: rgb(255, 255, 255),
  text: rgb(28, 32, 38),
  faint: rgb(107, 114, 128),
  line: rgb(229, 232, 237),
  running: rgb(92, 172, 122),
  runnable: rgb(232, 152, 72),
  waiting: rgb(176, 190, 214),
  match: rgb(205, 130, 240),
  chosen: rgb(112, 168, 255),
  more: rgb(228, 98, 82),
  less: rgb(74, 140, 214),
  same: rgb(232, 232, 228),
  group: rgb(208, 216, 228),
  mark: rgb(190, 60, 140),
  base: rgb(134, 90, 200),
};

/** @type {Theme} */
const DARK = {
  dark: true,
  ground: rgb(22, 25, 30),
  text: rgb(228, 231, 236),
  faint: rgb(146, 154, 168),
  line: rgb(46, 51, 60),
  running: rgb(70, 146, 98),
  runnable: rgb(204, 128, 52),
  waiting: rgb(72, 86, 112),
  match: rgb(142, 72, 184),
  chosen: rgb(48, 96, 176),
  more: rgb(186, 70, 58),
  less: rgb(52, 108, 176),
  same: rgb(58, 61, 66),
  group: rgb(58, 68, 84),
  mark: rgb(232, 112, 184),
  base: rgb(176, 140, 240),
};

/** Hues of modules and languages, those with the most time first. */
const HUES = [30, 212, 140, 265, 345, 180, 52, 100, 310, 235];

export function theme() {
  const chosen = document.documentElement.dataset.theme;
  const isDark =
    chosen === 'dark' ||
    (chosen !== 'light' && matchMedia('(prefers-color-scheme: dark)').matches);
  return isDark ? DARK : LIGHT;
}

/**
 * @param {number} hue degrees
 * @param {number} saturation 0 to 1
 * @param {number} lightness 0 to 1
 */
export function hsl(hue, saturation, lightness) {
  const amount = saturation * Math.min(lightness, 1 - lightness);
  const part = (/** @type {number} */ n) => {
    const k = (n + hue / 30) % 12;
    const level = lightness - amount * Math.max(-1, Math.min(k - 3, 9 - k, 1));
    return Math.round(255 * level);
  };
  return rgb(part(0), part(8), part(4));
}

/** @param {string} text */
function hash(text) {
  let sum = 2166136261;
  for (let i = 0; i < text.length; i++)
    sum = Math.imul(sum ^ text.charCodeAt(i), 16777619);
  return sum >>> 0;
}

/**
 * The modules and languages by name, those with the most time first.
 * @param {App} app
 */
export function rankModules(app) {
  const { functions, model } = app;
  return app.keep('modules', [], () => {
    /** @type {Map<string, number>} */
    const sums = new Map();
    const { node, wall, cpu } = model.rows;
    const { tree } = app.plainTree;
    const ends = tree.node;
    for (let row = 0; row < node.length; row++) {
      const func = ends[row] > 0 ? tree.func[ends[row]] : -1;
      if (func < 0 || functions.kind[func] === KIND.marker) continue;
      const module = functions.group[func];
      sums.set(module, (sums.get(module) ?? 0) + cpu[row] + wall[row] / 1e3);
    }
    for (const func of tree.func) {
      const module = functions.group[func];
      if (module !== undefined && !sums.has(module)) sums.set(module, 0);
    }
    return [...sums].sort((a, b) => b[1] - a[1]).map(([name]) => name);
  });
}

/**
 * A colour for each function: the hue is its module's.
 * @param {App} app
 * @param {Theme} colours
 */
export function functionColours(app, colours) {
  const { functions } = app;
  return app.keep('functionColours', [colours], () => {
    const ranks = new Map(rankModules(app).map((name, rank) => [name, rank]));
    const list = new Uint32Array(functions.n);
    for (let func = 0; func < functions.n; func++)
      list[func] = functionColour(
        colours,
        ranks.get(functions.group[func]) ?? 0,
        functions.kind[func],
        functions.name[func],
      );
    return list;
  });
}

/**
 * @param {Theme} colours
 * @param {number} rank
 * @param {number} kind
 * @param {string} name
 */
function functionColour(colours, rank, kind, name) {
  const vary = (hash(name) % 1000) / 1000 - 0.5;
  if (kind === KIND.marker)
    return colours.dark ? rgb(64, 66, 70) : rgb(222, 222, 222);
  if (kind === KIND.kernel)
    return colours.dark
      ? hsl(28, 0.08, 0.3 + vary * 0.05)
      : hsl(30, 0.12, 0.8 + vary * 0.05);
  const hue = HUES[rank % HUES.length];
  const strength = rank < HUES.length ? 1 : 0.45;
  return colours.dark
    ? hsl(hue + vary * 14, 0.36 * strength, 0.34 + vary * 0.09)
    : hsl(hue + vary * 14, 0.72 * strength, 0.79 + vary * 0.09);
}

/**
 * The colour of a module in a legend.
 * @param {number} rank
 * @param {Theme} colours
 */
export function moduleColour(rank, colours) {
  return css(functionColour(colours, rank, KIND.native, ''));
}

/**
 * Red for more and blue for less: CHANGE of -1 to 1.
 * @param {Theme} colours
 * @param {number} change
 */
export function changeColour(colours, change) {
  const target = change > 0 ? colours.more : colours.less;
  const amount = Math.min(1, Math.abs(change));
  return mix(colours.same, target, amount > 0 ? 0.15 + 0.85 * amount : 0);
}
