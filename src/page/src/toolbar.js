// SPDX-License-Identifier: MIT
/** toolbar.js -- views, switches and the search. */
import { attribute, button, el } from './dom.js';
import { colouring } from './boxcolours.js';
import { moduleColour, rankModules, theme } from './colours.js';
import { chips, labelKeys } from './filters.js';
import { percent, time as timeText } from './format.js';
import { css } from './pixels.js';
import { compile } from './selection.js';

/**
 * @typedef {import('./app.js').App} App
 * @typedef {import('./app.js').State} State
 */

/** Which frames of Python and PHP are shown. @type {[string, string][]} */
const FRAMES = [
  ['usual', 'usual'],
  ['script', 'script alone'],
  ['native', 'all native'],
];

/** Entries of the legend of modules. */
const LEGEND = 8;

export class Toolbar {
  /**
   * @param {App} app
   * @param {Record<string, () => void>} actions
   */
  constructor(app, actions) {
    this.app = app;
    this.actions = actions;
    /** @type {[Element, () => boolean][]} */
    this.pressed = [];
    /** @type {[HTMLSelectElement, keyof State][]} */
    this.selects = [];
    this.chips = el('div', {
      class: 'chips',
      'aria-label': 'Filters that hold',
    });
    this.legend = el('div', { class: 'legend' });
    this.status = el('output', { class: 'search-status' });
    this.search = this.makeSearch();
    this.element = el(
      'nav',
      { class: 'toolbar', 'aria-label': 'Views and switches' },
      this.views(),
      this.values(),
      el('div', { class: 'search' }, this.search, this.status),
      this.menu(),
    );
    this.below = el(
      'div',
      { class: 'below' },
      this.switches(),
      this.legend,
      this.chips,
    );
  }

  /**
   * Buttons of which one is pressed.
   * @param {string} label
   * @param {keyof State} key
   * @param {[string, string, string][]} choices value, text, title
   */
  group(label, key, choices) {
    return el(
      'div',
      { class: 'group', role: 'group', 'aria-label': label },
      ...choices.map(([value, text, title]) => {
        const element = button(text, () => this.app.set({ [key]: value }), {
          title,
          'data-value': value,
        });
        this.pressed.push([element, () => this.app.state[key] === value]);
        return element;
      }),
    );
  }

  views() {
    /** @type {[string, string, string][]} */
    const views = [
      ['flame', 'Flame', 'Flame graph (1)'],
      ['table', 'Table', 'Functions, callers and callees (2)'],
      ['tree', 'Tree', 'Call tree (3)'],
      ['waits', 'Waits', 'What threads waited for (4)'],
    ];
    if (this.app.changes)
      views.push(['changes', 'Changes', 'New, gone, slower, faster (5)']);
    if (this.app.sources)
      views.push(['source', 'Source', 'Lines of the chosen function (6)']);
    return this.group('View', 'view', views);
  }

  values() {
    return this.group('Time', 'value', [
      ['cpu', 'CPU', 'Time on a CPU (v: next)'],
      ['wall', 'Wall', 'All time, waits included'],
      ['waiting', 'Waiting', 'Time in waits'],
      ['runnable', 'Runnable', 'Time in which a thread waited for a CPU'],
    ]);
  }

  /**
   * @param {string} label
   * @param {keyof State} key
   * @param {[string, string][]} choices
   */
  select(label, key, choices) {
    const element = el(
      'select',
      {
        'aria-label': label,
        onchange: () => this.app.set({ [key]: element.value }),
      },
      ...choices.map(([value, text]) => el('option', { value }, text)),
    );
    this.selects.push([element, key]);
    return el('label', { class: 'select' }, el('span', {}, label), element);
  }

  switches() {
    const { app } = this;
    /** @type {[string, string][]} */
    const groups = [
      ['none', 'nothing'],
      ['thread', 'thread'],
      ['process', 'process'],
      ['state', 'state'],
      ...labelKeys(app).map(
        (key) => /** @type {[string, string]} */ ([key, `label ${key}`]),
      ),
    ];
    return el(
      'div',
      { class: 'switches' },
      this.select('Colour', 'colour', [
        ['module', 'module'],
        ['state', 'state'],
        ['difference', 'difference'],
      ]),
      this.select('Group', 'group', groups),
      this.select('Order', 'order', [
        ['heavy', 'heaviest left'],
        ['name', 'by name'],
        ['time', 'by time'],
      ]),
      app.frameChoices.length > 1
        ? this.select('Frames', 'frames', FRAMES)
        : null,
      this.toggle('Callers', 'invert', 'From the leaf to its callers (b)'),
      this.toggle(
        'Fold',
        'fold',
        'Recursion, direct or not: a function stands once on a stack (r)',
      ),
      this.toggle('Flip', 'flip', 'The root stands at the bottom (i)'),
      app.whole.meta.idle
        ? this.toggle('Idle', 'idle', 'Idle threads are shown as all others')
        : null,
      this.compare(),
    );
  }

