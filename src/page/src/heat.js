// SPDX-License-Identifier: MIT
/**
 * heat.js -- the heat map of the time strip: a column is a second or more, a
 * cell 20 ms or more, time runs upwards in a column.
 */
import { theme } from './colours.js';
import { addThread, CELL, emptyStrip, finish } from './lanes.js';
import { mix } from './pixels.js';

/**
 * @typedef {import('./app.js').App} App
 * @typedef {import('./lanes.js').Strip} Strip
 * @typedef {import('./pixels.js').Pixels} Pixels
 * @typedef {import('./window.js').Range} Range
 * @typedef {{rows: number, cell: number, columns: number}} Grid
 */

/** Cells above this share of all count as the hottest. */
const HOTTEST = 0.995;

/**
 * Cells of a column, ns of a cell, columns.
 * @param {App} app
 * @param {number} width
 * @returns {Grid}
 */
export function heatGrid(app, width) {
  const length = Math.max(1, app.model.meta.wallNs);
  const rows = length > 5e10 ? 50 : length > 1e10 ? 25 : 10;
  let cell = CELL;
  while (length / (cell * rows) > Math.max(100, width) / 2) cell *= 2;
  return { rows, cell, columns: Math.ceil(length / (cell * rows)) };
}

/**
 * What each cell has; null while no samples exist.
 * @param {App} app
 * @param {Grid} grid
 */
export function sumHeat(app, { rows, cell, columns }) {
  const { model, time, long } = app;
  if (!time || !long) return null;
  const heat = emptyStrip(rows * columns);
  const source = {
    model,
    time,
    long,
    keep: app.rows,
    matches: app.matchedRows,
  };
  for (let thread = 0; thread < model.threads.length; thread++)
    addThread(source, thread, [0, rows * columns * cell], heat);
  return finish(heat);
}

/**
 * @param {App} app
 * @param {Strip} heat
 */
function shownKind(app, heat) {
  const { value } = app.state;
  if (value === 'cpu') return heat.running;
  if (value !== 'wall') return heat[value];
  return heat.running.map((n, i) => n + heat.runnable[i] + heat.waiting[i]);
}

/**
 * Paint HEAT and return the height of a cell.
 * @param {App} app
 * @param {Pixels} pixels
 * @param {Grid} grid
 * @param {Strip | null} heat
 * @param {number} width
 */
export function paintHeat(app, pixels, { rows, columns }, heat, width) {
  const colours = theme();
  const size = Math.max(4, Math.min(14, Math.floor(200 / rows)));
  pixels.resize(width, rows * size);
  pixels.clear(colours.ground);
  if (heat) {
    const kind = shownKind(app, heat);
    const most = percentile(kind, HOTTEST) || 1;
    const hot = colours.dark ? colours.runnable : colours.more;
    const wide = pixels.width / columns;
    for (let i = 0; i < kind.length; i++) {
      if (kind[i] <= 0 && heat.matched[i] <= 0) continue;
      let colour = mix(colours.line, hot, Math.min(1, kind[i] / most));
      const matched = Math.min(1, heat.matched[i] / most);
      if (matched > 0)
        colour = mix(colour, colours.match, 0.35 + 0.65 * matched);
      const x = Math.floor(i / rows) * wide;
      const y = (rows - 1 - (i % rows)) * size * pixels.ratio;
      const gap = wide > 40 ? 1 : 0;
      pixels.box(x, y, wide - gap, size * pixels.ratio, colour);
    }
  }
  pixels.show();
  return size;
}

/**
 * Frame the cells of RANGE.
 * @param {Pixels} pixels
 * @param {Grid} grid
 * @param {number} size height of a cell
 * @param {number} width
 * @param {Range | null} range
 * @param {string} colour
 */
export function frameCells(pixels, grid, size, width, range, colour) {
  if (!range) return;
  const { rows, columns, cell } = grid;
  const { context } = pixels;
  const first = Math.floor(range[0] / cell);
  const last = Math.max(first, Math.ceil(range[1] / cell) - 1);
  const from = Math.floor(first / rows);
  const to = Math.floor(last / rows);
  context.strokeStyle = colour;
  context.lineWidth = 1.5;
  for (let column = from; column <= to; column++) {
    const low = column === from ? first % rows : 0;
    const high = column === to ? last % rows : rows - 1;
    context.strokeRect(
      (column / columns) * width,
      (rows - 1 - high) * size,
      Math.max(2, width / columns - 1),
      (high - low + 1) * size - 1,
    );
  }
}

/**
 * @param {Float32Array} values
 * @param {number} share
 */
function percentile(values, share) {
  const positive = values.filter((value) => value > 0).sort();
  const at = Math.floor(positive.length * share);
  return positive[Math.min(positive.length - 1, at)];
}
