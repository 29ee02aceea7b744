// SPDX-License-Identifier: MIT
/**
 * details.js -- the side of the page: the hottest functions, or all about the
 * one that is chosen; and what is said of the box under the pointer.
 */
import { nodeName, pathOf } from './calltree.js';
import { points, shareText } from './confidence.js';
import { bar, button, copy, el } from './dom.js';
import {
  chance,
  count as number,
  percent,
  signedTime,
  time as timeText,
} from './format.js';
import { callersOf, largest } from './functions.js';
import { place, string, threadTitle } from './model.js';
import { exactly } from './selection.js';
import { functionButton, neighbours } from './tables.js';
import { collectWaits, holderButton, rowsWith, waitName } from './waits.js';

/** @typedef {import('./app.js').App} App */

const HOTTEST = 14;
/** As many where waits stand below them. */
const HOTTEST_ABOVE_WAITS = 10;
/** Lines of own files above the hottest functions. */
const OWN_LINES = 5;
/** Changes on the side of a page of two profiles. */
const CHANGED = 6;
/** Callers that are shown at the pointer. */
const CALLERS = 4;
/** The largest waits below the hottest functions. */
const WAITS = 3;

/**
 * The functions that call FUNC, the most time first, with their shares of it.
 * @param {App} app
 * @param {number} func
 */
function callersText(app, func) {
  const sums = app.plainSums();
  return app.keep('callersText', [func, sums], () => {
    const { tree, top } = app.plainTree;
    const list = callersOf(tree, top, sums, func);
    const whole = app.functionSums().total[func];
    const texts = list
      .slice(0, CALLERS)
      .map(({ func: caller, total }) =>
        caller < 0
          ? `(root) ${percent(total, whole)}`
          : `${app.functions.name[caller]} ${percent(total, whole)}`,
      );
    if (list.length > CALLERS) texts.push(`${list.length - CALLERS} more`);
    return texts.join(', ');
  });
}

/**
 * What is known of NODE, a line each.
 * @param {App} app
 * @param {number} node
 * @returns {[string, string][]}
 */
export function describe(app, node) {
  const { tree, functions, treeSums, model } = app;
  const func = tree.func[node];
  const sum = app.nodeShare(node);
  const whole = app.nodeShare(0);
  /** @type {[string, string][]} */
  const lines = [];
  if (node > 0 && func >= 0) {
    if (functions.module[func]) lines.push(['module', functions.module[func]]);
    const where = place(model, tree.sample[node]);
    if (where) lines.push(['at', where]);
  }
  const { state } = app;
  lines.push([
    'total',
    `${timeText(sum.value)}, ${shareText(sum, whole)} of view, ${percent(sum.value, app.wholeTotal)} of all`,
  ]);
  const self = treeSums.self[node];
  lines.push(['self', `${timeText(self)}, ${percent(self, whole.value)}`]);
  const callers = node > 0 && func >= 0 ? callersText(app, func) : '';
  if (callers) lines.push(['callers', callers]);
  if (sum.squares > 0) lines.push(['points', number(points(sum))]);
  if (app.isDiff && app.treeBase) {
    const before = app.baseSum(node).value * app.baseScale;
    lines.push([
      'before',
      `${timeText(before)}${state.compare === 'share' ? ' (scaled)' : ''}, change ${signedTime(sum.value - before)}`,
    ]);
    if (node > 0) lines.push(['noise', `chance ${chance(app.noise(node))}`]);
  }
  return lines;
}

export class Tip {
  /** @param {App} app */
  constructor(app) {
    this.app = app;
    this.element = el('div', { class: 'tip', role: 'status', hidden: true });
  }

  /**
   * @param {number | null} node
   * @param {{clientX: number, clientY: number} | null} at null: in the corner
   */
  show(node, at) {
    if (node === null) {
      this.element.hidden = true;
      return;
    }
    const { app } = this;
    this.fill(nodeName(app.tree, app.functions, node), describe(app, node), at);
  }

