// SPDX-License-Identifier: MIT
/** treeview.js -- the call tree as a table whose rows open. */
import { nodeName } from './calltree.js';
import { bar, button, el, say } from './dom.js';
import { dim, shareText } from './confidence.js';
import { seconds, signedTime } from './format.js';
import { childrenOf } from './functions.js';

/** @typedef {import('./app.js').App} App */

/** Rows that are shown at most; and the share below which none opens alone. */
const MOST_ROWS = 3000;
const LEAST_SHARE = 0.03;

export class TreeView {
  /** @param {App} app */
  constructor(app) {
    this.app = app;
    /** @type {Set<number>} */
    this.open = new Set();
    /** @type {object | null} */
    this.openOf = null;
    this.body = el('tbody', {});
    this.cut = el('p', { class: 'empty', hidden: true });
    this.element = el(
      'div',
      { class: 'tree-view' },
      el(
        'div',
        { class: 'tree-controls' },
        button('Open all', () => this.openAll(true)),
        button('Close all', () => this.openAll(false)),
      ),
      el(
        'table',
        { role: 'treegrid', class: 'tree', 'aria-label': 'Call tree' },
        el(
          'thead',
          {},
          el(
            'tr',
            {},
            el('th', { class: 'number' }, 'Total'),
            el('th', { class: 'number' }, 'Self'),
            el('th', { class: 'text' }, 'Function'),
          ),
        ),
        this.body,
      ),
      this.cut,
    );
    this.body.addEventListener('keydown', (event) => this.key(event));
  }

  refresh() {
    const { tree } = this.app;
    if (this.openOf !== tree) {
      this.openOf = tree;
      this.open = new Set([0]);
      this.openHeavy();
    }
    this.children = this.app.keep('children', [tree], () => childrenOf(tree));
    this.fill();
  }

  /** Open what has much of the whole. */
  openHeavy() {
    const { tree, widths } = this.app;
    for (let node = 1; node < tree.n; node++)
      if (widths[node] > LEAST_SHARE * widths[0]) this.open.add(node);
  }

  /** @param {boolean} isOpen */
  openAll(isOpen) {
    this.open = new Set(
      isOpen ? Array.from({ length: this.app.tree.n }, (_, i) => i) : [0],
    );
    this.fill();
  }

  /** The nodes that are shown, in their order. */
  shown() {
    const { widths, tree, idle } = this.app;
    const isIdle = (/** @type {number} */ node) =>
      Number(tree.func[node] === idle);
    const { first, list } = /** @type {NonNullable<typeof this.children>} */ (
      this.children
    );
    const shown = [];
    const stack = [0];
    while (stack.length > 0 && shown.length < MOST_ROWS) {
      const node = /** @type {number} */ (stack.pop());
      shown.push(node);
      if (!this.open.has(node)) continue;
      const below = [...list.subarray(first[node], first[node + 1])]
        .filter((child) => widths[child] > 0)
        .sort((a, b) => isIdle(b) - isIdle(a) || widths[a] - widths[b]);
      stack.push(...below);
    }
    this.isCut = stack.length > 0;
    return shown;
  }

  fill() {
    const focused = Number(
      document.activeElement?.closest?.('tr')?.dataset.node ?? -1,
    );
    const shown = this.shown();
    this.body.replaceChildren(
      ...shown.map((node, i) => this.row(node, i === 0)),
    );
    this.cut.hidden = !this.isCut;
    this.cut.textContent = `Only ${MOST_ROWS} rows are shown: close some, or filter.`;
    if (focused >= 0) this.focus(focused);
  }

  /** @param {number} node */
  hasChildren(node) {
    const { first, list } = /** @type {NonNullable<typeof this.children>} */ (
      this.children
    );
    const { widths } = this.app;
    for (let i = first[node]; i < first[node + 1]; i++)
      if (widths[list[i]] > 0) return true;
    return false;
  }

  /**
   * @param {number} node
   * @param {boolean} isFirst
   */
  row(node, isFirst) {
    const { app } = this;
    const { total, self } = app.treeSums;
    const base = app.treeBase;
    const sum = app.nodeShare(node);
    const whole = app.nodeShare(0);
    const func = node > 0 ? app.tree.func[node] : -1;
    const has = this.hasChildren(node);
    const name = el(
      'span',
      { class: app.matches?.[func] ? 'name match' : 'name' },
      nodeName(app.tree, app.functions, node),
    );
    const cell = el(
      'td',
      { class: 'text' },
      el(
        'span',
        { class: 'twist', 'aria-hidden': 'true' },
        has ? (this.open.has(node) ? '▾' : '▸') : '',
      ),
      name,
      el('small', {}, func >= 0 ? ` ${app.functions.module[func]}` : ''),
      base
        ? el(
            'small',
            { class: 'change' },
            ` ${signedTime(total[node] - base.total[node] * app.baseScale)}`,
          )
        : null,
    );
    cell.style.paddingLeft = `${8 + app.tree.depth[node] * 12}px`;
    return el(
      'tr',
      {
        role: 'row',
        tabindex: isFirst ? 0 : -1,
        'data-node': node,
        'aria-level': app.tree.depth[node] + 1,
        'aria-expanded': has ? String(this.open.has(node)) : null,
        class:
          (func >= 0 && func === app.functionOf(app.state.chosen)
            ? 'chosen'
            : '') + dim(sum),
        onclick: () => this.toggle(node),
      },
      el(
        'td',
        { class: 'number' },
        seconds(total[node]),
        el('small', {}, ` ${shareText(sum, whole)}`),
        bar(sum.value / (whole.value || 1)),
      ),
      el('td', { class: 'number' }, self[node] ? seconds(self[node]) : ''),
      cell,
    );
  }

  /** @param {number} node */
  toggle(node) {
    if (!this.open.delete(node)) this.open.add(node);
    const func = this.app.tree.func[node];
    if (node > 0 && func >= 0) this.app.set({ chosen: this.app.keyOf(func) });
    this.fill();
    this.focus(node);
  }

  /** @param {number} node */
  focus(node) {
    const row = /** @type {HTMLElement | null} */ (
      this.body.querySelector(`[data-node="${node}"]`)
    );
    row?.focus({ preventScroll: false });
  }

  /** @param {KeyboardEvent} event */
  key(event) {
    const row = /** @type {HTMLElement | null} */ (
      /** @type {Element} */ (event.target).closest('tr')
    );
    if (!row || event.ctrlKey || event.altKey) return;
    const node = Number(row.dataset.node);
    const isOpen = this.open.has(node);
    if (event.key === 'ArrowDown')
      /** @type {HTMLElement | null} */ (row.nextElementSibling)?.focus();
    else if (event.key === 'ArrowUp')
      /** @type {HTMLElement | null} */ (row.previousElementSibling)?.focus();
    else if (event.key === 'ArrowRight' && !isOpen) this.setOpen(node, true);
    else if (event.key === 'ArrowLeft' && isOpen && this.hasChildren(node))
      this.setOpen(node, false);
    else if (event.key === 'ArrowLeft') this.focus(this.app.tree.parent[node]);
    else if (event.key === 'Enter' || event.key === ' ') this.toggle(node);
    else return;
    event.preventDefault();
    event.stopPropagation();
  }

  /**
   * @param {number} node
   * @param {boolean} isOpen
   */
  setOpen(node, isOpen) {
    if (isOpen) this.open.add(node);
    else this.open.delete(node);
    this.fill();
    this.focus(node);
    say(isOpen ? 'open' : 'closed');
  }
}
