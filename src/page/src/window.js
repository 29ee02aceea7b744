// SPDX-License-Identifier: MIT
/**
 * window.js -- what rows have in a window of time. A sample that is partly in
 * the window counts for its part; parts are differences of rounded sums, so
 * neighbouring windows add up to the nanosecond, as on the command line.
 */

/**
 * @typedef {import('./model.js').Model} Model
 * @typedef {import('./model.js').Time} Time
 * @typedef {{cpu: Float64Array, wall: Float64Array, count: Float64Array}} Sums by row
 * @typedef {[number, number]} Range from, to; ns
 */

/** Samples longer than this (ns) are kept in a list of their own. */
const LONG = 1e8;

/** @typedef {{first: Uint32Array, list: Uint32Array}} Long by thread */

/**
 * Collect the long samples, which may reach into a window from far before it.
 * @param {Time} time
 * @returns {Long}
 */
export function collectLong(time) {
  const first = new Uint32Array(time.first.length);
  const list = [];
  for (let thread = 0; thread + 1 < time.first.length; thread++) {
    first[thread] = list.length;
    for (let i = time.first[thread]; i < time.first[thread + 1]; i++)
      if (time.dur[i] > LONG) list.push(i);
  }
  first[first.length - 1] = list.length;
  return { first, list: Uint32Array.from(list) };
}

/**
 * The first of the samples FROM to TO that starts at START or later.
 * @param {Float64Array} starts
 * @param {number} start
 * @param {number} from
 * @param {number} to
 */
export function lowerBound(starts, start, from, to) {
  while (from < to) {
    const middle = (from + to) >>> 1;
    if (starts[middle] < start) from = middle + 1;
    else to = middle;
  }
  return from;
}

/**
 * floor(value * b / length) - floor(value * a / length), exact.
 * @param {number} value
 * @param {number} a
 * @param {number} b
 * @param {number} length
 */
export function partOf(value, a, b, length) {
  if (value * length < Number.MAX_SAFE_INTEGER / 2)
    return Math.floor((value * b) / length) - Math.floor((value * a) / length);
  const [v, l] = [BigInt(value), BigInt(length)];
  return Number((v * BigInt(b)) / l - (v * BigInt(a)) / l);
}

/**
 * Call VISIT(sample, a, b, length) for each sample of THREAD in RANGE; A to B
 * of LENGTH is the part that is in it.
 * @param {Time} time
 * @param {Long} long
 * @param {number} thread
 * @param {Range} range
 * @param {(sample: number, a: number, b: number, length: number) => void} visit
 */
export function visitWindow(time, long, thread, [from, to], visit) {
  const begin = time.first[thread];
  const end = time.first[thread + 1];
  const near = lowerBound(time.start, from - LONG, begin, end);
  for (let j = long.first[thread]; j < long.first[thread + 1]; j++)
    if (long.list[j] < near) visitSample(time, long.list[j], from, to, visit);
  for (let i = near; i < end && time.start[i] < to; i++)
    visitSample(time, i, from, to, visit);
}

/**
 * @param {Time} time
 * @param {number} i
 * @param {number} from
 * @param {number} to
 * @param {(sample: number, a: number, b: number, length: number) => void} visit
 */
function visitSample(time, i, from, to, visit) {
  const start = time.start[i];
  const length = time.dur[i];
  const end = start + length;
  if (length === 0) {
    if (start >= from && start < to) visit(i, 0, 1, 1);
  } else if (from < end && to > start)
    visit(
      i,
      from > start ? from - start : 0,
      Math.min(to, end) - start,
      length,
    );
}

/**
 * What each row has in RANGE; null is all of it.
 * @param {Model} model
 * @param {Time | null} time
 * @param {Long | null} long
 * @param {Range | null} range
 * @returns {Sums}
 */
export function sumWindow(model, time, long, range) {
  const { rows } = model;
  if (!range || !time || !long) return rows;
  const cpu = new Float64Array(rows.n);
  const wall = new Float64Array(rows.n);
  const count = new Float64Array(rows.n);
  const walls = time.wall ?? time.dur;
  const counts = time.count;
  for (let thread = 0; thread + 1 < time.first.length; thread++)
    visitWindow(time, long, thread, range, (i, a, b, length) => {
      const row = time.row[i];
      const n = counts ? counts[i] : 1;
      if (a === 0 && b === length) {
        cpu[row] += time.cpu[i];
        wall[row] += walls[i];
        count[row] += n;
      } else {
        cpu[row] += partOf(time.cpu[i], a, b, length);
        wall[row] += partOf(walls[i], a, b, length);
        count[row] += partOf(n, a, b, length);
      }
    });
  return { cpu, wall, count };
}

/**
 * The value of each row that is kept.
 * @param {Model} model
 * @param {Sums} sums
 * @param {Uint8Array} keep
 * @param {import('./model.js').Value} value
 */
export function rowValues(model, sums, keep, value) {
  const source = value === 'cpu' ? sums.cpu : sums.wall;
  const { state } = model.rows;
  const counts = model.states.map(
    ({ kind }) => value === 'cpu' || value === 'wall' || kind === value,
  );
  const values = new Float64Array(source.length);
  for (let row = 0; row < values.length; row++)
    if (keep[row] && counts[state[row]]) values[row] = source[row];
  return values;
}

/** @param {Float64Array} values */
export function total(values) {
  let sum = 0;
  for (let i = 0; i < values.length; i++) sum += values[i];
  return sum;
}
