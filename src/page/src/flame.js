// SPDX-License-Identifier: MIT
/** flame.js -- the flame graph: what is drawn, and how it is moved. */
import { nodeName, pathOf } from './calltree.js';
import {
  colouring,
  nodeColours,
  noiseOf,
  stateShares,
  STATE_KINDS,
} from './boxcolours.js';
import { theme } from './colours.js';
import { el, say } from './dom.js';
import { firstBox } from './layout.js';
import { Pixels, mix } from './pixels.js';

/**
 * @typedef {import('./app.js').App} App
 * @typedef {{level: number, index: number, node: number}} Box
 */

/** Height of a level; and the least width of a box with a name: CSS pixels. */
const LEVEL = 18;
const LEAST_TEXT = 22;
/** Greatest height on paper: CSS pixels. */
const HIGHEST = 4000;
/** How long a zoom moves: ms. */
const MOVE = 180;

export class Flame {
  /**
   * @param {App} app
   * @param {(box: Box | null, event: PointerEvent | null) => void} onHover
   * @param {(box: Box, event: MouseEvent) => void} onClick
   */
  constructor(app, onHover, onClick) {
    this.app = app;
    this.onHover = onHover;
    this.onClick = onClick;
    this.canvas = el('canvas', { 'aria-hidden': 'true' });
    this.pixels = new Pixels(this.canvas);
    this.spacer = el('div', { class: 'spacer' });
    this.element = el(
      'div',
      {
        class: 'flame',
        tabindex: 0,
        role: 'application',
        'aria-label':
          'Flame graph. Arrow keys move between boxes, Enter zooms, 0 shows all. The table and the tree have the same as text.',
      },
      this.canvas,
      this.spacer,
    );
    this.from = 0;
    this.to = 1;
    /** @type {Box | null} */
    this.hover = null;
    /** @type {Box | null} */
    this.cursor = null;
    this.isDirty = false;
    /** @type {{start: number, from: number, to: number, toFrom: number, toTo: number} | null} */
    this.motion = null;
    /** @type {number[]} */
    this.frames = [];
    /** @type {Map<string, number>} */
    this.nameWidths = new Map();
    this.lastLayout = /** @type {object | null} */ (null);
    this.listen();
  }

  listen() {
    new ResizeObserver(() => this.draw()).observe(this.element);
    this.element.addEventListener('scroll', () => this.draw());
    this.element.addEventListener('pointermove', (event) => this.move(event));
    this.element.addEventListener('pointerleave', () =>
      this.setHover(null, null),
    );
    this.element.addEventListener('pointerdown', (event) => this.grab(event));
    this.element.addEventListener('wheel', (event) => this.wheel(event), {
      passive: false,
    });
    this.element.addEventListener('keydown', (event) => this.key(event));
  }

  /** @param {KeyboardEvent} event */
  key(event) {
    const deeper = this.app.state.flip ? -1 : 1;
    if (event.key === 'ArrowLeft') this.walk(-1, 0);
    else if (event.key === 'ArrowRight') this.walk(1, 0);
    else if (event.key === 'ArrowDown') this.walk(0, deeper);
    else if (event.key === 'ArrowUp') this.walk(0, -deeper);
    else if (event.key === 'Enter' && this.cursor)
      this.onClick(this.cursor, new MouseEvent('click'));
    else return;
    event.preventDefault();
    event.stopPropagation();
  }

  /** Show the present layout; the zoom stays where its box is still there. */
  refresh() {
    const { layout } = this.app;
    if (layout !== this.lastLayout) {
      this.lastLayout = layout;
      this.hover = null;
      this.cursor = null;
      const height = `${layout.levels.length * LEVEL}px`;
      this.spacer.style.height = height;
      document.documentElement.style.setProperty('--flame-height', height);
      const box = this.findZoomed();
      const level = box && layout.levels[box.level];
      this.motion = null;
      this.from = level && box ? level.from[box.index] : 0;
      this.to = level && box ? level.to[box.index] : layout.width || 1;
      if (this.app.state.flip)
        this.element.scrollTop = this.element.scrollHeight;
    }
    this.draw();
  }

