// SPDX-License-Identifier: MIT
/** changes.js -- on a page of two profiles: what is new, gone, slower, faster. */
import { button, el } from './dom.js';
import { chance, seconds, signedTime } from './format.js';

/**
 * @typedef {import('./app.js').App} App
 * @typedef {object} Change
 * @property {string} name
 * @property {string} module
 * @property {number} oldSelf
 * @property {number} newSelf
 * @property {number} oldTotal
 * @property {number} newTotal
 * @property {number} oldCount
 * @property {number} newCount
 * @property {number} p
 * @property {'new' | 'gone' | 'slower' | 'faster' | 'same' | 'noise'} verdict
 * @property {'new' | 'gone' | 'slower' | 'faster' | 'same' | 'noise'} [verdictTotal]
 * @property {number} [error] half of the 95 % interval of the change
 *
 * @typedef {object} Changes
 * @property {Change[]} rows
 * @property {string[]} [notes]
 * @property {boolean} [absolute] what P and ERROR are about
 * @property {number} [factor]
 */

const ORDER = /** @type {const} */ ([
  'slower',
  'new',
  'faster',
  'gone',
  'noise',
  'same',
]);
const TITLES = {
  slower: 'Slower',
  new: 'New',
  faster: 'Faster',
  gone: 'Gone',
  noise: 'May be noise',
  same: 'The same',
};
/** Rows of one kind; those of noise and of no change begin closed. */
const MOST = 200;

export class ChangesView {
  /** @param {App} app */
  constructor(app) {
    this.app = app;
    this.element = el('div', { class: 'changes-view' });
  }

  refresh() {
    const { changes, state } = this.app;
    if (!changes) return;
    const factor = state.compare === 'share' ? this.factor() : 1;
    this.element.replaceChildren(
      ...(changes.notes ?? []).map((note) => el('p', { class: 'faint' }, note)),
      ...ORDER.map((verdict) => ({
        verdict,
        rows: changes.rows.filter((row) => row.verdict === verdict),
      }))
        .filter(({ rows }) => rows.length > 0)
        .map(({ verdict, rows }) => this.group(verdict, rows, factor)),
      ...(changes.rows.length === 0
        ? [
            el(
              'p',
              { class: 'empty' },
              'No function has time in either profile.',
            ),
          ]
        : []),
    );
  }

  /** By what new times are multiplied for the total of the old run. */
  factor() {
    let before = 0;
    let now = 0;
    for (const row of this.app.changes?.rows ?? []) {
      before += row.oldSelf;
      now += row.newSelf;
    }
    return now > 0 && before > 0 ? before / now : 1;
  }

  /**
   * @param {keyof typeof TITLES} verdict
   * @param {Change[]} rows
   * @param {number} factor
   */
  group(verdict, rows, factor) {
    const isQuiet = verdict === 'noise' || verdict === 'same';
    const change = (/** @type {Change} */ row) =>
      row.newSelf * factor - row.oldSelf;
    const sorted = rows.toSorted(
      (a, b) => Math.abs(change(b)) - Math.abs(change(a)),
    );
    return el(
      'details',
      { open: !isQuiet, class: `verdict ${verdict}` },
      el(
        'summary',
        {},
        `${TITLES[verdict]} `,
        el('small', {}, String(rows.length)),
      ),
      el(
        'table',
        { class: 'functions' },
        el(
          'thead',
          {},
          el(
            'tr',
            {},
            ...[
              'Old s',
              factor === 1 ? 'New s' : 'New s, scaled',
              'Change',
              'p',
            ].map((title) => el('th', { class: 'number' }, title)),
            el('th', { class: 'text' }, 'Function'),
          ),
        ),
        el(
          'tbody',
          {},
          ...sorted
            .slice(0, MOST)
            .map((row) => this.row(row, change(row), factor)),
        ),
      ),
      sorted.length > MOST
        ? el('p', { class: 'faint' }, `${sorted.length - MOST} more`)
        : null,
    );
  }

  /**
   * @param {Change} row
   * @param {number} change
   * @param {number} factor
   */
  row(row, change, factor) {
    const { app } = this;
    const key = app.keyOf(app.comparableOf(row.name, row.module));
    const share =
      row.oldSelf > 0
        ? ` ${change > 0 ? '+' : '−'}${Math.abs((100 * change) / row.oldSelf).toFixed(1)} %`
        : '';
    return el(
      'tr',
      {},
      el('td', { class: 'number' }, seconds(row.oldSelf)),
      el('td', { class: 'number' }, seconds(row.newSelf * factor)),
      el(
        'td',
        { class: `number ${change > 0 ? 'more' : 'less'}` },
        signedTime(change),
        el('small', {}, share),
      ),
      el('td', { class: 'number' }, chance(row.p)),
      el(
        'td',
        { class: 'text' },
        button(row.name, () => app.set({ chosen: key, view: 'flame' }), {
          class: 'name',
          title: 'Show it in the flame graph',
        }),
        el('small', {}, ` ${row.module}`),
      ),
    );
  }
}
