// SPDX-License-Identifier: MIT
/**
 * timeline.js -- the time strip: one lane for each thread or each name, marks
 * and spans, the heat map, and the ranges that are dragged there.
 */
import { paintAxis } from './axis.js';
import { theme } from './colours.js';
import { attribute, button, el } from './dom.js';
import { clock, time as timeText } from './format.js';
import { frameCells, heatGrid, paintHeat, sumHeat } from './heat.js';
import { addThread, collectLanes, emptyStrip, finish } from './lanes.js';
import { threadName, string } from './model.js';
import { Pixels, css } from './pixels.js';

/**
 * @typedef {import('./app.js').App} App
 * @typedef {import('./window.js').Range} Range
 * @typedef {import('./lanes.js').Strip} Strip
 * @typedef {{name: string, threads: number[], isMember: boolean, key: string, process: number}} Row
 */

/** Height of a lane among many, of one alone, and of few: CSS pixels. */
const LANE = 26;
const HIGH_LANE = 56;
const FEW_LANES = 96;
/** Lanes of names, and of threads of one name, that are shown one by one. */
const MOST_LANES = 100;
const MOST_MEMBERS = 100;
/** What is worked out between two frames: ms. */
const SLICE = 8;

export class Timeline {
  /** @param {App} app */
  constructor(app) {
    this.app = app;
    this.canvas = el('canvas', { 'aria-hidden': 'true' });
    this.pixels = new Pixels(this.canvas);
    this.axis = el('canvas', { 'aria-hidden': 'true' });
    this.axisPixels = new Pixels(this.axis);
    this.names = el('div', { class: 'lane-names', role: 'list' });
    this.tip = el('div', { class: 'tip', role: 'status', hidden: true });
    this.area = el(
      'div',
      {
        class: 'lane-area',
        tabindex: 0,
        role: 'application',
        'aria-label':
          'Time axis. Left and right move the range, with Shift they make it larger or smaller, Escape ends it.',
      },
      this.canvas,
    );
    this.note = el('p', { class: 'strip-note' });
    this.element = el(
      'section',
      { class: 'timeline', 'aria-label': 'Time' },
      el('div', { class: 'axis' }, this.controls(), this.axis),
      el('div', { class: 'lanes' }, this.names, this.area),
      this.note,
      this.tip,
    );
    this.lanes = collectLanes(app.model);
    /** @type {Set<string>} */
    this.open = new Set();
    /** @type {Range} */
    this.view = [0, Math.max(1, app.model.meta.wallNs)];
    /** @type {Map<string, Strip>} */
    this.strips = new Map();
    /** Lanes that are lit by another function now. @type {Set<string>} */
    this.stale = new Set();
    /** @type {Strip | null} */
    this.heat = null;
    /** @type {number | null} */
    this.job = null;
    /** @type {Range | null} */
    this.drag = null;
    this.isBase = false;
    this.isDirty = false;
    this.listen();
  }

  controls() {
    this.switch = button('Heat map', () => this.toggle(), {
      'aria-pressed': 'false',
      title: 'A column is a second (or more), a cell 20 ms or more',
    });
    this.wide = button('All', () => this.look(null), {
      title: 'The whole run on the axis',
    });
    return el(
      'div',
      { class: 'axis-controls' },
      this.switch,
      button('Zoom', () => this.look(this.app.state.range), {
        title: 'The selected range fills the axis (z)',
      }),
      this.wide,
    );
  }

  toggle() {
    const { strip } = this.app.state;
    this.app.set({ strip: strip === 'lanes' ? 'heat' : 'lanes' });
  }

  /**
   * Show RANGE on the axis.
   * @param {Range | null} range
   */
  look(range) {
    this.view = range
      ? [...range]
      : [0, Math.max(1, this.app.model.meta.wallNs)];
    this.forget();
  }

  listen() {
    new ResizeObserver(() => this.forget()).observe(this.area);
    this.app.pointListeners.push(() => this.relight());
    this.area.addEventListener('pointerdown', (event) => this.grab(event));
    this.area.addEventListener('pointermove', (event) => this.hover(event));
    this.area.addEventListener('pointerleave', () => (this.tip.hidden = true));
    this.area.addEventListener('dblclick', () => this.app.set({ range: null }));
    this.area.addEventListener('keydown', (event) => this.key(event));
    this.area.addEventListener(
      'wheel',
      (event) => {
        if (!event.ctrlKey && !event.metaKey) return;
        event.preventDefault();
        this.zoom(Math.exp(event.deltaY / 300), this.timeAt(event));
      },
      { passive: false },
    );
  }

