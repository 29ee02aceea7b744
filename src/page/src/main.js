// SPDX-License-Identifier: MIT
/** main.js -- opens the page: the first screen, and then the time axis. */
import { App, initialState, usualValue } from './app.js';
import { pathOf } from './calltree.js';
import { ChangesView } from './changes.js';
import { makeActions } from './actions.js';
import { decodeHead, decodeTime, elementsOf } from './decode.js';
import { Side, Tip } from './details.js';
import { el } from './dom.js';
import { FilterPanel } from './filters.js';
import { Flame } from './flame.js';
import { makeHeader, readingHelp } from './header.js';
import { makeHelp } from './help.js';
import { keyTable, listenKeys } from './keys.js';
import { mergeModels } from './merge.js';
import { exactly } from './selection.js';
import { SourceView } from './source.js';
import { Table } from './tables.js';
import { Timeline } from './timeline.js';
import { Toolbar } from './toolbar.js';
import { TreeView } from './treeview.js';
import { fromFragment, toFragment } from './url.js';
import { Waits } from './waits.js';

/** A change that depends only on the pointer does not reach all views. */
const QUIET = ['zoom'];

/** The parts of the page. */
class Page {
  /** @param {App} app */
  constructor(app) {
    this.app = app;
    this.tip = new Tip(app);
    this.flame = new Flame(
      app,
      (box, event) => {
        this.tip.show(box ? box.node : null, event);
        app.point(box && box.node > 0 ? app.tree.func[box.node] : -1);
      },
      (box, event) => this.click(box, event),
    );
    this.views = {
      flame: this.flame,
      table: new Table(app),
      tree: new TreeView(app),
      waits: new Waits(app),
      changes: new ChangesView(app),
      source: new SourceView(app),
    };
    this.side = new Side(app);
    this.timeline = new Timeline(app);
    this.filters = new FilterPanel(app);
    this.actions = makeActions(this);
    const keys = keyTable(this.actions);
    this.help = makeHelp(keys, app.model.meta.summary ?? []);
    this.toolbar = new Toolbar(app, this.actions);
    this.place = el('main', { class: 'place', tabindex: -1 });
    listenKeys(keys);
    app.listen((changed) => this.refresh(changed));
    app.pointListeners.push((event) => {
      if (event || app.pointed < 0) this.tip.showFunction(app.pointed, event);
    });
    addEventListener('hashchange', () => this.readFragment());
    matchMedia('(prefers-color-scheme: dark)').addEventListener('change', () =>
      this.refresh(new Set(['theme'])),
    );
    addEventListener('beforeprint', () => this.forPaper('light', true));
    addEventListener('afterprint', () => this.forPaper(app.state.theme, false));
  }

  /**
   * Paper is white, and has room for all levels of the flame graph.
   * @param {string} theme
   * @param {boolean} isPaper
   */
  forPaper(theme, isPaper) {
    this.putTheme(theme);
    this.flame.showAll(isPaper);
    this.timeline.paint();
  }

  /** @param {string} theme */
  putTheme(theme) {
    if (theme) document.documentElement.dataset.theme = theme;
    else delete document.documentElement.dataset.theme;
  }

  show() {
    const { app } = this;
    document.title = `${app.model.meta.command || 'profile'} – profile`;
    document
      .getElementById('page')
      ?.replaceChildren(
        makeHeader(app),
        el('p', { class: 'reading' }, readingHelp(app)),
        this.toolbar.element,
        this.toolbar.below,
        el('div', { class: 'middle-row' }, this.place, this.side.element),
        this.timeline.element,
        this.tip.element,
        this.filters.element,
        this.help,
        el('div', { id: 'said', role: 'status', 'aria-live': 'polite' }),
      );
    this.refresh(new Set(['view', 'theme']));
  }

  /** The view that is seen. */
  get view() {
    const { view } = this.app.state;
    if (view === 'changes' && !this.app.changes) return this.flame;
    if (view === 'source' && !this.app.sources) return this.flame;
    return this.views[view] ?? this.flame;
  }

  /** @param {Set<string>} changed */
  refresh(changed) {
    const { app } = this;
    if (changed.has('theme')) this.putTheme(app.state.theme);
    const { view } = this;
    if (this.place.firstChild !== view.element)
      this.place.replaceChildren(view.element);
    if ([...changed].some((key) => !QUIET.includes(key))) {
      this.tip.show(null, null);
      this.toolbar.refresh();
      this.side.refresh();
      this.filters.refresh();
      this.timeline.refresh(changed);
    }
    view.refresh();
    this.writeFragment();
  }

