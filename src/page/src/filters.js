// SPDX-License-Identifier: MIT
/** filters.js -- the filters that hold, and the panel that adds some. */
import { bar, button, el } from './dom.js';
import { percent, seconds } from './format.js';
import { base, processName, string, threadTitle } from './model.js';
import { NO_MODULE } from './selection.js';

/**
 * @typedef {import('./app.js').App} App
 * @typedef {import('./selection.js').Filter} Filter
 * @typedef {{key: string, value: string, title: string, sum: number}} Choice
 */

/** Choices of one kind that are listed. */
const MOST_CHOICES = 100;

/** @param {App} app */
export function chips(app) {
  const { state } = app;
  const list = [
    ...state.filters.map((filter) =>
      chip(`${filter.key} ${nameOf(app, filter)}`, () =>
        app.set({ filters: state.filters.filter((other) => other !== filter) }),
      ),
    ),
    ...expressions(app, 'focus', 'only stacks with'),
    ...expressions(app, 'ignore', 'without'),
  ];
  if (state.range)
    list.push(
      chip(`time ${seconds(state.range[0])}–${seconds(state.range[1])} s`, () =>
        app.set({ range: null }),
      ),
    );
  if (state.base)
    list.push(
      chip(
        `against ${seconds(state.base[0])}–${seconds(state.base[1])} s`,
        () =>
          app.set({
            base: null,
            colour: state.colour === 'difference' ? 'module' : state.colour,
          }),
        'base',
      ),
    );
  if (list.length > 1)
    list.push(
      button(
        'Clear all',
        () =>
          app.set({
            filters: [],
            focus: [],
            ignore: [],
            range: null,
            base: null,
          }),
        { class: 'clear' },
      ),
    );
  return list;
}

/**
 * @param {App} app
 * @param {'focus' | 'ignore'} kind
 * @param {string} title
 */
function expressions(app, kind, title) {
  return app.state[kind].map((expression, i) =>
    chip(
      `${title} ${expression.replace(/^\^(.*)\$$/, '$1').replace(/\\(.)/g, '$1')}`,
      () => app.set({ [kind]: app.state[kind].filter((_, j) => j !== i) }),
    ),
  );
}

/**
 * @param {string} text
 * @param {() => void} remove
 * @param {string} [kind]
 */
function chip(text, remove, kind = '') {
  return el(
    'span',
    { class: `chip ${kind}` },
    el('span', { title: text }, text),
    button('×', remove, { 'aria-label': `Remove: ${text}` }),
  );
}

/**
 * @param {App} app
 * @param {Filter} filter
 */
function nameOf(app, { key, value }) {
  if (key !== 'thread') return value;
  const thread = app.model.threads.findIndex(
    ({ tid }) => String(tid) === value,
  );
  return thread < 0 ? value : threadTitle(app.model, thread);
}

/**
 * What can be chosen, by kind, with what it has in the selection.
 * @param {App} app
 * @returns {Map<string, Choice[]>}
 */
export function collectChoices(app) {
  const { model } = app;
  const { rows } = model;
  const values = app.values();
  /** @type {Map<string, Map<string, Choice>>} */
  const kinds = new Map();
  const add = (
    /** @type {string} */ key,
    /** @type {string} */ value,
    /** @type {string} */ title,
    /** @type {number} */ sum,
  ) => {
    let choices = kinds.get(key);
    if (!choices) kinds.set(key, (choices = new Map()));
    const choice = choices.get(value);
    if (choice) choice.sum += sum;
    else choices.set(value, { key, value, title, sum });
  };
  const modules = leafModules(app);
  const perThread = new Float64Array(model.threads.length);
  for (let row = 0; row < rows.n; row++) {
    const sum = values[row];
    perThread[rows.thread[row]] += sum;
    const state = model.states[rows.state[row]];
    add('state', string(model, state.name), string(model, state.name), sum);
    if (state.kind === 'waiting')
      add('state', 'waiting', 'waiting (all waits)', sum);
    const module = modules[rows.node[row]];
    if (module) add('module', module, module, sum);
    for (const [key, value] of model.labels[rows.label[row]] ?? []) {
      const text = string(model, value);
      add(string(model, key), text, text, sum);
    }
  }
  model.threads.forEach((thread, i) => {
    add('thread', String(thread.tid), threadTitle(model, i), perThread[i]);
    const { pid } = model.processes[thread.process];
    add(
      'process',
      String(pid),
      processName(model, thread.process),
      perThread[i],
    );
  });
  return new Map(
    [...kinds].map(([key, choices]) => [
      key,
      [...choices.values()].sort((a, b) => b.sum - a.sum),
    ]),
  );
}

