// SPDX-License-Identifier: MIT
/** axis.js -- the time axis: seconds, and marks and spans with their names. */
import { theme } from './colours.js';
import { clock } from './format.js';
import { string } from './model.js';
import { css, mix } from './pixels.js';

/**
 * @typedef {import('./app.js').App} App
 * @typedef {import('./pixels.js').Pixels} Pixels
 * @typedef {import('./window.js').Range} Range
 */

/**
 * Heights of the numbers, and of a row of spans or marks; least distance of
 * numbers: CSS pixels.
 */
const AXIS = 17;
const ROW = 16;
const STEP = 90;
/** Letters of the name of a mark. */
const NAME = 24;

/**
 * @param {App} app
 * @param {Pixels} pixels
 * @param {Range} range
 * @param {number} width
 */
export function paintAxis(app, pixels, range, width) {
  const colours = theme();
  const { marks, spans } = app.model;
  const [from, to] = range;
  const x = (/** @type {number} */ t) => ((t - from) / (to - from)) * width;
  const [spanRow, markRow] = [spans, marks].map((list) =>
    list.length > 0 ? ROW : 0,
  );
  pixels.resize(width, AXIS + spanRow + markRow);
  pixels.clear(colours.ground);
  pixels.show();
  const { context } = pixels;
  context.font = '11px system-ui, sans-serif';
  context.textBaseline = 'middle';
  const step = niceStep(((to - from) / width) * STEP);
  context.fillStyle = css(colours.faint);
  for (let t = Math.ceil(from / step) * step; t <= to; t += step) {
    context.fillRect(Math.round(x(t)), 10, 1, 4);
    const text = clock(t, step);
    const size = context.measureText(text).width;
    const left = Math.min(Math.max(0, x(t) - size / 2), width - size);
    context.fillText(text, left, 5);
  }
  paintSpans(app, context, x, AXIS, width);
  paintMarks(app, context, x, AXIS + spanRow, width);
}

/**
 * A writer of names in the row at Y, as far as they have room there.
 * @param {CanvasRenderingContext2D} context
 * @param {number} y
 * @param {number} width
 */
function namesAt(context, y, width) {
  let free = -1;
  return (/** @type {number} */ at, /** @type {string} */ text) => {
    if (at < free || at > width - 12) return;
    const cut = text.length > NAME ? `${text.slice(0, NAME - 1)}…` : text;
    context.fillText(cut, at + 4, y + ROW / 2);
    free = at + context.measureText(cut).width + 12;
  };
}

/**
 * Spans with their names, in the row at Y.
 * @param {App} app
 * @param {CanvasRenderingContext2D} context
 * @param {(t: number) => number} x
 * @param {number} y
 * @param {number} width
 */
function paintSpans(app, context, x, y, width) {
  const colours = theme();
  const label = namesAt(context, y, width);
  for (const span of app.model.spans) {
    const [left, right] = [x(span.startNs), x(span.endNs)];
    if (right < 0 || left > width) continue;
    context.fillStyle = css(mix(colours.mark, colours.ground, 0.65));
    context.fillRect(left, y, Math.max(1, right - left), ROW - 1);
    context.fillStyle = css(colours.mark);
    context.fillRect(left, y, 1, ROW - 1);
    label(Math.max(0, left), string(app.model, span.name));
  }
}

/**
 * Marks with their names, in the row at Y.
 * @param {App} app
 * @param {CanvasRenderingContext2D} context
 * @param {(t: number) => number} x
 * @param {number} y
 * @param {number} width
 */
function paintMarks(app, context, x, y, width) {
  const label = namesAt(context, y, width);
  context.fillStyle = css(theme().mark);
  for (const mark of app.model.marks) {
    const at = x(mark.timeNs);
    if (at < 0 || at > width) continue;
    context.fillRect(Math.round(at), y, 2, ROW);
    label(at, string(app.model, mark.name));
  }
}

/**
 * A step of 1, 2 or 5 times a power of ten that is at least LEAST.
 * @param {number} least
 */
function niceStep(least) {
  const power = 10 ** Math.floor(Math.log10(Math.max(least, 1)));
  for (const factor of [1, 2, 5])
    if (factor * power >= least) return factor * power;
  return 10 * power;
}
