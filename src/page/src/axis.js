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

/** Heights without and with marks; least distance of numbers: CSS pixels. */
const AXIS = 17;
const MARKED_AXIS = 34;
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
  pixels.resize(width, marks.length + spans.length > 0 ? MARKED_AXIS : AXIS);
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
  paintMarks(app, context, x, width);
}

/**
 * Marks and spans with their names, as far as names have room.
 * @param {App} app
 * @param {CanvasRenderingContext2D} context
 * @param {(t: number) => number} x
 * @param {number} width
 */
function paintMarks(app, context, x, width) {
  const colours = theme();
  const { spans, marks } = app.model;
  let free = -1;
  const label = (/** @type {number} */ at, /** @type {string} */ text) => {
    if (at < free || at > width - 12) return;
    const cut = text.length > NAME ? `${text.slice(0, NAME - 1)}…` : text;
    context.fillText(cut, at + 4, 25);
    free = at + context.measureText(cut).width + 12;
  };
  for (const span of spans) {
    const [left, right] = [x(span.startNs), x(span.endNs)];
    if (right < 0 || left > width) continue;
    context.fillStyle = css(mix(colours.mark, colours.ground, 0.65));
    context.fillRect(left, 17, Math.max(1, right - left), 15);
    context.fillStyle = css(colours.mark);
    context.fillRect(left, 17, 1, 15);
    label(Math.max(0, left), string(app.model, span.name));
  }
  context.fillStyle = css(colours.mark);
  for (const mark of marks) {
    const at = x(mark.timeNs);
    if (at < 0 || at > width) continue;
    context.fillRect(Math.round(at), 16, 2, 18);
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