/** The module of each node, "" for markers without one. @param {App} app */
function leafModules(app) {
  const { model } = app;
  return app.keep('leafModules', [], () => {
    const names = model.modules.map(
      ({ name }) => base(string(model, name)) || NO_MODULE,
    );
    return Array.from(model.nodes.frame, (frame, node) => {
      const func = model.frames.func[frame];
      const module = model.funcs.module[func];
      if (node === 0 || (model.funcs.kind[func] === 4 && !module)) return '';
      return names[module] ?? '';
    });
  });
}

/** The keys of labels that the program gave. @param {App} app */
export function labelKeys(app) {
  const keys = new Set(
    app.model.labels.flatMap((set) =>
      set.map(([key]) => string(app.model, key)),
    ),
  );
  return [...keys];
}

export class FilterPanel {
  /** @param {App} app */
  constructor(app) {
    this.app = app;
    this.body = el('div', { class: 'choices' });
    this.element = el(
      'dialog',
      { class: 'panel', 'aria-label': 'Filters' },
      this.body,
      button('Close', () => this.element.close(), { class: 'close' }),
    );
    this.element.addEventListener('click', (event) => {
      if (event.target === this.element) this.element.close();
    });
  }

  open() {
    this.fill();
    this.element.showModal();
  }

  refresh() {
    if (this.element.open) this.fill();
  }

  fill() {
    const whole = this.app.treeSums.total[0] || 1;
    const kinds = collectChoices(this.app);
    const order = ['thread', 'process', 'state', 'module'];
    const keys = [
      ...order.filter((key) => kinds.has(key)),
      ...[...kinds.keys()].filter((key) => !order.includes(key)),
    ];
    this.body.replaceChildren(
      ...keys
        .map(
          (key) =>
            /** @type {[string, Choice[]]} */ ([key, kinds.get(key) ?? []]),
        )
        .filter(
          ([key, list]) =>
            list.length > 1 || !['process', 'thread'].includes(key),
        )
        .map(([key, list]) => this.section(key, list, whole)),
    );
  }

  /**
   * @param {string} key
   * @param {Choice[]} list
   * @param {number} whole
   */
  section(key, list, whole) {
    const isLabel = !['thread', 'process', 'state', 'module'].includes(key);
    return el(
      'fieldset',
      {},
      el('legend', {}, isLabel ? `label ${key}` : key),
      ...list
        .slice(0, MOST_CHOICES)
        .map((choice) => this.choice(choice, whole)),
      list.length > MOST_CHOICES
        ? el(
            'p',
            { class: 'faint' },
            `${list.length - MOST_CHOICES} more with less time`,
          )
        : null,
    );
  }

  /**
   * @param {Choice} choice
   * @param {number} whole
   */
  choice({ key, value, title, sum }, whole) {
    const { app } = this;
    const has = app.state.filters.some(
      (f) => f.key === key && f.value === value,
    );
    const box = el('input', {
      type: 'checkbox',
      onchange: () =>
        app.set({
          filters: has
            ? app.state.filters.filter(
                (f) => f.key !== key || f.value !== value,
              )
            : [...app.state.filters, { key, value }],
        }),
    });
    box.checked = has;
    return el(
      'label',
      {},
      box,
      el('span', { class: 'choice-name', title }, title),
      el('span', { class: 'number' }, percent(sum, whole)),
      bar(sum / whole),
    );
  }
}