  /**
   * @param {string} text
   * @param {'invert' | 'fold' | 'flip' | 'idle'} key
   * @param {string} title
   */
  toggle(text, key, title) {
    const element = button(
      text,
      () => this.app.set({ [key]: !this.app.state[key], zoom: [] }),
      { title, class: 'toggle' },
    );
    this.pressed.push([element, () => this.app.state[key]]);
    return element;
  }

  compare() {
    this.compareGroup = this.group('Compare', 'compare', [
      ['share', 'Shares', 'The baseline is scaled to the same total'],
      [
        'absolute',
        'Absolute',
        'Time for each run, or for each second of a range',
      ],
    ]);
    return this.compareGroup;
  }

  makeSearch() {
    const search = el('input', {
      type: 'search',
      placeholder: 'Search (regex)',
      'aria-label': 'Search functions by regular expression',
      spellcheck: 'false',
      autocomplete: 'off',
    });
    let timer = 0;
    search.addEventListener('input', () => {
      clearTimeout(timer);
      timer = window.setTimeout(
        () => this.app.set({ search: search.value }),
        120,
      );
    });
    search.addEventListener('keydown', (event) => {
      if (event.key === 'Enter') {
        this.app.set({ search: search.value });
        this.app.flush();
        this.actions[event.shiftKey ? 'previous' : 'next']();
      } else if (event.key === 'Escape') {
        search.value = '';
        this.app.set({ search: '' });
        search.blur();
      } else return;
      event.stopPropagation();
    });
    return search;
  }

  menu() {
    const { actions } = this;
    const entries = /** @type {[string, string][]} */ ([
      ['copyView', 'Copy what is seen as text'],
      ['copyLink', 'Copy a link to this view'],
      ['saveSvg', 'Save the flame graph as SVG'],
      ['savePng', 'Save the flame graph as PNG'],
      ['print', 'Print'],
      ['theme', 'Light or dark'],
      ['help', 'Keys and help'],
    ]);
    const details = el(
      'details',
      { class: 'menu' },
      el('summary', { title: 'Export, theme, help' }, 'More'),
      el(
        'div',
        { class: 'menu-body' },
        ...entries.map(([name, text]) =>
          button(
            text,
            () => {
              details.open = false;
              actions[name]();
            },
            { 'data-action': name },
          ),
        ),
      ),
    );
    addEventListener('click', (event) => {
      if (!details.contains(/** @type {Node} */ (event.target)))
        details.open = false;
    });
    return el(
      'div',
      { class: 'ends' },
      button('Filters', actions.filters, {
        title: 'Threads, states, modules, labels (l)',
      }),
      details,
      button('?', actions.help, {
        title: 'Keys and help (?)',
        'aria-label': 'Keys and help',
      }),
    );
  }

  refresh() {
    const { app } = this;
    const { state } = app;
    for (const [element, isPressed] of this.pressed)
      attribute(element, 'aria-pressed', String(isPressed()));
    for (const [select, key] of this.selects) select.value = String(state[key]);
    for (const option of this.selects[0][0].options)
      option.disabled = option.value === 'difference' && !app.isDiff;
    for (const option of this.selects[2][0].options)
      option.disabled = option.value === 'time' && !app.time;
    for (const option of this.selects[3]?.[0].options ?? [])
      option.disabled = !app.frameChoices.some((f) => f === option.value);
    if (this.compareGroup) this.compareGroup.hidden = !app.isDiff;
    if (document.activeElement !== this.search)
      this.search.value = state.search;
    this.chips.replaceChildren(...chips(app));
    this.fillStatus();
    this.fillLegend();
  }

  fillStatus() {
    const { app } = this;
    const { search } = app.state;
    this.search.classList.remove('wrong');
    if (!search) {
      this.status.textContent = '';
    } else if (!compile(search)) {
      this.status.textContent = 'not a regular expression';
      this.search.classList.add('wrong');
    } else
      this.status.textContent = `${percent(app.matchedTotal, app.treeSums.total[0])} matched, ${timeText(app.matchedTotal)}`;
  }

  fillLegend() {
    const { app } = this;
    const by = colouring(app);
    const colours = theme();
    /** @type {[string, string][]} */
    let entries;
    if (by === 'difference')
      entries = [
        [css(colours.more), 'more'],
        [css(colours.same), 'the same'],
        [css(colours.less), 'less'],
      ];
    else if (by === 'state')
      entries = [
        [css(colours.running), 'running'],
        [css(colours.runnable), 'runnable'],
        [css(colours.waiting), 'waiting'],
      ];
    else
      entries = rankModules(app)
        .filter(Boolean)
        .slice(0, LEGEND)
        .map((name) => [
          moduleColour(rankModules(app).indexOf(name), colours),
          name,
        ]);
    const items = entries.map(([colour, text]) => {
      const swatch = el('i', { 'aria-hidden': 'true' });
      swatch.style.background = colour;
      return el('span', { class: 'entry' }, swatch, text);
    });
    if (by === 'difference')
      items.push(
        el(
          'span',
          { class: 'entry' },
          el('i', { class: 'hatched', 'aria-hidden': 'true' }),
          'may be noise',
        ),
      );
    this.legend.replaceChildren(...items);
  }
}