  writeFragment() {
    const fragment = toFragment(this.app.state, beginning(this.app));
    this.fragment = fragment;
    history.replaceState(null, '', fragment ? `#${fragment}` : '#');
  }

  readFragment() {
    const fragment = location.hash.slice(1);
    if (fragment === this.fragment) return;
    this.flame.lastLayout = null;
    this.app.set(fromFragment(fragment, beginning(this.app)));
  }

  /**
   * @param {import('./flame.js').Box} box
   * @param {MouseEvent} event
   */
  click(box, event) {
    const { app } = this;
    const func = app.tree.func[box.node];
    if (
      (event.ctrlKey || event.altKey || event.metaKey) &&
      box.node > 0 &&
      func >= 0
    ) {
      app.set({
        ignore: [...app.state.ignore, exactly(app.functions.name[func])],
      });
      return;
    }
    this.flame.cursor = box;
    this.flame.zoomTo(box.node === 0 ? null : box);
    app.set({ chosen: box.node > 0 && func >= 0 ? app.keyOf(func) : '' });
  }

  /** The function that keys mean: chosen, or under the cursor. */
  get function() {
    const { app, flame } = this;
    const box = flame.hover ?? flame.cursor;
    if (box && app.state.view === 'flame' && box.node > 0)
      return app.tree.func[box.node];
    return app.functionOf(app.state.chosen);
  }

  /** The stack under the cursor, root first. */
  get stack() {
    const box = this.flame.hover ?? this.flame.cursor;
    if (!box) return null;
    return pathOf(this.app.tree, box.node).reverse();
  }
}

/**
 * The text of the element ID, unpacked JSON.
 * @param {string} id
 */
async function readJson(id) {
  const element = document.getElementById(id);
  if (!element) return null;
  const bytes = Uint8Array.from(atob((element.textContent ?? '').trim()), (c) =>
    c.charCodeAt(0),
  );
  const stream = new Blob([bytes])
    .stream()
    .pipeThrough(new DecompressionStream('deflate-raw'));
  return new Response(stream).json();
}

async function readModel() {
  /** @type {any} */
  const now = await decodeHead(elementsOf(document, 'sprof-head'));
  const old = elementsOf(document, 'sprof-head-old');
  return old.length > 0
    ? mergeModels(now, /** @type {any} */ (await decodeHead(old)))
    : now;
}

/** Wait until the browser has painted. */
function painted() {
  return new Promise((resolve) =>
    requestAnimationFrame(() => setTimeout(resolve, 0)),
  );
}

async function open() {
  const model = await readModel();
  const app = new App(model);
  performance.mark('sprof-head');
  app.changes = await readJson('sprof-diff');
  app.sources = await readJson('sprof-source');
  Object.assign(app.state, fromFragment(location.hash, beginning(app)));
  const page = new Page(app);
  page.show();
  await painted();
  performance.mark('sprof-first-screen');
  Object.assign(window, { sprof: { app, page } });
  const elements = elementsOf(document, 'sprof-time');
  if (elements.length > 0) {
    app.setTime(/** @type {any} */ (await decodeTime(model, elements)));
    app.flush();
    performance.mark('sprof-time');
    for (const element of elements)
      /** @type {Element} */ (element).remove();
  }
  document.documentElement.dataset.ready = '1';
}

/**
 * The state with which a page of this kind begins.
 * @param {App} app
 * @returns {import('./app.js').State}
 */
function beginning(app) {
  const { meta, rows } = app.whole;
  const state = { ...initialState(), frames: meta.frames };
  if (!rows.side) return { ...state, value: usualValue(meta) };
  const isAbsolute = app.changes?.absolute === true;
  return {
    ...state,
    colour: 'difference',
    compare: isAbsolute ? 'absolute' : 'share',
  };
}

open().catch((error) => {
  const message = error instanceof Error ? error.message : String(error);
  const note = el(
    'p',
    { class: 'failed', role: 'alert' },
    `The profile in this page cannot be read: ${message}`,
  );
  document.getElementById('page')?.replaceChildren(note);
  document.documentElement.dataset.ready = 'failed';
});