  /**
   * @param {number} factor
   * @param {number} at
   */
  zoom(factor, at) {
    const [from, to] = this.view;
    const end = Math.max(1, this.app.model.meta.wallNs);
    const size = Math.min(end, Math.max(1e5, (to - from) * factor));
    const share = (at - from) / (to - from);
    const begin = Math.min(Math.max(0, at - share * size), end - size);
    this.view = [begin, begin + size];
    this.forget();
  }

  /** Another function is lit; the lanes stay as they are until it is. */
  relight() {
    this.stale = new Set(this.strips.keys());
    this.draw();
  }

  /** What was worked out holds no longer. */
  forget() {
    this.strips.clear();
    this.heat = null;
    this.draw();
  }

  /** @param {Set<string>} changed */
  refresh(changed) {
    const deep = ['time', 'filters', 'focus', 'ignore', 'search', 'value'];
    if (deep.some((key) => changed.has(key))) this.forget();
    else if (changed.has('chosen')) this.relight();
    this.fillNames();
    attribute(
      /** @type {Element} */ (this.switch),
      'aria-pressed',
      String(this.app.state.strip === 'heat'),
    );
    const isHeat = this.app.state.strip === 'heat';
    this.element.hidden = !this.app.model.meta.hasTime;
    this.names.classList.toggle('heat', isHeat);
    this.draw();
  }

  draw() {
    if (this.isDirty) return;
    this.isDirty = true;
    requestAnimationFrame(() => {
      this.isDirty = false;
      this.paint();
    });
  }

  /** The lanes that are shown. @returns {Row[]} */
  get rows() {
    /** @type {Row[]} */
    const rows = [];
    const shown = this.lanes.slice(0, MOST_LANES);
    for (const lane of shown) {
      const key = `${lane.process} ${lane.name}`;
      rows.push({ ...lane, isMember: false, key });
      if (!this.open.has(key)) continue;
      for (const thread of lane.threads.slice(0, MOST_MEMBERS))
        rows.push({
          name: threadName(this.app.model, thread),
          threads: [thread],
          isMember: true,
          key: `thread ${thread}`,
          process: lane.process,
        });
    }
    const rest = this.lanes.slice(MOST_LANES).flatMap(({ threads }) => threads);
    if (rest.length > 0)
      rows.push({
        name: 'others',
        threads: rest,
        isMember: false,
        key: 'others',
        process: -1,
      });
    return rows;
  }

  /** The height of a lane: few lanes are higher. */
  get lane() {
    const room = Math.floor(FEW_LANES / Math.max(1, this.rows.length));
    return Math.max(LANE, Math.min(HIGH_LANE, room));
  }

  fillNames() {
    this.names.style.setProperty('--lane', `${this.lane}px`);
    if (this.app.state.strip === 'heat') {
      const { rows, cell } = this.grid;
      const text = `A column is ${timeText(rows * cell)}, a cell ${timeText(cell)}; time runs upwards in a column. Click a cell, or drag.`;
      this.names.replaceChildren(el('p', { class: 'heat-note' }, text));
      return;
    }
    this.names.replaceChildren(...this.rows.map((row) => this.nameOf(row)));
  }

  /** @param {Row} row */
  nameOf(row) {
    const { app } = this;
    const { filters } = app.state;
    const value =
      row.threads.length === 1
        ? String(app.model.threads[row.threads[0]].tid)
        : row.name;
    const has = filters.some((f) => f.key === 'thread' && f.value === value);
    const title = `${row.name}${row.threads.length > 1 ? `, ${row.threads.length} threads` : ` (${value})`}`;
    const expander =
      row.threads.length > 1 && row.key !== 'others'
        ? button(
            this.open.has(row.key) ? '▾' : '▸',
            () => {
              if (!this.open.delete(row.key)) this.open.add(row.key);
              this.fillNames();
              this.draw();
            },
            {
              class: 'expander',
              'aria-expanded': String(this.open.has(row.key)),
              'aria-label': `Threads of ${row.name}`,
            },
          )
        : null;
    const choose = button(
      row.name,
      () =>
        app.set({
          filters: has
            ? filters.filter((f) => f.key !== 'thread' || f.value !== value)
            : [...filters, { key: 'thread', value }],
        }),
      {
        class: 'lane-name',
        title: `${title}: only this lane`,
        'aria-pressed': String(has),
      },
    );
    const count =
      row.threads.length > 1 ? el('small', {}, `×${row.threads.length}`) : null;
    return el(
      'div',
      {
        class: row.isMember ? 'lane-row member' : 'lane-row',
        role: 'listitem',
      },
      expander,
      choose,
      count,
    );
  }