  /**
   * @param {number} func -1: nothing
   * @param {{clientX: number, clientY: number} | null} at
   */
  showFunction(func, at) {
    if (func < 0) return this.show(null, null);
    const { app } = this;
    const { self, total } = app.functionSums();
    const whole = app.treeSums.total[0];
    const figure = (/** @type {number} */ ns) =>
      `${timeText(ns)}, ${percent(ns, whole)}`;
    /** @type {[string, string][]} */
    const lines = [
      ['module', app.functions.module[func]],
      ['total', figure(total[func])],
      ['self', figure(self[func])],
      ['callers', callersText(app, func)],
    ];
    this.fill(
      app.functions.name[func],
      lines.filter(([, text]) => text),
      at,
    );
  }

  /**
   * @param {string} name
   * @param {[string, string][]} lines
   * @param {{clientX: number, clientY: number} | null} at
   */
  fill(name, lines, at) {
    this.element.replaceChildren(
      el('strong', {}, name),
      el(
        'dl',
        {},
        ...lines.flatMap(([key, text]) => [
          el('dt', {}, key),
          el('dd', {}, text),
        ]),
      ),
    );
    this.element.hidden = false;
    const { offsetWidth: width, offsetHeight: height } = this.element;
    const x = at ? at.clientX + 14 : innerWidth - width - 12;
    const y = at ? at.clientY + 18 : innerHeight - height - 12;
    this.element.style.left = `${Math.max(4, Math.min(x, innerWidth - width - 6))}px`;
    this.element.style.top = `${y + height > innerHeight ? Math.max(4, (at?.clientY ?? y) - height - 10) : y}px`;
  }
}

export class Side {
  /** @param {App} app */
  constructor(app) {
    this.app = app;
    this.element = el('aside', { class: 'side', 'aria-label': 'Functions' });
  }

  refresh() {
    const func = this.app.functionOf(this.app.state.chosen);
    this.element.replaceChildren(
      ...(func >= 0
        ? this.about(func)
        : [...this.changed(), ...this.hottest(), this.largestWaits()]),
    );
  }

  /**
   * On a page of two profiles: what changed most, apart from noise. Where no
   * time of its own did, totals did.
   */
  changed() {
    const { changes } = this.app;
    if (!changes) return [];
    const factor = changes.factor ?? 1;
    const isChange = (/** @type {string | undefined} */ verdict) =>
      verdict && verdict !== 'noise' && verdict !== 'same';
    const isOwn = changes.rows.some(({ verdict }) => isChange(verdict));
    const size = (/** @type {import('./changes.js').Change} */ row) =>
      isOwn
        ? row.newSelf * factor - row.oldSelf
        : row.newTotal * factor - row.oldTotal;
    const list = changes.rows
      .filter((row) => isChange(isOwn ? row.verdict : row.verdictTotal))
      .toSorted((a, b) => Math.abs(size(b)) - Math.abs(size(a)));
    return [
      el(
        'h2',
        {},
        'Changed most',
        el('small', {}, isOwn ? ' by own time' : ' by total time'),
      ),
      list.length === 0
        ? el('p', { class: 'empty' }, 'No change is more than noise.')
        : el(
            'ol',
            { class: 'hottest changed' },
            ...list
              .slice(0, CHANGED)
              .map((row) =>
                el(
                  'li',
                  { title: row.verdict },
                  el(
                    'span',
                    { class: `number ${size(row) > 0 ? 'more' : 'less'}` },
                    signedTime(size(row)),
                  ),
                  this.link(row),
                ),
              ),
          ),
    ];
  }

  /** @param {import('./changes.js').Change} row */
  link({ name, module }) {
    const func = this.app.comparableOf(name, module);
    return func < 0 ? el('span', {}, name) : functionButton(this.app, func);
  }