  /** The box that state.zoom names. @returns {Box | null} */
  findZoomed() {
    const { layout, tree } = this.app;
    const { zoom } = this.app.state;
    if (zoom.length === 0 || layout.ordered) return null;
    const level = layout.levels[zoom.length];
    if (!level) return null;
    for (let index = 0; index < level.node.length; index++) {
      const path = pathOf(tree, level.node[index]);
      if (
        zoom.every((func, i) => tree.func[path[zoom.length - 1 - i]] === func)
      )
        return { level: zoom.length, index, node: level.node[index] };
    }
    return null;
  }

  /** Draw in the next frame. */
  draw() {
    if (this.isDirty) return;
    this.isDirty = true;
    requestAnimationFrame((now) => {
      this.isDirty = false;
      this.step(now);
      this.paint();
    });
  }

  /** @param {number} now */
  step(now) {
    const { motion } = this;
    if (!motion) return;
    const done = Math.min(1, (now - motion.start) / MOVE);
    const ease = 1 - (1 - done) ** 3;
    this.from = motion.from + (motion.toFrom - motion.from) * ease;
    this.to = motion.to + (motion.toTo - motion.to) * ease;
    if (done < 1) this.draw();
    else this.motion = null;
  }

  /**
   * Move the window to FROM..TO.
   * @param {number} from
   * @param {number} to
   * @param {boolean} [atOnce]
   */
  moveTo(from, to, atOnce = false) {
    const width = this.app.layout.width || 1;
    const least = width / 1e9;
    const size = Math.min(width, Math.max(least, to - from));
    const begin = Math.min(Math.max(0, from), width - size);
    const still =
      atOnce || matchMedia('(prefers-reduced-motion: reduce)').matches;
    if (still) {
      this.motion = null;
      this.from = begin;
      this.to = begin + size;
    } else
      this.motion = {
        start: performance.now(),
        from: this.from,
        to: this.to,
        toFrom: begin,
        toTo: begin + size,
      };
    this.draw();
  }

  /** @param {Box | null} box null: everything */
  zoomTo(box) {
    const { layout, tree } = this.app;
    const level = box && layout.levels[box.level];
    this.app.state.zoom = box
      ? pathOf(tree, box.node)
          .reverse()
          .map((node) => tree.func[node])
      : [];
    this.app.announce('zoom');
    if (box && level) this.moveTo(level.from[box.index], level.to[box.index]);
    else this.moveTo(0, layout.width);
  }

  /**
   * Pan by DX and zoom by FACTOR: parts of the window.
   * @param {number} dx
   * @param {number} factor
   * @param {number} [at] what stays in place, 0 to 1
   */
  nudge(dx, factor, at = 0.5) {
    const from = this.motion?.toFrom ?? this.from;
    const to = this.motion?.toTo ?? this.to;
    const size = to - from;
    const next = Math.min(size * factor, this.app.layout.width);
    const begin = from + dx * size + (size - next) * at;
    this.moveTo(
      begin,
      begin + next,
      factor === 1 && dx !== 0 && Math.abs(dx) < 0.05,
    );
  }

  /** @param {WheelEvent} event */
  wheel(event) {
    if (!event.ctrlKey && !event.metaKey && Math.abs(event.deltaX) < 1) return;
    event.preventDefault();
    const bounds = this.element.getBoundingClientRect();
    if (event.ctrlKey || event.metaKey) {
      const at = (event.clientX - bounds.left) / bounds.width;
      const size = (this.to - this.from) * Math.exp(event.deltaY / 200);
      const begin = this.from + (this.to - this.from - size) * at;
      this.moveTo(begin, begin + size, true);
    } else {
      const by = (event.deltaX / bounds.width) * (this.to - this.from);
      this.moveTo(this.from + by, this.to + by, true);
    }
  }

