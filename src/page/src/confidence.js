// SPDX-License-Identifier: MIT
/**
 * confidence.js -- how well a sum of samples is known. A sum V of samples with
 * weights w has the variance Q, the sum of w^2; a point of it stands for
 * u = Q / V. It is the arithmetic of `sprofile diff`.
 *
 * What is compared has the u of both sides together: by its own u, a row that
 * by chance has small points only would seem to be known well. The points of
 * running threads are scaled to the rate of the other side. The time of a wait
 * does not depend on the rate.
 *
 * A share of one profile is known by samples and looks, as in `sprofile
 * report` (view/confidence.c).
 */
import { percent } from './format.js';

/**
 * @typedef {import('./model.js').Model} Model
 * @typedef {import('./model.js').Time} Time
 * @typedef {{value: number, squares: number}} Sum
 * @typedef {Sum & {sampled: number}} Row SAMPLED: the part of SQUARES by
 * samples of running threads
 */

/**
 * Whether ROW is time without samples.
 * @param {Model} model
 * @param {number} row
 */
export function isUnsampled({ rows, nodes, frames, funcs, strings }, row) {
  const func = frames.func[nodes.frame[rows.node[row]]];
  return strings[funcs.name[func]] === '[not sampled]';
}

/**
 * What a point of each row stands for, in ns: of CPU time and of wall time.
 * The samples say it; without them a row's points are its samples. A wait, or a
 * time in the run queue, is one. For SHARE each look at it is one; there may be
 * fewer looks than points. Time without samples has none.
 * @param {Model} model
 * @param {Time | null} time
 */
export function pointsOf(model, time) {
  const { rows, states } = model;
  const cpu = new Float64Array(rows.n);
  const wall = new Float64Array(rows.n);
  const share = {
    cpu: new Float64Array(rows.n),
    wall: new Float64Array(rows.n),
  };
  if (time) {
    const walls = time.wall ?? time.dur;
    for (let i = 0; i < time.n; i++) {
      cpu[time.row[i]] += time.cpu[i] * time.cpu[i];
      wall[time.row[i]] += walls[i] * walls[i];
    }
  }
  for (let row = 0; row < rows.n; row++) {
    const isRunning = states[rows.state[row]]?.kind === 'running';
    const looks = rows.count[row] || 1;
    const count = isRunning ? looks : 1;
    const spread = (isRunning && model.meta.spread) || 1;
    cpu[row] = time
      ? cpu[row] / (rows.cpu[row] || 1)
      : (spread * rows.cpu[row]) / count;
    wall[row] = time
      ? wall[row] / (rows.wall[row] || 1)
      : (spread * rows.wall[row]) / count;
    if (isUnsampled(model, row)) continue;
    share.cpu[row] = cpu[row];
    share.wall[row] = isRunning
      ? wall[row]
      : rows.wall[row] / looks / model.meta.looks;
  }
  return { cpu, wall, share };
}

/**
 * The share that ROW truly has of WHOLE is within this of the measured one, with
 * a probability of 95 %: the farther end of Wilson's interval. A mean point is
 * added to those of the row, because few may be small by chance.
 * @param {Sum} row
 * @param {Sum} whole
 */
export function interval(row, whole) {
  if (whole.squares <= 0 || (row.value > 0 && row.squares <= 0)) return 0;
  const p = Math.min(1, row.value / whole.value);
  const mean = whole.squares / whole.value;
  const own = (row.squares + mean * mean) / (row.value + mean);
  const rest = whole.value - row.value;
  const squares = whole.squares - row.squares;
  const other = rest > 0 && squares > 0 ? squares / rest : own;
  const n = whole.value / ((1 - p) * own + p * other) / 1.96 ** 2;
  const half = Math.sqrt((p * (1 - p)) / n + 1 / (4 * n * n));
  return (Math.abs(0.5 - p) / n + half) / (1 + 1 / n);
}

/**
 * "12.3 % ± 0.8".
 * @param {Sum} row
 * @param {Sum} whole
 */
