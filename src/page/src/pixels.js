// SPDX-License-Identifier: MIT
/**
 * pixels.js -- a canvas that is filled by writing its pixels. A picture of many
 * small boxes costs as much as its size, whatever their number.
 */

/** @param {number} r @param {number} g @param {number} b */
export function rgb(r, g, b) {
  return ((255 << 24) | (b << 16) | (g << 8) | r) >>> 0;
}

/**
 * COLOUR mixed with OTHER: SHARE of it.
 * @param {number} colour
 * @param {number} other
 * @param {number} share
 */
export function mix(colour, other, share) {
  const part = (/** @type {number} */ shift) =>
    Math.round(
      ((colour >>> shift) & 255) * (1 - share) +
        ((other >>> shift) & 255) * share,
    );
  return rgb(part(0), part(8), part(16));
}

/** @param {number} colour as CSS */
export function css(colour) {
  const hex = (/** @type {number} */ shift) =>
    ((colour >>> shift) & 255).toString(16).padStart(2, '0');
  return `#${hex(0)}${hex(8)}${hex(16)}`;
}

export class Pixels {
  /** @param {HTMLCanvasElement} canvas */
  constructor(canvas) {
    this.canvas = canvas;
    this.context = /** @type {CanvasRenderingContext2D} */ (
      canvas.getContext('2d', { alpha: false })
    );
    this.ratio = 1;
    this.width = 0;
    this.height = 0;
    this.data = new Uint32Array(0);
    /** @type {ImageData | null} */
    this.image = null;
  }

  /**
   * Make it WIDTH by HEIGHT pixels of CSS.
   * @param {number} width
   * @param {number} height
   */
  resize(width, height) {
    const ratio = Math.min(3, window.devicePixelRatio || 1);
    const w = Math.max(1, Math.round(width * ratio));
    const h = Math.max(1, Math.round(height * ratio));
    if (w === this.width && h === this.height && this.image) return;
    this.ratio = ratio;
    this.width = w;
    this.height = h;
    this.canvas.width = w;
    this.canvas.height = h;
    this.canvas.style.width = `${width}px`;
    this.canvas.style.height = `${height}px`;
    this.image = new ImageData(w, h);
    this.data = new Uint32Array(this.image.data.buffer);
  }

  /** @param {number} colour */
  clear(colour) {
    this.data.fill(colour);
  }

  /**
   * A box in pixels of the device, cut at the borders.
   * @param {number} x
   * @param {number} y
   * @param {number} width
   * @param {number} height
   * @param {number} colour
   */
  box(x, y, width, height, colour) {
    const left = Math.max(0, Math.round(x));
    const right = Math.min(this.width, Math.round(x + width));
    const top = Math.max(0, Math.round(y));
    const bottom = Math.min(this.height, Math.round(y + height));
    if (left >= right) return;
    for (let line = top; line < bottom; line++)
      this.data.fill(
        colour,
        line * this.width + left,
        line * this.width + right,
      );
  }

  /**
   * Copy LINE to HEIGHT lines from Y on.
   * @param {Uint32Array} line
   * @param {number} y
   * @param {number} height
   */
  lines(line, y, height) {
    const bottom = Math.min(this.height, y + height);
    for (let at = Math.max(0, y); at < bottom; at++)
      this.data.set(line, at * this.width);
  }

  /** Show what was written; drawing by the context comes after it. */
  show() {
    if (!this.image) return;
    this.context.setTransform(1, 0, 0, 1, 0, 0);
    this.context.putImageData(this.image, 0, 0);
    this.context.setTransform(this.ratio, 0, 0, this.ratio, 0, 0);
  }
}
