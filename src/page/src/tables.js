// SPDX-License-Identifier: MIT
/** tables.js -- the table of functions, with callers and callees of one. */
import { attribute, bar, button, el } from './dom.js';
import { percent, seconds, signedTime } from './format.js';
import { dim, shareText } from './confidence.js';
import { callersOf, calleesOf, largest } from './functions.js';

/**
 * @typedef {import('./app.js').App} App
 * @typedef {{key: string, title: string, help: string, of: (func: number) => number}} Column
 */

/** Rows that are shown until more are asked for. */
const FIRST_ROWS = 200;

/**
 * What a table of functions has, with the present selection.
 * @param {App} app
 * @returns {Column[]}
 */
function columnsOf(app) {
  const now = app.functionSums();
  const cpu = app.functionSums('cpu');
  const wall = app.functionSums('wall');
  const waiting = app.functionSums('waiting');
  const base = app.functionBase;
  const scale = app.baseScale;
  /** @type {Column[]} */
  const columns = [
    {
      key: 'self',
      title: 'Self',
      help: 'in the function itself',
      of: (f) => now.self[f],
    },
    {
      key: 'total',
      title: 'Total',
      help: 'while it was on the stack; recursion counts once',
      of: (f) => now.total[f],
    },
    {
      key: 'cpu',
      title: 'CPU',
      help: 'total CPU time',
      of: (f) => cpu.total[f],
    },
    {
      key: 'wall',
      title: 'Wall',
      help: 'total wall time',
      of: (f) => wall.total[f],
    },
    {
      key: 'waits',
      title: 'Waits',
      help: 'total time in waits',
      of: (f) => waiting.total[f],
    },
  ];
  if (base)
    columns.splice(
      2,
      0,
      {
        key: 'dself',
        title: '± self',
        help: 'change of self against the baseline, scaled',
        of: (f) => now.self[f] - base.self[f] * scale,
      },
      {
        key: 'dtotal',
        title: '± total',
        help: 'change of the total against the baseline, scaled',
        of: (f) => now.total[f] - base.total[f] * scale,
      },
    );
  return columns;
}

/**
 * The first MOST functions that have anything, by COLUMN, and how many there
 * are. Changes are ordered by their size.
 * @param {App} app
 * @param {Column} column
 * @param {number} most
 */
function firstFunctions(app, column, most) {
  const now = app.functionSums();
  const base = app.functionBase;
  const { matches } = app;
  /** @type {number[]} */
  const list = [];
  for (let func = 0; func < app.functions.n; func++)
    if (now.total[func] > 0 || (base && base.total[func] > 0))
      if (!matches || matches[func]) list.push(func);
  const count = list.length;
  if (column.key === 'name') {
    const names = app.functions.name;
    list.sort((a, b) =>
      names[a] < names[b] ? -1 : names[a] > names[b] ? 1 : 0,
    );
    return { list: list.slice(0, most), count };
  }
  const by = Float64Array.from(list, (func) =>
    func === app.idle ? -1 : Math.abs(column.of(func)),
  );
  const then = Float64Array.from(list, (func) => now.total[func]);
  return { list: largest(by, then, most).map((i) => list[i]), count };
}

/** A narrow screen has no room for all columns. @param {string} key */
function numberClass(key) {
  return ['cpu', 'wall', 'waits'].includes(key) ? 'number wide' : 'number';
}

export class Table {
  /** @param {App} app */
  constructor(app) {
    this.app = app;
    this.limit = FIRST_ROWS;
    this.body = el('div', { class: 'table-scroll' });
    this.sandwich = el('div', { class: 'sandwich' });
    this.element = el('div', { class: 'table-view' }, this.body, this.sandwich);
  }

  refresh() {
    const { app } = this;
    const columns = columnsOf(app);
    /** @type {Column} */
    const byName = {
      key: 'name',
      title: 'Function',
      help: 'name',
      of: () => 0,
    };
    const column =
      [...columns, byName].find(({ key }) => key === app.state.sort) ??
      columns[0];
    const { list, count } = firstFunctions(app, column, this.limit);
    const table = el(
      'table',
      { class: 'functions' },
      el('caption', { class: 'unseen' }, 'Functions with self and total time'),
      el(
        'thead',
        {},
        el('tr', {}, ...columns.map((c) => this.title(c)), this.title(byName)),
      ),
      el('tbody', {}, ...list.map((func) => this.row(func, columns))),
    );
    const rest = count - list.length;
    this.body.replaceChildren(
      table,
      ...(rest > 0
        ? [
            button(
              `${rest} more functions: show them`,
              () => this.more(count),
              { class: 'more' },
            ),
          ]
        : []),
      ...(list.length === 0
        ? [el('p', { class: 'empty' }, 'No function is left by these filters.')]
        : []),
    );
    this.fillSandwich();
  }