  paint() {
    const width = this.area.clientWidth;
    if (width === 0) return;
    this.colours = theme();
    this.paintAxis(width);
    if (this.app.state.strip === 'heat') this.paintHeat(width);
    else this.paintLanes(width);
  }

  /** @param {number} t ns @param {number} width */
  x(t, width) {
    const [from, to] = this.axisRange;
    return ((t - from) / (to - from)) * width;
  }

  /** What the axis shows: the heat map always has all columns. */
  get axisRange() {
    if (this.app.state.strip !== 'heat') return this.view;
    const { rows, columns, cell } = this.grid;
    return /** @type {Range} */ ([0, rows * columns * cell]);
  }

  /** @param {{clientX: number}} event */
  timeAt(event) {
    const bounds = this.canvas.getBoundingClientRect();
    const share = (event.clientX - bounds.left) / bounds.width;
    return this.view[0] + share * (this.view[1] - this.view[0]);
  }

  /** @param {number} width */
  paintAxis(width) {
    paintAxis(this.app, this.axisPixels, this.axisRange, width);
  }

  /** @param {number} width */
  paintLanes(width) {
    const colours = theme();
    const { rows, lane } = this;
    this.pixels.resize(width, rows.length * lane);
    this.pixels.clear(colours.ground);
    for (let i = 0; i < rows.length; i++)
      this.paintLane(rows[i], i * lane, lane, colours);
    this.pixels.show();
    this.paintRanges(width, rows.length * lane);
    this.work(rows, width);
    if (!this.app.time) this.sayUnpacked();
    else this.note.textContent = '';
  }

  sayUnpacked() {
    this.note.textContent = this.app.model.meta.hasTime
      ? 'Unpacking the time axis …'
      : 'This profile has no time axis.';
  }

  /**
   * @param {Row} row
   * @param {number} y
   * @param {number} lane its height
   * @param {import('./colours.js').Theme} colours
   */
  paintLane(row, y, lane, colours) {
    const { ratio, width } = this.pixels;
    const strip = this.strips.get(row.key);
    this.pixels.box(0, (y + lane - 1) * ratio, width, ratio, colours.line);
    if (!strip) return this.paintLife(row, y, lane, colours);
    const full = (this.view[1] - this.view[0]) / width;
    const most = Math.max(
      full,
      Math.min(strip.most, full * row.threads.length),
    );
    const height = lane - 4;
    for (let x = 0; x < strip.running.length; x++) {
      let bottom = (y + lane - 1) * ratio;
      const top = (y + 2) * ratio;
      for (const kind of /** @type {const} */ ([
        'running',
        'runnable',
        'waiting',
      ])) {
        const size = (strip[kind][x] / most) * height * ratio;
        if (size <= 0) continue;
        const least = kind === 'waiting' ? size : Math.max(size, ratio);
        const shown = Math.min(least, bottom - top);
        this.pixels.box(x, bottom - shown, 1, shown, colours[kind]);
        bottom -= size;
      }
      if (strip.matched[x] > 0)
        this.pixels.box(x, (y + lane - 4) * ratio, 1, 3 * ratio, colours.match);
    }
  }

  /**
   * Before the samples are there: when the lane's threads lived.
   * @param {Row} row
   * @param {number} y
   * @param {number} lane its height
   * @param {import('./colours.js').Theme} colours
   */
  paintLife(row, y, lane, colours) {
    const { ratio, width } = this.pixels;
    for (const thread of row.threads.slice(0, 2000)) {
      const { startNs, endNs } = this.app.model.threads[thread];
      const from = this.x(startNs, width);
      const to = this.x(Math.min(endNs, this.app.model.meta.wallNs), width);
      this.pixels.box(
        from,
        (y + lane / 2) * ratio,
        Math.max(1, to - from),
        3 * ratio,
        colours.line,
      );
    }
  }

