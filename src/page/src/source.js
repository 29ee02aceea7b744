// SPDX-License-Identifier: MIT
/** source.js -- the lines of hot functions with what each cost. */
import { bar, el } from './dom.js';
import { percent, seconds } from './format.js';
import { string } from './model.js';

/**
 * @typedef {import('./app.js').App} App
 * @typedef {{files: {name: string, lines: [number, string][]}[]}} Sources
 */

/**
 * Self and total of each line of FILE. A stack counts once for a line.
 * @param {App} app
 * @param {string} file
 */
export function sumLines(app, file) {
  const { model } = app;
  const { nodes, frames, funcs, rows } = model;
  const values = app.values();
  const totals = new Float64Array(nodes.n);
  for (let row = 0; row < values.length; row++)
    totals[rows.node[row]] += values[row];
  /** @type {Map<number, {self: number, total: number}>} */
  const lines = new Map();
  const lineOf = (/** @type {number} */ node) => {
    const frame = nodes.frame[node];
    if (node === 0 || string(model, funcs.file[frames.func[frame]]) !== file)
      return 0;
    return frames.line[frame];
  };
  const of = Uint32Array.from({ length: nodes.n }, (_, node) => lineOf(node));
  const at = (/** @type {number} */ line) => {
    let sums = lines.get(line);
    if (!sums) lines.set(line, (sums = { self: 0, total: 0 }));
    return sums;
  };
  for (let node = 1; node < nodes.n; node++)
    if (of[node] && totals[node]) at(of[node]).self += totals[node];
  for (let node = nodes.n - 1; node > 0; node--) {
    if (of[node] && totals[node] && !isAbove(nodes.parent, of, node))
      at(of[node]).total += totals[node];
    totals[nodes.parent[node]] += totals[node];
  }
  return lines;
}

/**
 * Whether a caller of NODE is at the same line.
 * @param {Uint32Array} parent
 * @param {Uint32Array} of
 * @param {number} node
 */
function isAbove(parent, of, node) {
  for (let up = parent[node]; up !== 0; up = parent[up])
    if (of[up] === of[node]) return true;
  return false;
}

export class SourceView {
  /** @param {App} app */
  constructor(app) {
    this.app = app;
    this.element = el('div', { class: 'source-view' });
  }

  /** The file of the chosen function, or the first one. */
  file() {
    const { app } = this;
    const files = app.sources?.files ?? [];
    const func = app.functionOf(app.state.chosen);
    if (func < 0) return files[0];
    const { of } = app.functions;
    for (let entry = 0; entry < of.length; entry++) {
      if (of[entry] !== func) continue;
      const name = string(app.model, app.model.funcs.file[entry]);
      const file = files.find((other) => other.name === name);
      if (file) return file;
    }
    return undefined;
  }

  refresh() {
    const { app } = this;
    const file = this.file();
    if (!file) {
      this.element.replaceChildren(
        el('p', { class: 'empty' }, 'The page has no source of this function.'),
      );
      return;
    }
    const sums = sumLines(app, file.name);
    const whole = app.treeSums.total[0] || 1;
    let before = 0;
    const rows = file.lines.map(([number, text]) => {
      const sum = sums.get(number);
      const gap = before > 0 && number > before + 1;
      before = number;
      return el(
        'tr',
        { class: gap ? 'gap' : null, 'data-line': number },
        this.cell(sum?.self ?? 0, whole),
        this.cell(sum?.total ?? 0, whole),
        el('td', { class: 'number faint' }, String(number)),
        el('td', { class: 'code' }, text),
      );
    });
    this.element.replaceChildren(
      el('h3', {}, file.name),
      el(
        'table',
        { class: 'source' },
        el(
          'thead',
          {},
          el(
            'tr',
            {},
            ...['Self s', 'Total s', 'Line'].map((title) =>
              el('th', { class: 'number' }, title),
            ),
            el('th', { class: 'text' }, 'Source'),
          ),
        ),
        el('tbody', {}, ...rows),
      ),
    );
    this.showHottest(sums);
  }

  /**
   * @param {number} ns
   * @param {number} whole
   */
  cell(ns, whole) {
    if (ns === 0) return el('td', { class: 'number' });
    return el(
      'td',
      { class: 'number' },
      seconds(ns),
      el('small', {}, ` ${percent(ns, whole)}`),
      bar(ns / whole),
    );
  }

  /** @param {Map<number, {self: number, total: number}>} sums */
  showHottest(sums) {
    const [hottest] = [...sums].sort(
      (a, b) => b[1].self - a[1].self || b[1].total - a[1].total,
    );
    if (hottest)
      this.element
        .querySelector(`[data-line="${hottest[0]}"]`)
        ?.scrollIntoView({ block: 'center' });
  }
}