  /** @param {PointerEvent} down */
  grab(down) {
    if (down.button !== 0) return;
    if (down.offsetX > this.element.clientWidth) return;
    const start = { x: down.clientX, y: down.clientY };
    const { from, to } = this;
    const top = this.element.scrollTop;
    const width = this.element.clientWidth;
    let moved = false;
    const move = (/** @type {PointerEvent} */ event) => {
      const dx = event.clientX - start.x;
      const dy = event.clientY - start.y;
      if (!moved && Math.hypot(dx, dy) < 5) return;
      moved = true;
      this.element.classList.add('grabbed');
      const by = (dx / width) * (to - from);
      this.moveTo(from - by, to - by, true);
      this.element.scrollTop = top - dy;
    };
    const up = (/** @type {PointerEvent} */ event) => {
      removeEventListener('pointermove', move);
      removeEventListener('pointerup', up);
      this.element.classList.remove('grabbed');
      const box = moved ? null : this.boxAt(event);
      if (box) this.onClick(box, event);
    };
    addEventListener('pointermove', move);
    addEventListener('pointerup', up);
  }

  /** @param {PointerEvent} event */
  move(event) {
    this.setHover(this.boxAt(event), event);
  }

  /**
   * @param {Box | null} box
   * @param {PointerEvent | null} event
   */
  setHover(box, event) {
    const isSame =
      box?.level === this.hover?.level && box?.index === this.hover?.index;
    this.hover = box;
    this.element.style.cursor = box ? 'pointer' : '';
    this.onHover(box, event);
    if (!isSame) this.draw();
  }

  /** @param {{clientX: number, clientY: number}} event @returns {Box | null} */
  boxAt(event) {
    const bounds = this.element.getBoundingClientRect();
    const x = event.clientX - bounds.left;
    const y = event.clientY - bounds.top + this.element.scrollTop;
    const { layout } = this.app;
    const number = this.levelAt(y);
    const level = layout.levels[number];
    if (!level) return null;
    const at =
      this.from + (x / this.element.clientWidth) * (this.to - this.from);
    const index = firstBox(level, at);
    if (index >= level.node.length || level.from[index] > at) return null;
    return { level: number, index, node: level.node[index] };
  }

  /** @param {number} y from the top of the graph */
  levelAt(y) {
    const row = Math.floor((y - this.shift()) / LEVEL);
    return this.app.state.flip ? this.app.layout.levels.length - 1 - row : row;
  }

  /** Empty space above the graph: with the root at the bottom it stands there. */
  shift() {
    if (!this.app.state.flip) return 0;
    return Math.max(
      0,
      this.element.clientHeight - this.app.layout.levels.length * LEVEL,
    );
  }

  /** @param {number} level */
  topOf(level) {
    const { flip } = this.app.state;
    const row = flip ? this.app.layout.levels.length - 1 - level : level;
    return row * LEVEL + this.shift() - this.element.scrollTop;
  }

  /**
   * Paint now: as high as all levels, or as the room allows.
   * @param {boolean} isAll
   */
  showAll(isAll) {
    const height = this.app.layout.levels.length * LEVEL;
    this.element.style.height = isAll ? `${Math.min(height, HIGHEST)}px` : '';
    this.paint();
  }

  paint() {
    const began = performance.now();
    const { clientWidth, clientHeight } = this.element;
    if (clientWidth === 0 || clientHeight === 0) return;
    this.pixels.resize(clientWidth, clientHeight);
    const colours = theme();
    const painter = new Painter(this.app, this, colours);
    painter.boxes();
    painter.texts();
    this.frames.push(performance.now() - began);
    if (this.frames.length > 600) this.frames.shift();
  }

  /**
   * Move the cursor of the keys: dx to neighbours, dy to deeper levels.
   * @param {number} dx
   * @param {number} dy
   */
  walk(dx, dy) {
    const { layout } = this.app;
    const at = this.cursor ?? { level: 0, index: 0, node: 0 };
    const here = layout.levels[at.level];
    const middle = Math.max(this.from, here.from[at.index]);
    const number = at.level + dy;
    const level = layout.levels[number];
    if (!level) return;
    const index = dy ? firstBox(level, middle) : at.index + dx;
    if (index < 0 || index >= level.node.length) return;
    if (dy > 0 && level.from[index] >= here.to[at.index]) return;
    this.cursor = { level: number, index, node: level.node[index] };
    this.show(number);
    this.onHover(this.cursor, null);
    say(nodeName(this.app.tree, this.app.functions, this.cursor.node));
    this.draw();
  }