  /** The functions with the most time of their own. */
  hottest() {
    const { app } = this;
    const above = this.ownLines();
    const room = this.hasWaits ? HOTTEST_ABOVE_WAITS : HOTTEST;
    const most = above.length > 0 ? room - OWN_LINES : room;
    const whole = app.treeSums.total[0];
    const { self, total } = app.functionSums();
    const count = self.reduce((sum, value) => sum + Number(value > 0), 0);
    const list = largest(app.idleLast(self), total, Math.min(count, most));
    const unit = {
      cpu: 'CPU time',
      wall: 'wall time',
      waiting: 'waiting',
      runnable: 'waiting for a CPU',
    }[app.state.value];
    return [
      ...above,
      el('h2', {}, 'Hottest functions', el('small', {}, ` by own ${unit}`)),
      list.length === 0
        ? el('p', { class: 'empty' }, this.nothing())
        : el(
            'ol',
            { class: 'hottest' },
            ...list.map((func) =>
              el(
                'li',
                {},
                bar(self[func] / whole),
                el('span', { class: 'number' }, percent(self[func], whole)),
                functionButton(app, func),
              ),
            ),
          ),
      count > most
        ? button(
            `All ${number(count)} in the table`,
            () => app.set({ view: 'table' }),
            { class: 'more' },
          )
        : '',
    ];
  }

  /** The lines of the program's own files of Python or PHP with the most time. */
  ownLines() {
    const { app } = this;
    const whole = app.treeSums.total[0];
    const { frames, funcs } = app.model;
    const lines = app.ownLines().slice(0, OWN_LINES);
    if (lines.length === 0) return [];
    return [
      el('h2', {}, 'Own lines', el('small', {}, ' with what they call')),
      el(
        'ol',
        { class: 'hottest own' },
        ...lines.map(({ frame, time }) => {
          const func = frames.func[frame];
          const file = string(app.model, funcs.file[func]).split('/').at(-1);
          return el(
            'li',
            {},
            bar(time / whole),
            el('span', { class: 'number' }, percent(time, whole)),
            functionButton(
              app,
              app.functions.of[func],
              `${file}:${frames.line[frame]} `,
            ),
          );
        }),
      ),
    ];
  }

  nothing() {
    const { value } = this.app.state;
    if (this.app.model.rows.n === 0) return 'The profile has no samples.';
    return `No ${value === 'cpu' ? 'CPU time' : value} in this selection.`;
  }

  /** @param {number} func */
  about(func) {
    const { app } = this;
    const { functions, model } = app;
    const whole = app.treeSums.total[0] || 1;
    const sums = app.functionSums();
    const of = (/** @type {import('./model.js').Value} */ value) =>
      app.functionSums(value).total[func];
    const { tree } = app.plainTree;
    const where = place(model, tree.sample[tree.func.indexOf(func, 1)] ?? 0);
    return [
      el('h2', { class: 'function' }, functions.name[func]),
      el(
        'p',
        { class: 'faint place' },
        [functions.module[func], where].filter(Boolean).join(' · '),
      ),
      el(
        'dl',
        { class: 'figures' },
        ...[
          [
            'self',
            `${timeText(sums.self[func])}, ${percent(sums.self[func], whole)}`,
          ],
          [
            'total',
            `${timeText(sums.total[func])}, ${percent(sums.total[func], whole)}`,
          ],
          ['CPU', timeText(of('cpu'))],
          [
            'wall',
            `${timeText(of('wall'))}, waiting ${timeText(of('waiting'))}`,
          ],
        ].flatMap(([key, text]) => [el('dt', {}, key), el('dd', {}, text)]),
      ),
      this.actions(func),
      this.threads(func),
      this.waits(func),
      ...(app.state.view === 'table'
        ? []
        : [
            neighbours(app, 'Callers', 'callers', func, 8),
            neighbours(app, 'Callees', 'callees', func, 8),
          ]),
    ];
  }

  /** @param {number} func */
  actions(func) {
    const { app } = this;
    const name = exactly(app.functions.name[func]);
    const hasSource = Boolean(app.sources);
    return el(
      'div',
      { class: 'actions' },
      button('Back', () => app.set({ chosen: '' }), {
        title: 'To the hottest functions (Escape)',
      }),
      button('Focus', () => app.set({ focus: [...app.state.focus, name] }), {
        title: 'Only stacks with it (f)',
      }),
      button('Hide', () => app.set({ ignore: [...app.state.ignore, name] }), {
        title: 'No stack with it (h)',
      }),
      button('Copy stack', () => copy(stackText(app, func)), {
        title: 'Its heaviest stack (c)',
      }),
      hasSource ? button('Source', () => app.set({ view: 'source' })) : null,
    );
  }