export function shareText(row, whole) {
  const error = 100 * interval(row, whole);
  const text = percent(row.value, whole.value);
  return error > 0 ? `${text} ± ${error.toFixed(1)}` : text;
}

/**
 * The class of a row: dim if it has fewer than five points.
 * @param {Sum} row
 */
export function dim(row) {
  return (row.squares > 0 ? points(row) > 4.99 : row.value > 0) ? '' : ' few';
}

/**
 * How many points of one size would tell as much as SUM.
 * @param {Sum} sum
 */
export function points(sum) {
  return sum.squares > 0 ? (sum.value * sum.value) / sum.squares : 0;
}

/**
 * What a point of the row stands for, in ns, on both sides.
 * @param {Sum} oldWhole
 * @param {Sum} nowWhole
 * @param {Row} old
 * @param {Row} now
 * @param {number} ratio
 */
function pointsOfRow(oldWhole, nowWhole, old, now, ratio) {
  const both = (/** @type {(row: Row) => number} */ part, by = 1) =>
    part(old) / oldWhole.value + part(now) / nowWhole.value / by;
  const value = both((row) => row.value);
  if (value <= 0) return { before: 0, after: 0 };
  const sampled = both((row) => row.sampled, ratio);
  const exact = both((row) => row.squares - row.sampled);
  return {
    before: (sampled + exact) / value,
    after: (sampled * ratio + exact) / value,
  };
}

/**
 * One side of a comparison: value, own point and other point as shares.
 * @param {Sum} whole
 * @param {Sum} row
 * @param {number} own
 */
function sideOf(whole, row, own) {
  const rest = whole.value - row.value;
  const other = rest > 0 ? (whole.squares - row.squares) / rest : own;
  return {
    value: row.value / whole.value,
    own: own / whole.value,
    other: Math.max(0, other) / whole.value,
  };
}

/**
 * The chance that the shares of OLD and NOW differ as much as they do if
 * nothing changed: the two-proportion z test with pooled share and continuity
 * correction. IS_ABSOLUTE: that their times do (view/significance.c).
 * @param {Sum} oldWhole
 * @param {Sum} nowWhole
 * @param {Row} old
 * @param {Row} now
 * @param {number} [ratio] of what a point of a running thread stands for now
 * to what it stood for
 * @param {boolean} [isAbsolute]
 */
export function chanceOfNoise(
  oldWhole,
  nowWhole,
  old,
  now,
  ratio = 1,
  isAbsolute = false,
) {
  if (oldWhole.value <= 0 || nowWhole.value <= 0) return 1;
  const one = { value: 1, squares: 0 };
  const [a, b] = isAbsolute ? [one, one] : [oldWhole, nowWhole];
  const own = pointsOfRow(a, b, old, now, ratio);
  const before = sideOf(a, old, own.before);
  const after = sideOf(b, now, own.after);
  if (before.own <= 0 || after.own <= 0) return 1;
  const common =
    (before.value / before.own + after.value / after.own) /
    (1 / before.own + 1 / after.own);
  const share = Math.min(common, 1);
  const spread = (/** @type {{own: number, other: number}} */ side) =>
    isAbsolute
      ? common * side.own
      : share * (1 - share) * ((1 - share) * side.own + share * side.other);
  const deviation = Math.sqrt(spread(before) + spread(after));
  const step = (before.own + after.own) / 2;
  const change = Math.abs(after.value - before.value);
  if (deviation <= 0 || change <= step) return 1;
  return tails((change - step) / deviation);
}

/**
 * The chance of both tails of a normal distribution beyond Z: erfc(z / sqrt 2),
 * to within 1.2e-7 of it (Numerical Recipes, 6.2).
 * @param {number} z
 */
export function tails(z) {
  const x = Math.abs(z) / Math.SQRT2;
  const t = 1 / (1 + x / 2);
  const factors = [
    -1.26551223, 1.00002368, 0.37409196, 0.09678418, -0.18628806, 0.27886807,
    -1.13520398, 1.48851587, -0.82215223, 0.17087277,
  ];
  const series = factors.reduceRight((sum, factor) => sum * t + factor, 0);
  return t * Math.exp(-x * x + series);
}
