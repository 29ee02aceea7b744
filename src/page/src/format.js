// SPDX-License-Identifier: MIT
/** format.js -- numbers as text. */

/**
 * NS as seconds, with as many digits as help.
 * @param {number} ns
 */
export function time(ns) {
  const size = Math.abs(ns);
  if (size === 0) return '0 s';
  if (size < 1e3) return `${Math.round(ns)} ns`;
  if (size < 1e6) return `${digits(ns / 1e3)} µs`;
  if (size < 1e9) return `${digits(ns / 1e6)} ms`;
  if (size < 6e11) return `${digits(ns / 1e9)} s`;
  if (size < 3.6e12 * 2) return `${digits(ns / 6e10)} min`;
  return `${digits(ns / 3.6e12)} h`;
}

/**
 * Three digits.
 * @param {number} value
 */
export function digits(value) {
  const size = Math.abs(value);
  if (size >= 99.95) return value.toFixed(0);
  return size >= 9.995 ? value.toFixed(1) : value.toFixed(2);
}

/**
 * Seconds with three decimals, for columns.
 * @param {number} ns
 */
export function seconds(ns) {
  return (ns / 1e9).toFixed(3);
}

/**
 * @param {number} part
 * @param {number} whole
 */
export function percent(part, whole) {
  if (!whole) return '0 %';
  const share = (100 * part) / whole;
  if (share !== 0 && Math.abs(share) < 0.01) return '<0.01 %';
  return `${share.toFixed(Math.abs(share) < 9.995 ? 2 : 1)} %`;
}

/** @param {number} value */
export function count(value) {
  return Math.round(value)
    .toString()
    .replace(/\B(?=(\d{3})+$)/g, ',');
}

/** @param {number} value a change, with its sign */
export function signedTime(value) {
  return (value > 0 ? '+' : value < 0 ? '−' : '') + time(Math.abs(value));
}

/**
 * Seconds of the time axis, as exact as STEP needs.
 * @param {number} ns
 * @param {number} step ns
 */
export function clock(ns, step) {
  const decimals = Math.min(9, Math.max(0, Math.ceil(9 - Math.log10(step))));
  return `${(ns / 1e9).toFixed(step >= 1e9 ? 0 : decimals)} s`;
}

/**
 * A chance as text.
 * @param {number} p
 */
export function chance(p) {
  if (p >= 0.0995) return p.toFixed(2);
  if (p >= 0.0001) return p.toFixed(4);
  return p > 0 ? p.toExponential(0) : '0';
}