  /** @param {number} func */
  threads(func) {
    const { app } = this;
    const values = app.values();
    const inside = rowsWith(app, func);
    /** @type {Map<number, number>} */
    const sums = new Map();
    let whole = 0;
    for (let row = 0; row < values.length; row++) {
      if (!inside[row] || values[row] === 0) continue;
      const thread = app.model.rows.thread[row];
      sums.set(thread, (sums.get(thread) ?? 0) + values[row]);
      whole += values[row];
    }
    const list = [...sums].sort((a, b) => b[1] - a[1]);
    if (list.length === 0 || app.model.threads.length < 2) return '';
    return el(
      'section',
      { class: 'neighbours' },
      el('h3', {}, 'Threads'),
      el(
        'ul',
        {},
        ...list.slice(0, 5).map(([thread, sum]) =>
          el(
            'li',
            {},
            bar(sum / whole),
            el('span', { class: 'number' }, percent(sum, whole)),
            button(
              threadTitle(app.model, thread),
              () =>
                app.set({
                  filters: [
                    ...app.state.filters,
                    {
                      key: 'thread',
                      value: String(app.model.threads[thread].tid),
                    },
                  ],
                }),
              { class: 'name', title: 'Only this thread' },
            ),
          ),
        ),
        list.length > 5
          ? el('li', { class: 'faint' }, `${list.length - 5} more`)
          : '',
      ),
    );
  }

  /** @param {number} func */
  waits(func) {
    const waits = collectWaits(this.app, func);
    if (waits.length === 0) return '';
    return el(
      'section',
      { class: 'neighbours' },
      el('h3', {}, 'Waited for'),
      this.waitList(waits, 5),
    );
  }

  /** Whether the largest waits are shown: if any exist, and not beside all. */
  get hasWaits() {
    const { app } = this;
    return app.state.view !== 'waits' && collectWaits(app).length > 0;
  }

  /** What was waited for most, whatever is counted. */
  largestWaits() {
    const { app } = this;
    if (!this.hasWaits) return '';
    return el(
      'section',
      { class: 'neighbours largest-waits' },
      el('h2', {}, 'Largest waits', el('small', {}, ' by wall time')),
      this.waitList(collectWaits(app), WAITS),
      button('All waits', () => app.set({ view: 'waits' }), { class: 'more' }),
    );
  }

  /**
   * @param {import('./waits.js').Wait[]} waits
   * @param {number} most
   */
  waitList(waits, most) {
    const { app } = this;
    const whole = waits.reduce((sum, { wall }) => sum + wall, 0);
    return el(
      'ul',
      {},
      ...waits
        .slice(0, most)
        .map((wait) =>
          el(
            'li',
            {},
            bar(wait.wall / whole, 'waiting'),
            el('span', { class: 'number' }, timeText(wait.wall)),
            el('span', { title: waitName(app, wait) }, waitName(app, wait)),
            holderButton(app, wait.wait, null),
          ),
        ),
    );
  }
}

/**
 * The heaviest stack of FUNC, from the root, a function on each line.
 * @param {App} app
 * @param {number} func
 */
export function stackText(app, func) {
  const { tree } = app.plainTree;
  const { total } = app.plainSums();
  let best = -1;
  for (let node = 1; node < tree.n; node++)
    if (tree.func[node] === func && (best < 0 || total[node] > total[best]))
      best = node;
  if (best < 0) return app.functions.name[func];
  return pathOf(tree, best)
    .reverse()
    .map((node) => lineOf(app, tree, node))
    .join('\n');
}

/**
 * @param {App} app
 * @param {import('./calltree.js').Tree} tree
 * @param {number} node
 */
export function lineOf(app, tree, node) {
  const where = place(app.model, tree.sample[node]);
  const name = nodeName(tree, app.functions, node);
  const func = tree.func[node];
  const module = func >= 0 ? app.functions.module[func] : '';
  return [name, module && `(${module})`, where].filter(Boolean).join(' ');
}
