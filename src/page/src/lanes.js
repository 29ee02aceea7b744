// SPDX-License-Identifier: MIT
/** lanes.js -- threads as lanes of the time axis, and what they do when. */
import { string } from './model.js';
import { visitWindow } from './window.js';

/**
 * @typedef {import('./model.js').Model} Model
 * @typedef {import('./model.js').Time} Time
 * @typedef {import('./window.js').Range} Range
 *
 * @typedef {object} Lane
 * @property {string} name
 * @property {number[]} threads
 * @property {number} cpu
 * @property {number} process
 *
 * @typedef {object} Strip sums by column: of ns, and of matching samples' ns
 * @property {Float32Array} running
 * @property {Float32Array} runnable
 * @property {Float32Array} waiting
 * @property {Float32Array} matched
 * @property {number} most largest sum of a column
 */

/** Columns of the heat map: ns. */
export const CELL = 2e7;

/**
 * One lane for all threads whose names differ at most in a number, those with
 * the most CPU time first.
 * @param {Model} model
 * @returns {Lane[]}
 */
export function collectLanes(model) {
  const { threads, rows } = model;
  const cpu = new Float64Array(threads.length);
  for (let row = 0; row < rows.n; row++) {
    cpu[rows.thread[row]] += rows.cpu[row] + rows.wall[row] / 1e6;
  }
  /** @type {Map<string, Lane>} */
  const lanes = new Map();
  threads.forEach((thread, number) => {
    const name = string(model, thread.name);
    const { name: process } = model.processes[thread.process];
    const key = `${string(model, process)}\0${name.replace(/\d+/g, '#')}`;
    let lane = lanes.get(key);
    if (!lane) {
      lane = { name, threads: [], cpu: 0, process: thread.process };
      lanes.set(key, lane);
    }
    if (lane.name !== name) lane.name = name.replace(/\d+/g, '*');
    lane.threads.push(number);
    lane.cpu += cpu[number];
  });
  for (const lane of lanes.values())
    lane.threads.sort((a, b) => cpu[b] - cpu[a] || a - b);
  return [...lanes.values()].sort((a, b) => b.cpu - a.cpu);
}

/**
 * @param {number} columns
 * @returns {Strip}
 */
export function emptyStrip(columns) {
  return {
    running: new Float32Array(columns),
    runnable: new Float32Array(columns),
    waiting: new Float32Array(columns),
    matched: new Float32Array(columns),
    most: 0,
  };
}

/**
 * @typedef {object} Source
 * @property {Model} model
 * @property {Time} time
 * @property {import('./window.js').Long} long
 * @property {Uint8Array} keep by row
 * @property {Uint8Array | null} matches by row
 */

/**
 * Add what THREAD does in RANGE to STRIP. A sample without a length stands for
 * the time before it.
 * @param {Source} source
 * @param {number} thread
 * @param {Range} range
 * @param {Strip} strip
 */
export function addThread(source, thread, range, strip) {
  const { model, time, long, keep, matches } = source;
  const { state } = model.rows;
  const columns = strip.running.length;
  const scale = columns / (range[1] - range[0]);
  const kinds = model.states.map(({ kind }) => strip[kind]);
  const walls = time.wall ?? time.dur;
  visitWindow(time, long, thread, range, (i, a, b, length) => {
    const row = time.row[i];
    if (!keep[row]) return;
    const target = kinds[state[row]];
    const all = target === strip.running ? time.cpu[i] : walls[i];
    const amount = (all * (b - a)) / length;
    const isPoint = time.dur[i] === 0;
    const end = time.start[i] - range[0] + (isPoint ? 0 : b);
    const begin = isPoint ? end - amount : time.start[i] - range[0] + a;
    const from = Math.max(0, begin * scale);
    const to = Math.max(from, end * scale);
    const rate = amount / Math.max(to - from, 1e-9);
    spread(target, from, to, rate);
    if (matches?.[row]) spread(strip.matched, from, to, rate);
  });
}

/**
 * Add RATE for each column between FROM and TO.
 * @param {Float32Array} target
 * @param {number} from
 * @param {number} to
 * @param {number} rate
 */
function spread(target, from, to, rate) {
  const first = Math.floor(from);
  const last = Math.min(Math.floor(to), target.length - 1);
  if (first >= last) {
    if (first < target.length)
      target[first] += rate * Math.max(to - from, 1e-9);
    return;
  }
  target[first] += rate * (first + 1 - from);
  for (let column = first + 1; column < last; column++) target[column] += rate;
  target[last] += rate * (Math.min(to, target.length) - last);
}

/** @param {Strip} strip */
export function finish(strip) {
  for (let i = 0; i < strip.running.length; i++)
    strip.most = Math.max(
      strip.most,
      strip.running[i] + strip.runnable[i] + strip.waiting[i],
    );
  return strip;
}