  /**
   * The ranges that are selected and dragged.
   * @param {number} width
   * @param {number} height
   */
  paintRanges(width, height) {
    const { context } = this.pixels;
    const colours = theme();
    const { range, base } = this.app.state;
    const now = this.drag && !this.isBase ? this.drag : range;
    const before = this.drag && this.isBase ? this.drag : base;
    if (now) {
      const x = this.x(now[0], width);
      const right = this.x(now[1], width);
      context.fillStyle = colours.dark
        ? 'rgb(0 0 0 / .55)'
        : 'rgb(255 255 255 / .65)';
      context.fillRect(0, 0, x, height);
      context.fillRect(right, 0, width - right, height);
      this.frame(x, right, height, css(colours.text), []);
    }
    if (before) {
      const x = this.x(before[0], width);
      const right = this.x(before[1], width);
      context.fillStyle = colours.dark
        ? 'rgb(160 120 240 / .3)'
        : 'rgb(130 90 220 / .16)';
      context.fillRect(x, 0, right - x, height);
      this.frame(x, right, height, css(colours.base), [4, 3]);
    }
  }

  /**
   * @param {number} x
   * @param {number} right
   * @param {number} height
   * @param {string} colour
   * @param {number[]} dash
   */
  frame(x, right, height, colour, dash) {
    const { context } = this.pixels;
    context.strokeStyle = colour;
    context.lineWidth = 1.5;
    context.setLineDash(dash);
    context.strokeRect(x, 0.75, Math.max(1.5, right - x), height - 1.5);
    context.setLineDash([]);
  }

  /**
   * Work out what lanes lack, a slice of time after the other.
   * @param {Row[]} rows
   * @param {number} width
   */
  work(rows, width) {
    const { app } = this;
    const { time, long } = app;
    if (!time || !long || this.job !== null) return;
    const missing = rows.filter(
      ({ key }) => !this.strips.has(key) || this.stale.has(key),
    );
    if (missing.length === 0) return;
    const columns = this.pixels.width;
    const source = {
      model: app.model,
      time,
      long,
      keep: app.rows,
      matches: app.litRows,
    };
    const strips = this.strips;
    const view = this.view;
    const run = () => {
      this.job = null;
      if (
        this.view !== view ||
        this.strips !== strips ||
        app.rows !== source.keep ||
        app.litRows !== source.matches
      )
        return this.draw();
      const end = performance.now() + SLICE;
      while (missing.length > 0 && performance.now() < end)
        this.workLane(/** @type {Row} */ (missing.shift()), source, columns);
      this.draw();
    };
    void width;
    this.job = window.setTimeout(run, 0);
  }

  /**
   * @param {Row} row
   * @param {import('./lanes.js').Source} source
   * @param {number} columns
   */
  workLane(row, source, columns) {
    const strip = emptyStrip(columns);
    for (const thread of row.threads)
      addThread(source, thread, this.view, strip);
    this.strips.set(row.key, finish(strip));
    this.stale.delete(row.key);
  }

  /** The heat map's cells. */
  get grid() {
    return heatGrid(this.app, this.area.clientWidth);
  }

  /** @param {number} width */
  paintHeat(width) {
    const { pixels, grid } = this;
    const size = paintHeat(this.app, pixels, grid, this.makeHeat(), width);
    const now = this.drag && !this.isBase ? this.drag : this.app.state.range;
    const before = this.drag && this.isBase ? this.drag : this.app.state.base;
    const colours = theme();
    frameCells(pixels, grid, size, width, now, css(colours.text));
    frameCells(pixels, grid, size, width, before, css(colours.base));
    this.note.textContent = this.app.time ? '' : 'Unpacking the time axis …';
  }

  makeHeat() {
    this.heat ??= sumHeat(this.app, this.grid);
    return this.heat;
  }

  /** The time at the pointer: in the heat map that of a cell. @param {PointerEvent} event */
  pointAt(event) {
    if (this.app.state.strip !== 'heat') return this.timeAt(event);
    const { rows, columns, cell } = this.grid;
    const bounds = this.canvas.getBoundingClientRect();
    const column = Math.floor(
      ((event.clientX - bounds.left) / bounds.width) * columns,
    );
    const row =
      rows -
      1 -
      Math.floor(((event.clientY - bounds.top) / bounds.height) * rows);
    return (column * rows + Math.min(rows - 1, Math.max(0, row))) * cell;
  }

