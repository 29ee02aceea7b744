// SPDX-License-Identifier: MIT
/**
 * ownlines.js -- the lines of a program's own files of Python and PHP. A file
 * is its own unless it belongs to Python or to an installed package.
 */
import { string } from './model.js';

/**
 * @typedef {import('./model.js').Model} Model
 * @typedef {{frame: number, time: number}} OwnLine
 */

const FOREIGN =
  /\/lib(64)?\/python|\/site-packages\/|\/dist-packages\/|\/vendor\/|^(?!.*\.(py|php)$)/;

/**
 * Texts in the order of their characters, as the report has them.
 * @param {string} a
 * @param {string} b
 */
function compareTexts(a, b) {
  if (a === b) return 0;
  return a < b ? -1 : 1;
}

/**
 * Own lines, the most time first, then by name and line. A stack counts for its innermost own line.
 * Rows of several frames may be one line.
 * @param {Model} model
 * @param {ArrayLike<number>} values of each row
 * @returns {OwnLine[]}
 */
export function sumOwnLines(model, values) {
  const { nodes, frames, funcs, rows } = model;
  const isOwn = Array.from(
    { length: funcs.n },
    (_, func) => !FOREIGN.test(string(model, funcs.file[func])),
  );
  const owner = new Uint32Array(nodes.n);
  const lines = new Map();
  for (let node = 1; node < nodes.n; node++) {
    const frame = nodes.frame[node];
    const isLine = isOwn[frames.func[frame]] && frames.line[frame] > 0;
    owner[node] = isLine ? frame + 1 : owner[nodes.parent[node]];
  }
  for (let row = 0; row < values.length; row++) {
    const frame = owner[rows.node[row]] - 1;
    if (frame < 0 || values[row] <= 0) continue;
    const key = `${frames.func[frame]}:${frames.line[frame]}`;
    const line = lines.get(key) ?? { frame, time: 0 };
    line.time += values[row];
    lines.set(key, line);
  }
  const nameOf = (/** @type {OwnLine} */ line) =>
    string(model, funcs.name[frames.func[line.frame]]);
  return [...lines.values()].sort(
    (a, b) =>
      b.time - a.time ||
      compareTexts(nameOf(a), nameOf(b)) ||
      frames.line[a.frame] - frames.line[b.frame],
  );
}
