// SPDX-License-Identifier: MIT
/** actions.js -- what keys and menus do. */
import { nodeName } from './calltree.js';
import { lineOf, stackText } from './details.js';
import { copy, say } from './dom.js';
import { savePng, saveSvg, viewText } from './export.js';
import { labelKeys } from './filters.js';
import { threadTitle, VALUES } from './model.js';
import { exactly } from './selection.js';

/**
 * @typedef {import('./app.js').App} App
 * @typedef {import('./app.js').State} State
 * @typedef {any} Page the parts of the page (main.js)
 */

/**
 * The one of LIST after NOW.
 * @template T
 * @param {T[]} list
 * @param {T} now
 */
function after(list, now) {
  return list[(list.indexOf(now) + 1) % list.length];
}

/**
 * @param {Page} page
 * @returns {Record<string, () => void>}
 */
export function makeActions(page) {
  const { app } = page;
  const view = (/** @type {State['view']} */ name) => () =>
    app.set({ view: name });
  return {
    flame: view('flame'),
    table: view('table'),
    tree: view('tree'),
    waits: view('waits'),
    changes: view('changes'),
    source: view('source'),
    ...switches(page),
    ...moves(page),
    ...searches(page),
    ...exports_(page),
    filters: () => page.filters.open(),
    help: () => page.help.showModal(),
    escape: () => escape(page),
  };
}

/** @param {Page} page @returns {Record<string, () => void>} */
function switches(page) {
  const app = /** @type {App} */ (page.app);
  const { state } = app;
  return {
    value: () => app.set({ value: after(VALUES, state.value) }),
    colour: () => {
      /** @type {State['colour'][]} */
      const list = ['module', 'state'];
      if (app.isDiff) list.push('difference');
      app.set({ colour: after(list, state.colour) });
    },
    group: () =>
      app.set({
        group: after(
          ['none', 'thread', 'process', 'state', ...labelKeys(app)],
          state.group,
        ),
        zoom: [],
      }),
    order: () => {
      /** @type {State['order'][]} */
      const list = ['heavy', 'name'];
      if (app.time) list.push('time');
      app.set({ order: after(list, state.order), zoom: [] });
    },
    frames: () => {
      if (app.frameChoices.length > 1)
        app.set({ frames: after(app.frameChoices, state.frames), zoom: [] });
      else say('There is no other choice of frames.');
    },
    flip: () => app.set({ flip: !state.flip }),
    invert: () => app.set({ invert: !state.invert, zoom: [] }),
    fold: () => app.set({ fold: !state.fold, zoom: [] }),
    heat: () => app.set({ strip: state.strip === 'lanes' ? 'heat' : 'lanes' }),
    baseline: () => {
      if (state.range)
        app.set({ base: state.range, range: null, colour: 'difference' });
      else say('Select a range of time first.');
    },
    zoomTime: () => {
      const [from, to] = page.timeline.view;
      const isAll = from === 0 && to >= app.model.meta.wallNs;
      page.timeline.look(isAll ? state.range : null);
    },
    theme: () => {
      const isDark = matchMedia('(prefers-color-scheme: dark)').matches;
      /** @type {State['theme']} */
      const other = isDark ? 'light' : 'dark';
      app.set({ theme: state.theme === other ? '' : other });
    },
  };
}

/** @param {Page} page @returns {Record<string, () => void>} */
function moves(page) {
  const { app, flame } = page;
  const name = () => {
    const func = page.function;
    if (func < 0) say('Choose a function first.');
    return func < 0 ? null : exactly(app.functions.name[func]);
  };
  return {
    reset: () => {
      app.set({ ignore: [] });
      flame.zoomTo(null);
    },
    zoomIn: () => flame.nudge(0, 1 / 1.6),
    zoomOut: () => flame.nudge(0, 1.6),
    left: () => flame.nudge(-0.25, 1),
    right: () => flame.nudge(0.25, 1),
    up: () => up(page),
    focus: () => {
      const text = name();
      if (text) app.set({ focus: [...app.state.focus, text] });
    },
    hide: () => {
      const text = name();
      if (text) app.set({ ignore: [...app.state.ignore, text] });
    },
  };
}

/** Zoom to the caller of the zoomed box. @param {Page} page */
function up({ app, flame }) {
  const { zoom } = app.state;
  if (zoom.length === 0) return;
  app.state.zoom = zoom.slice(0, -1);
  flame.zoomTo(flame.findZoomed());
}

/** @param {Page} page @returns {Record<string, () => void>} */
function searches(page) {
  return {
    search: () => {
      page.toolbar.search.focus();
      page.toolbar.search.select();
    },
    next: () => step(page, 1),
    previous: () => step(page, -1),
  };
}