  /** @param {PointerEvent} down */
  grab(down) {
    if (down.button !== 0 || !this.app.time) return;
    const isHeat = this.app.state.strip === 'heat';
    const start = this.pointAt(down);
    const cell = this.grid.cell;
    this.isBase = down.ctrlKey || down.metaKey;
    const move = (/** @type {PointerEvent} */ event) => {
      const end = this.pointAt(event);
      const [a, b] = [Math.min(start, end), Math.max(start, end)];
      this.drag = this.clip([a, isHeat ? b + cell : b]);
      this.draw();
    };
    const up = (/** @type {PointerEvent} */ event) => {
      removeEventListener('pointermove', move);
      removeEventListener('pointerup', up);
      if (isHeat) move(event);
      const drag = this.drag;
      this.drag = null;
      const bounds = this.area.getBoundingClientRect();
      const least = ((this.view[1] - this.view[0]) / bounds.width) * 4;
      if (!drag || (!isHeat && drag[1] - drag[0] < least)) return this.draw();
      this.choose(drag);
    };
    addEventListener('pointermove', move);
    addEventListener('pointerup', up);
  }

  /** @param {Range} range */
  choose(range) {
    if (this.isBase) this.app.set({ base: range, colour: 'difference' });
    else this.app.set({ range });
  }

  /**
   * Whole microseconds in the run: they can be typed again.
   * @param {Range} range
   * @returns {Range}
   */
  clip([a, b]) {
    const end = Math.ceil(this.app.model.meta.wallNs / 1e3) * 1e3;
    return [
      Math.max(0, Math.round(a / 1e3) * 1e3),
      Math.min(end, Math.round(b / 1e3) * 1e3),
    ];
  }

  /** @param {PointerEvent} event */
  hover(event) {
    const { app } = this;
    const t = this.pointAt(event);
    const lines = [clock(t, (this.view[1] - this.view[0]) / 1000)];
    if (app.state.strip === 'lanes') {
      const bounds = this.canvas.getBoundingClientRect();
      const row =
        this.rows[Math.floor((event.clientY - bounds.top) / this.lane)];
      if (row) lines.push(...this.about(row, event));
    }
    const near = ((this.view[1] - this.view[0]) / this.area.clientWidth) * 4;
    for (const mark of app.model.marks)
      if (Math.abs(mark.timeNs - t) < near)
        lines.push(`mark ${string(app.model, mark.name)}`);
    for (const span of app.model.spans)
      if (span.startNs <= t && span.endNs > t)
        lines.push(
          `span ${string(app.model, span.name)}, ${timeText(span.endNs - span.startNs)}`,
        );
    this.showTip(lines.slice(0, 10), event);
  }

  /**
   * @param {Row} row
   * @param {PointerEvent} event
   */
  about(row, event) {
    const strip = this.strips.get(row.key);
    const lines = [
      row.threads.length > 1
        ? `${row.name}, ${row.threads.length} threads`
        : row.name,
    ];
    if (!strip) return lines;
    const bounds = this.canvas.getBoundingClientRect();
    const column = Math.floor(
      ((event.clientX - bounds.left) / bounds.width) * strip.running.length,
    );
    for (const kind of /** @type {const} */ ([
      'running',
      'runnable',
      'waiting',
    ]))
      if (strip[kind][column] > 0)
        lines.push(
          `${kind} ${timeText(strip[kind][column])} of ${timeText((this.view[1] - this.view[0]) / strip.running.length)}`,
        );
    return lines;
  }

  /**
   * @param {string[]} lines
   * @param {PointerEvent} event
   */
  showTip(lines, event) {
    this.tip.replaceChildren(...lines.map((line) => el('div', {}, line)));
    this.tip.hidden = false;
    const { offsetWidth, offsetHeight } = this.tip;
    this.tip.style.left = `${Math.min(event.clientX + 14, innerWidth - offsetWidth - 6)}px`;
    this.tip.style.top = `${Math.max(4, event.clientY - offsetHeight - 10)}px`;
  }

  /** @param {KeyboardEvent} event */
  key(event) {
    const sign =
      event.key === 'ArrowLeft' ? -1 : event.key === 'ArrowRight' ? 1 : 0;
    if (sign === 0 || !this.app.time) return;
    event.preventDefault();
    event.stopPropagation();
    const [from, to] = this.view;
    const step = (to - from) / 20;
    const [a, b] = this.app.state.range ?? [from, from + step];
    const next = event.shiftKey
      ? /** @type {Range} */ ([a, Math.max(a + step / 10, b + sign * step)])
      : /** @type {Range} */ ([a + sign * step, b + sign * step]);
    if (next[0] >= 0 && next[0] < this.app.model.meta.wallNs)
      this.app.set({ range: this.clip(next) });
  }
}
