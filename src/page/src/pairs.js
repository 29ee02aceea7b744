// SPDX-License-Identifier: MIT
/** pairs.js -- pairs of whole numbers, each with a number of its own. */

/** Places of a new table: a power of two. */
const FIRST_PLACES = 1024;

/** A hash table with open addressing in typed arrays. */
export class Pairs {
  constructor() {
    this.n = 0;
    this.first = new Int32Array(FIRST_PLACES / 2);
    this.second = new Int32Array(FIRST_PLACES / 2);
    this.places = new Int32Array(FIRST_PLACES);
  }

  /**
   * Where the pair is, or where it would be put.
   * @param {number} a
   * @param {number} b
   */
  place(a, b) {
    const mask = this.places.length - 1;
    let hash = Math.imul(a, 0x9e3779b1) ^ Math.imul(b, 0x85ebca6b);
    hash ^= hash >>> 15;
    let at = hash & mask;
    for (;;) {
      const number = this.places[at] - 1;
      if (number < 0) return at;
      if (this.first[number] === a && this.second[number] === b) return at;
      at = (at + 1) & mask;
    }
  }

  /**
   * The number of the pair; a new one gets the next number.
   * @param {number} a
   * @param {number} b
   * @returns {number}
   */
  put(a, b) {
    const at = this.place(a, b);
    if (this.places[at] > 0) return this.places[at] - 1;
    if (this.n === this.first.length) {
      this.grow();
      return this.put(a, b);
    }
    this.first[this.n] = a;
    this.second[this.n] = b;
    this.places[at] = ++this.n;
    return this.n - 1;
  }

  grow() {
    this.first = longer(this.first);
    this.second = longer(this.second);
    this.places = new Int32Array(2 * this.places.length);
    for (let number = 0; number < this.n; number++)
      this.places[this.place(this.first[number], this.second[number])] =
        number + 1;
  }
}

/** @param {Int32Array} list twice as long */
export function longer(list) {
  const grown = new Int32Array(2 * list.length);
  grown.set(list);
  return grown;
}