  /** @param {number} count */
  more(count) {
    this.limit = Math.min(count, this.limit + 2000);
    this.refresh();
  }

  /** @param {Column} column */
  title(column) {
    const isSorted = this.app.state.sort === column.key;
    return el(
      'th',
      {
        scope: 'col',
        class: column.key === 'name' ? 'text' : numberClass(column.key),
        'aria-sort': isSorted
          ? column.key === 'name'
            ? 'ascending'
            : 'descending'
          : 'none',
      },
      button(
        column.title + (isSorted ? ' ↓' : ''),
        () => this.app.set({ sort: column.key }),
        { title: column.help },
      ),
    );
  }

  /**
   * @param {number} func
   * @param {Column[]} columns
   */
  row(func, columns) {
    const { app } = this;
    const whole = app.nodeShare(0);
    const isChosen = app.functionOf(app.state.chosen) === func;
    const cells = columns.map(({ key, of }) => {
      const value = of(func);
      if (key.startsWith('d'))
        return el(
          'td',
          { class: `number ${value > 0 ? 'more' : 'less'}` },
          signedTime(value),
        );
      const cell = el('td', { class: numberClass(key) }, seconds(value));
      if (key === 'self' || key === 'total')
        cell.append(
          el('small', {}, ` ${shareText(app.functionShare(key, func), whole)}`),
          bar(value / (whole.value || 1)),
        );
      return cell;
    });
    return el(
      'tr',
      {
        class:
          (isChosen ? 'chosen' : '') + dim(app.functionShare('total', func)),
        'data-func': app.keyOf(func),
      },
      ...cells,
      el(
        'td',
        { class: 'text' },
        functionButton(app, func),
        el('small', {}, ` ${app.functions.module[func]}`),
      ),
    );
  }

  fillSandwich() {
    const { app } = this;
    const func = app.functionOf(app.state.chosen);
    this.sandwich.hidden = func < 0;
    if (func < 0) return;
    this.sandwich.replaceChildren(
      neighbours(app, 'Callers', 'callers', func, 12),
      el(
        'div',
        { class: 'middle' },
        el('strong', {}, app.functions.name[func]),
        el('small', {}, ` ${app.functions.module[func]}`),
      ),
      neighbours(app, 'Callees', 'callees', func, 12),
    );
  }
}

/**
 * A button with the name of FUNC, which chooses it. WHERE comes first: a long
 * name does not hide it.
 * @param {App} app
 * @param {number} func
 */
export function functionButton(app, func, where = '') {
  const key = app.keyOf(func);
  return button(
    where + (app.functions.name[func] || '(no name)'),
    () => {
      app.point(-1);
      app.set({ chosen: app.state.chosen === key ? '' : key });
    },
    {
      class: 'name',
      onpointerenter: (/** @type {PointerEvent} */ event) =>
        app.point(func, event),
      onpointerleave: () => app.point(-1),
      'aria-pressed': String(app.state.chosen === key),
    },
  );
}

/**
 * A list of those who call FUNC, or whom it calls.
 * @param {App} app
 * @param {string} title
 * @param {'callers' | 'callees'} kind
 * @param {number} func
 * @param {number} most
 */
export function neighbours(app, title, kind, func, most) {
  const { tree, top } = app.plainTree;
  const sums = app.plainSums();
  const list =
    kind === 'callers'
      ? callersOf(tree, top, sums, func)
      : calleesOf(tree, sums, func);
  const whole = app.functionSums().total[func] || 1;
  const items = list
    .slice(0, most)
    .map(({ func: other, total }) =>
      el(
        'li',
        {},
        bar(total / whole),
        el('span', { class: 'number' }, percent(total, whole)),
        other < 0 ? el('span', {}, '(root)') : functionButton(app, other),
      ),
    );
  if (list.length > most)
    items.push(el('li', { class: 'faint' }, `${list.length - most} more`));
  if (list.length === 0) items.push(el('li', { class: 'faint' }, 'none'));
  const section = el(
    'section',
    { class: 'neighbours' },
    el('h3', {}, title),
    el('ul', {}, ...items),
  );
  attribute(section, 'data-kind', kind);
  return section;
}