  /** Scroll LEVEL into sight. @param {number} level */
  show(level) {
    const top = this.topOf(level);
    if (top < 0) this.element.scrollTop += top;
    const under = top + LEVEL - this.element.clientHeight;
    if (under > 0) this.element.scrollTop += under;
  }
}

/** Draws one picture. */
class Painter {
  /**
   * @param {App} app
   * @param {Flame} flame
   * @param {import('./colours.js').Theme} colours
   */
  constructor(app, flame, colours) {
    this.app = app;
    this.flame = flame;
    this.colours = colours;
    this.nodeColour = nodeColours(app, colours);
    this.noise = colouring(app) === 'difference' ? noiseOf(app) : null;
    this.chosen = app.functionOf(app.state.chosen);
    this.split = colouring(app) === 'state' ? stateShares(app) : null;
    this.scale = flame.pixels.width / (flame.to - flame.from);
    this.line = new Uint32Array(flame.pixels.width);
    /** @type {[number, number, number][]} x, width and colour */
    this.hatched = [];
    /** @type {{text: string, x: number, width: number, y: number, faint: boolean}[]} */
    this.labels = [];
  }

  boxes() {
    const { pixels } = this.flame;
    const { levels } = this.app.layout;
    pixels.clear(this.colours.ground);
    const height = this.flame.element.clientHeight;
    for (let level = 0; level < levels.length; level++) {
      const top = this.flame.topOf(level);
      if (top > -LEVEL && top < height) this.level(levels[level], top, level);
    }
    pixels.show();
  }

  /**
   * Paint a level: one line of pixels, and then copies of it.
   * @param {import('./layout.js').Level} level
   * @param {number} top
   * @param {number} number
   */
  level(level, top, number) {
    const { from, to, pixels } = this.flame;
    const { ratio } = pixels;
    const half = 0.5 / this.scale;
    const y = Math.round(top * ratio);
    const height = Math.round((top + LEVEL) * ratio) - y - Math.round(ratio);
    this.line.fill(this.colours.ground);
    this.hatched.length = 0;
    let index = firstBox(level, from);
    while (index < level.node.length && level.from[index] < to) {
      const node = level.node[index];
      const x = (level.from[index] - from) * this.scale;
      const right = (level.to[index] - from) * this.scale;
      if (right - x < 0.5) {
        this.line[Math.max(0, Math.floor(x))] = this.thin(node);
        index = firstBox(level, level.from[index] + half, index + 1);
        continue;
      }
      const left = Math.max(0, x);
      const width = Math.min(pixels.width, right) - left;
      const isOuter = level.from[index] < from && level.to[index] > to;
      this.box(node, left, width, isOuter);
      if (width > LEAST_TEXT * ratio)
        this.labels.push({
          text: nodeName(this.app.tree, this.app.functions, node),
          x: left / ratio,
          width: width / ratio,
          y: top,
          faint: isOuter && number > 0,
        });
      index++;
    }
    pixels.lines(this.line, y, height);
    for (const [x, width, colour] of this.hatched)
      this.hatch(x, y, width, height, colour);
  }

  /** @param {number} node */
  thin(node) {
    return mix(this.nodeColour(node), this.colours.ground, 0.35);
  }

