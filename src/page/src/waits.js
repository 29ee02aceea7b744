// SPDX-License-Identifier: MIT
/** waits.js -- what threads waited for, and what held it. */
import { bar, button, el } from './dom.js';
import { count, percent, seconds, time as timeText } from './format.js';
import { string, threadName, threadTitle } from './model.js';
import { Pairs } from './pairs.js';
import { visitWindow } from './window.js';

/**
 * @typedef {import('./app.js').App} App
 * @typedef {{state: number, wait: number, wall: number, threads: number}} Wait
 * @typedef {{start: number, length: number, thread: number, row: number}} Longest
 */

/** The longest waits that are listed one by one. */
const MOST_SINGLE = 30;
const MOST_ROWS = 200;

/**
 * What is waited for, the most time first; a wait for a CPU is one, too.
 * @param {App} app
 * @param {number} [func] only in stacks with this function
 * @returns {Wait[]}
 */
export function collectWaits(app, func = -1) {
  const values = app.values('wall');
  return app.keep(func < 0 ? 'waits' : 'waitsOf', [values, func], () =>
    sumWaits(app.model, values, func < 0 ? null : rowsWith(app, func)),
  );
}

/**
 * @param {import('./model.js').Model} model
 * @param {Float64Array} values by row
 * @param {Uint8Array | null} inside by row, whether it counts
 */
function sumWaits({ rows, states }, values, inside) {
  const isWait = Uint8Array.from(states, ({ kind }) =>
    Number(kind !== 'running'),
  );
  const known = new Pairs();
  const threads = new Pairs();
  /** @type {Wait[]} */
  const waits = [];
  for (let row = 0; row < values.length; row++) {
    const state = rows.state[row];
    if (isWait[state] === 0 || values[row] === 0) continue;
    if (inside && !inside[row]) continue;
    const wait = rows.wait[row];
    const number = known.put(state, wait);
    if (number === waits.length)
      waits.push({ state, wait, wall: 0, threads: 0 });
    waits[number].wall += values[row];
    const before = threads.n;
    threads.put(number, rows.thread[row]);
    waits[number].threads += threads.n - before;
  }
  return waits.sort((a, b) => b.wall - a.wall);
}

/**
 * By row, whether FUNC is on its stack.
 * @param {App} app
 * @param {number} func
 */
export function rowsWith(app, func) {
  return app.keep(`rowsWith`, [func], () => app.rowsWith(app.only(func)));
}

/**
 * The name of what is waited for: the object, or the state alone.
 * @param {App} app
 * @param {{state: number, wait: number}} wait
 */
export function waitName(app, { state, wait }) {
  const { model } = app;
  const name = string(model, model.states[state].name);
  const object = string(model, model.waits[wait] ?? '');
  return object ? `${name}: ${object}` : name;
}

/**
 * A button to what the thread that holds WAIT did then; null if it is unknown.
 * @param {App} app
 * @param {number} wait
 * @param {import('./window.js').Range | null} range
 */
export function holderButton(app, wait, range) {
  const holder = app.model.waitHolders[wait] ?? -1;
  if (holder < 0) return null;
  const { tid } = app.model.threads[holder];
  return button(
    `${threadName(app.model, holder)} held it: what it did`,
    () =>
      app.set({
        filters: [{ key: 'thread', value: String(tid) }],
        focus: [],
        ignore: [],
        range: range ?? app.state.range,
        value: 'wall',
        view: 'flame',
        chosen: '',
        zoom: [],
      }),
    {
      class: 'holder',
      title: `Stacks of ${threadTitle(app.model, holder)} at that time`,
    },
  );
}

/**
 * The longest single waits of the selection.
 * @param {App} app
 * @returns {Longest[]}
 */