/**
 * To the next match; without a search to the next thread.
 * @param {Page} page
 * @param {number} by
 */
function step(page, by) {
  const app = /** @type {App} */ (page.app);
  if (!app.matches) nextThread(app, by);
  else if (app.state.view === 'flame') nextMatch(page, by);
  else nextRow(page, by);
}

/**
 * @param {App} app
 * @param {number} by
 */
function nextThread(app, by) {
  const sums = new Float64Array(app.model.threads.length);
  const { thread, wall, cpu, side } = app.model.rows;
  for (let row = 0; row < thread.length; row++)
    if (!side?.[row]) sums[thread[row]] += cpu[row] + wall[row] / 1e6;
  const list = [...sums.keys()]
    .filter((i) => sums[i] > 0)
    .sort((a, b) => sums[b] - sums[a] || a - b);
  if (list.length === 0) return;
  const now = app.state.filters.find(({ key }) => key === 'thread');
  const at = now
    ? list.findIndex((i) => String(app.model.threads[i].tid) === now.value)
    : -1;
  const next =
    list[(at + by + list.length + (at < 0 && by < 0 ? 1 : 0)) % list.length];
  app.set({
    filters: [
      ...app.state.filters.filter(({ key }) => key !== 'thread'),
      { key: 'thread', value: String(app.model.threads[next].tid) },
    ],
  });
  say(threadTitle(app.model, next));
}

/**
 * The boxes that match, from the left and from the root.
 * @param {Page} page
 * @param {number} by
 */
function nextMatch(page, by) {
  const { flame } = page;
  const app = /** @type {App} */ (page.app);
  const { layout, tree, matches } = app;
  /** @type {import('./flame.js').Box[]} */
  const boxes = [];
  layout.levels.forEach(({ node }, level) => {
    for (let index = 0; index < node.length; index++)
      if (node[index] > 0 && matches?.[tree.func[node[index]]])
        boxes.push({ level, index, node: node[index] });
  });
  if (boxes.length === 0) return say('No box matches.');
  const at = boxes.findIndex(
    (box) =>
      box.level === flame.cursor?.level && box.index === flame.cursor?.index,
  );
  const next =
    boxes[(at + by + boxes.length + (at < 0 && by < 0 ? 1 : 0)) % boxes.length];
  flame.cursor = next;
  const level = layout.levels[next.level];
  const [from, to] = [level.from[next.index], level.to[next.index]];
  const size = flame.to - flame.from;
  if (to - from < size / 200 || from < flame.from || to > flame.to) {
    const wide = Math.min(
      layout.width,
      Math.max((to - from) * 4, layout.width / 1e6),
    );
    flame.moveTo((from + to - wide) / 2, (from + to + wide) / 2);
  }
  flame.show(next.level);
  flame.draw();
  say(
    `${nodeName(tree, app.functions, next.node)}, ${boxes.indexOf(next) + 1} of ${boxes.length}`,
  );
}

/**
 * @param {Page} page
 * @param {number} by
 */
function nextRow(page, by) {
  const names = /** @type {HTMLElement[]} */ ([
    ...page.place.querySelectorAll('tbody .name'),
  ]);
  if (names.length === 0) return;
  const at = names.indexOf(/** @type {HTMLElement} */ (document.activeElement));
  names[(at + by + names.length) % names.length].focus();
}

/** @param {Page} page @returns {Record<string, () => void>} */
function exports_(page) {
  const { app, flame } = page;
  return {
    copyStack: () => {
      const { stack } = page;
      const func = app.functionOf(app.state.chosen);
      if (stack && stack.length > 0)
        void copy(
          stack
            .map((/** @type {number} */ node) => lineOf(app, app.tree, node))
            .join('\n'),
        );
      else if (func >= 0) void copy(stackText(app, func));
      else say('Point at a box, or choose a function first.');
    },
    copyView: () => void copy(viewText(app)),
    copyLink: () => void copy(location.href),
    saveSvg: () => saveSvg(app, flame),
    savePng: () => void savePng(app, flame),
    print: () => window.print(),
  };
}

/** Undo the last kind of choice that holds. @param {Page} page */
function escape(page) {
  const app = /** @type {App} */ (page.app);
  const { state } = app;
  if (state.search) app.set({ search: '' });
  else if (state.chosen) app.set({ chosen: '' });
  else if (state.zoom.length > 0) page.flame.zoomTo(null);
  else if (state.base) app.set({ base: null, colour: 'module' });
  else if (state.range) app.set({ range: null });
  else if (state.filters.length + state.focus.length + state.ignore.length > 0)
    app.set({ filters: [], focus: [], ignore: [] });
}