  /**
   * Put a box into the line.
   * @param {number} node
   * @param {number} x
   * @param {number} width
   * @param {boolean} isOuter
   */
  box(node, x, width, isOuter) {
    const gap = width > 3 ? Math.round(this.flame.pixels.ratio) : 0;
    const shade = (/** @type {number} */ colour) =>
      isOuter ? mix(colour, this.colours.ground, 0.45) : colour;
    const colour = shade(this.nodeColour(node));
    const room = Math.max(1, width - gap);
    this.line.fill(colour, Math.round(x), Math.round(x + room));
    const parts = this.split && width > 3 ? this.split(node) : null;
    const func = this.app.tree.func[node];
    if (parts && !this.app.matches?.[func] && func !== this.chosen) {
      let from = x;
      for (const kind of STATE_KINDS) {
        const to = from + room * parts[kind];
        this.line.fill(
          shade(this.colours[kind]),
          Math.round(from),
          Math.round(to),
        );
        from = to;
      }
    }
    if (this.noise && node > 0 && width > 4 && this.noise(node))
      this.hatched.push([x, width - gap, colour]);
  }

  /**
   * Stripes over a box: its change may be noise.
   * @param {number} x
   * @param {number} y
   * @param {number} width
   * @param {number} height
   * @param {number} colour
   */
  hatch(x, y, width, height, colour) {
    const { pixels } = this.flame;
    const stripe = mix(colour, this.colours.ground, 0.6);
    const step = Math.round(7 * pixels.ratio);
    const thick = Math.max(1, Math.round(2 * pixels.ratio));
    const right = Math.min(pixels.width, Math.round(x + width));
    for (
      let line = Math.max(0, y);
      line < Math.min(pixels.height, y + height);
      line++
    ) {
      const first =
        Math.round(x) + ((step - ((Math.round(x) + line) % step)) % step);
      for (let at = first; at < right; at += step)
        pixels.data.fill(
          stripe,
          line * pixels.width + at,
          line * pixels.width + Math.min(right, at + thick),
        );
    }
  }

  texts() {
    const { context } = this.flame.pixels;
    const { colours } = this;
    context.font = FONT;
    context.textBaseline = 'middle';
    const text = cssOf(colours.text);
    const faint = cssOf(colours.faint);
    for (const label of this.labels) {
      const name = this.fit(label.text, label.width - 8);
      if (!name) continue;
      context.fillStyle = label.faint ? faint : text;
      context.fillText(name, label.x + 4, label.y + LEVEL / 2);
    }
    this.outline(this.flame.hover, cssOf(colours.text), 1);
    this.outline(this.flame.cursor, cssOf(colours.less), 2);
  }

  /**
   * As much of NAME as has room in WIDTH.
   * @param {string} name
   * @param {number} width
   */
  fit(name, width) {
    const { nameWidths, pixels } = this.flame;
    let full = nameWidths.get(name);
    if (full === undefined) {
      full = pixels.context.measureText(name.slice(0, 400)).width;
      nameWidths.set(name, full);
    }
    if (full <= width) return name;
    const { context } = pixels;
    let length = Math.floor((Math.min(name.length, 400) * width) / full);
    while (--length >= 2) {
      const text = `${name.slice(0, length)}…`;
      if (context.measureText(text).width <= width) return text;
    }
    return '';
  }

  /**
   * @param {Box | null} box
   * @param {string} colour
   * @param {number} thickness
   */
  outline(box, colour, thickness) {
    const level = box && this.app.layout.levels[box.level];
    if (!box || !level) return;
    const { context, width, ratio } = this.flame.pixels;
    const x = Math.max(
      0,
      (level.from[box.index] - this.flame.from) * this.scale,
    );
    const right = Math.min(
      width,
      (level.to[box.index] - this.flame.from) * this.scale,
    );
    if (right <= 0 || x >= width) return;
    context.strokeStyle = colour;
    context.lineWidth = thickness;
    context.strokeRect(
      x / ratio + thickness / 2,
      this.flame.topOf(box.level) + thickness / 2,
      Math.max(1, (right - x) / ratio - thickness - 0.5),
      LEVEL - 1 - thickness,
    );
  }
}

const FONT = '12px system-ui, -apple-system, "Segoe UI", Roboto, sans-serif';

/** @param {number} colour */
function cssOf(colour) {
  return `rgb(${colour & 255} ${(colour >>> 8) & 255} ${(colour >>> 16) & 255})`;
}
