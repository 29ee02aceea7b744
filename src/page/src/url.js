// SPDX-License-Identifier: MIT
/** url.js -- the state as the fragment of the address, so that it can be linked. */
import { initialState } from './app.js';

/**
 * @typedef {import('./app.js').State} State
 */

/** @type {Partial<Record<keyof State, string[]>>} */
const CHOICES = {
  view: ['flame', 'table', 'tree', 'waits', 'changes', 'source'],
  value: ['cpu', 'wall', 'waiting', 'runnable'],
  colour: ['module', 'state', 'difference'],
  order: ['heavy', 'name', 'time'],
  frames: ['usual', 'script', 'native'],
  compare: ['share', 'absolute'],
  strip: ['lanes', 'heat'],
  theme: ['', 'light', 'dark'],
};
const TEXTS = /** @type {const} */ (['group', 'search', 'chosen', 'sort']);
const FLAGS = /** @type {const} */ (['fold', 'idle', 'invert', 'flip']);
const RANGES = /** @type {const} */ (['range', 'base']);
const LISTS = /** @type {const} */ (['focus', 'ignore']);

/**
 * What of STATE is not USUAL.
 * @param {State} state
 * @param {State} [usual]
 */
export function toFragment(state, usual = initialState()) {
  const parts = new URLSearchParams();
  for (const key of /** @type {(keyof State)[]} */ ([
    ...Object.keys(CHOICES),
    ...TEXTS,
  ]))
    if (state[key] !== usual[key]) parts.set(key, String(state[key]));
  for (const key of FLAGS) if (state[key]) parts.set(key, '1');
  for (const key of RANGES) {
    const range = state[key];
    if (range) parts.set(key, range.map((ns) => ns / 1e9).join('-'));
  }
  for (const key of LISTS)
    for (const text of state[key]) parts.append(key, text);
  for (const { key, value } of state.filters)
    parts.append('filter', `${key}=${value}`);
  if (state.zoom.length > 0) parts.set('zoom', state.zoom.join('.'));
  return parts.toString();
}

/**
 * The state of FRAGMENT; what is not known in it is left out.
 * @param {string} fragment
 * @param {State} [usual]
 * @returns {State}
 */
export function fromFragment(fragment, usual = initialState()) {
  /** @type {Record<string, unknown>} */
  const state = { ...usual };
  const parts = new URLSearchParams(fragment.replace(/^#/, ''));
  for (const [key, choices] of Object.entries(CHOICES)) {
    const value = parts.get(key);
    if (value !== null && choices.includes(value)) state[key] = value;
  }
  for (const key of TEXTS) state[key] = parts.get(key) ?? state[key];
  for (const key of FLAGS) state[key] = parts.get(key) === '1';
  for (const key of RANGES) state[key] = toRange(parts.get(key));
  for (const key of LISTS) state[key] = parts.getAll(key);
  state.filters = parts
    .getAll('filter')
    .map((text) => ({
      key: text.slice(0, text.indexOf('=')),
      value: text.slice(text.indexOf('=') + 1),
    }))
    .filter(({ key }) => key !== '');
  state.zoom = (parts.get('zoom') ?? '').split('.').filter(Boolean).map(Number);
  return /** @type {State} */ (/** @type {unknown} */ (state));
}

/**
 * "1.5-2" in seconds as ns; null if it is no range.
 * @param {string | null} text
 * @returns {[number, number] | null}
 */
function toRange(text) {
  const match = /^(\d+\.?\d*)-(\d+\.?\d*)$/.exec(text ?? '');
  if (!match) return null;
  const [from, to] = [
    Math.round(Number(match[1]) * 1e9),
    Math.round(Number(match[2]) * 1e9),
  ];
  return to > from ? [from, to] : null;
}