function longestWaits(app) {
  const { time, long, model } = app;
  if (!time || !long) return [];
  const values = app.values('wall');
  /** @type {Longest[]} */
  const list = [];
  let least = 0;
  const range =
    app.state.range ?? /** @type {[number, number]} */ ([-1, Infinity]);
  for (let thread = 0; thread < model.threads.length; thread++)
    visitWindow(time, long, thread, range, (i, a, b) => {
      const row = time.row[i];
      if (b - a <= least || values[row] === 0) return;
      if (model.states[model.rows.state[row]].kind === 'running') return;
      list.push({ start: time.start[i] + a, length: b - a, thread, row });
      if (list.length > 4 * MOST_SINGLE) {
        list.sort((x, y) => y.length - x.length);
        list.length = MOST_SINGLE;
        least = list[MOST_SINGLE - 1].length;
      }
    });
  return list.sort((x, y) => y.length - x.length).slice(0, MOST_SINGLE);
}

export class Waits {
  /** @param {App} app */
  constructor(app) {
    this.app = app;
    this.element = el('div', { class: 'waits-view' });
  }

  refresh() {
    const { app } = this;
    const waits = collectWaits(app);
    const whole = waits.reduce((sum, { wall }) => sum + wall, 0);
    const single = app.keep(
      'longestWaits',
      [app.values('wall'), app.time, app.state.range],
      () => longestWaits(app),
    );
    this.element.replaceChildren(
      waits.length === 0
        ? el(
            'p',
            { class: 'empty' },
            'No thread waited in this selection, or only running threads were sampled.',
          )
        : this.table(waits, whole),
      ...(single.length > 0
        ? [el('h3', {}, 'The longest waits'), this.singles(single)]
        : []),
    );
  }

  /**
   * @param {Wait[]} waits
   * @param {number} whole
   */
  table(waits, whole) {
    const { app } = this;
    return el(
      'table',
      { class: 'waits' },
      el('caption', { class: 'unseen' }, 'What threads waited for'),
      el(
        'thead',
        {},
        el(
          'tr',
          {},
          ...['Wall', 'Threads'].map((title) =>
            el('th', { class: 'number' }, title),
          ),
          el('th', { class: 'text' }, 'Waited for'),
        ),
      ),
      el(
        'tbody',
        {},
        ...waits
          .slice(0, MOST_ROWS)
          .map((wait) =>
            el(
              'tr',
              {},
              el(
                'td',
                { class: 'number' },
                seconds(wait.wall),
                el('small', {}, ` ${percent(wait.wall, whole)}`),
                bar(wait.wall / whole),
              ),
              el('td', { class: 'number' }, count(wait.threads)),
              el(
                'td',
                { class: 'text' },
                this.choose(wait),
                ' ',
                holderButton(app, wait.wait, null),
              ),
            ),
          ),
      ),
    );
  }

  /** @param {Wait} wait */
  choose(wait) {
    const { app } = this;
    const object = string(app.model, app.model.waits[wait.wait] ?? '');
    const filter = object
      ? { key: 'waits_on', value: object }
      : {
          key: 'state',
          value: string(app.model, app.model.states[wait.state].name),
        };
    return button(
      waitName(app, wait),
      () =>
        app.set({
          filters: [...app.state.filters, filter],
          value: 'wall',
          view: 'flame',
        }),
      { class: 'name', title: 'Only this wait, as a flame graph' },
    );
  }

  /** @param {Longest[]} list */
  singles(list) {
    const { app } = this;
    const { rows } = app.model;
    return el(
      'table',
      { class: 'waits' },
      el(
        'thead',
        {},
        el(
          'tr',
          {},
          el('th', { class: 'number' }, 'Length'),
          el('th', { class: 'number' }, 'At'),
          el('th', { class: 'thread' }, 'Thread'),
          el('th', { class: 'text' }, 'Waited for'),
        ),
      ),
      el(
        'tbody',
        {},
        ...list.map(({ start, length, thread, row }) => {
          /** @type {[number, number]} */
          const range = [start, start + length];
          const wait = { state: rows.state[row], wait: rows.wait[row] };
          return el(
            'tr',
            {},
            el('td', { class: 'number' }, timeText(length)),
            el(
              'td',
              { class: 'number' },
              button(seconds(start), () => app.set({ range }), {
                class: 'name',
                title: 'Select this time',
              }),
            ),
            el('td', { class: 'thread' }, threadName(app.model, thread)),
            el(
              'td',
              { class: 'text' },
              waitName(app, wait),
              ' ',
              holderButton(app, wait.wait, range),
            ),
          );
        }),
      ),
    );
  }
}
