// SPDX-License-Identifier: MIT
/**
 * decode.js -- from the data elements of a page to the model (model.js).
 * docs/page-data.md has the bytes. A block is read through a window of some
 * kilobytes, so that only typed arrays of the result are ever large. Numbers
 * are exact up to 2^53.
 */

/** The version of the blocks that this decoder reads. */
export const VERSION = 2;

/** Characters of base64 that are decoded at once, a multiple of four. */
const PIECE = 1 << 16;
/** Numbers that are read before the event loop has a turn. */
const BLOCK = 1 << 16;
/** The most bytes of a number. */
const VARINT = 10;

const STATES = ['running', 'runnable', 'waiting'];

/**
 * @typedef {{textContent: string | null}} Data an element of the page
 * @typedef {Uint8Array | Uint16Array | Uint32Array | Float64Array} Numbers
 */

/**
 * The elements of the block ID in DOCUMENT: ID, ID-1, ID-2...
 * @param {{getElementById(id: string): any}} document
 * @param {string} id
 * @returns {Data[]}
 */
export function elementsOf(document, id) {
  const elements = [];
  for (
    let element = document.getElementById(id);
    element;
    element = document.getElementById(`${id}-${elements.length}`)
  )
    elements.push(element);
  return elements;
}

/** @param {string} text base64 */
function bytesOf(text) {
  const binary = atob(text);
  const bytes = new Uint8Array(binary.length);
  for (let i = 0; i < binary.length; i++) bytes[i] = binary.charCodeAt(i);
  return bytes;
}

/**
 * The bytes of ELEMENTS, unpacked, as they are asked for.
 * @param {Data[]} elements
 */
function unpacked(elements) {
  let element = 0;
  let at = 0;
  const packed = new ReadableStream(
    {
      pull(controller) {
        while (
          element < elements.length &&
          at >= (elements[element].textContent ?? '').length
        ) {
          element++;
          at = 0;
        }
        if (element === elements.length) {
          controller.close();
          return;
        }
        const text = elements[element].textContent ?? '';
        controller.enqueue(bytesOf(text.slice(at, at + PIECE)));
        at += PIECE;
      },
    },
    { highWaterMark: 1 },
  );
  return packed.pipeThrough(new DecompressionStream('deflate-raw')).getReader();
}

/** Reads the numbers and texts of a block. */
class Reader {
  /** @param {Data[]} elements */
  constructor(elements) {
    this.source = unpacked(elements);
    this.bytes = new Uint8Array(0);
    this.at = 0;
    this.ended = false;
    this.scratch = new Float64Array(BLOCK);
  }

  /**
   * Have COUNT bytes at hand, or all that are left.
   * @param {number} count
   */
  async fill(count) {
    const pieces = [this.bytes.subarray(this.at)];
    let length = pieces[0].length;
    while (length < count && !this.ended) {
      const { done, value } = await this.source.read();
      this.ended = done;
      if (value) {
        pieces.push(value);
        length += value.length;
      }
    }
    if (pieces.length === 1) return;
    this.bytes = new Uint8Array(length);
    this.at = 0;
    let to = 0;
    for (const piece of pieces) {
      this.bytes.set(piece, to);
      to += piece.length;
    }
  }

  /**
   * Read numbers into OUT up to COUNT, as far as the bytes at hand reach.
   * @param {Float64Array} out
   * @param {number} from
   * @param {number} count
   * @returns {number} how many numbers OUT has
   */
  numbers(out, from, count) {
    const { bytes } = this;
    const end = this.ended ? bytes.length : bytes.length - VARINT;
    let { at } = this;
    let i = from;
    for (; i < count && at < end; i++) {
      let byte = bytes[at++];
      let number = byte & 0x7f;
      for (let scale = 128; byte > 0x7f && scale < 2 ** 70; scale *= 128) {
        byte = bytes[at++];
        number += (byte & 0x7f) * scale;
      }
      out[i] = number;
    }
    if (at > bytes.length) throw new Error('the data ends too early');
    this.at = at;
    return i;
  }

  /**
   * Read COUNT numbers, at most BLOCK, into the scratch array.
   * @param {number} count
   */
  async block(count) {
    let have = 0;
    while ((have = this.numbers(this.scratch, have, count)) < count) {
      if (this.ended) throw new Error('the data ends too early');
      await this.fill(this.bytes.length - this.at + VARINT + 1);
    }
    return this.scratch;
  }

  async number() {
    return (await this.block(1))[0];
  }

  /**
   * Read as many numbers as OUT has, each turned by TURN.
   * @template {Numbers} T
   * @param {T} out
   * @param {(number: number, index: number) => number} [turn]
   * @returns {Promise<T>}
   */
  async column(out, turn) {
    for (let from = 0; from < out.length; from += BLOCK) {
      const count = Math.min(BLOCK, out.length - from);
      const block = await this.block(count);
      if (turn)
        for (let i = 0; i < count; i++)
          out[from + i] = turn(block[i], from + i);
      else for (let i = 0; i < count; i++) out[from + i] = block[i];
    }
    return out;
  }

  /**
   * Read LENGTH bytes, which are valid until the next call.
   * @param {number} length
   */
  async take(length) {
    if (this.bytes.length - this.at < length) await this.fill(length);
    if (this.bytes.length - this.at < length)
      throw new Error('the data ends too early');
    this.at += length;
    return this.bytes.subarray(this.at - length, this.at);
  }
}

/** @param {number} number whose lowest bit is the sign */
function signed(number) {
  return number % 2 === 1 ? -(number + 1) / 2 : number / 2;
}

/** A column of differences to the number before. */
function changes() {
  let before = 0;
  return (/** @type {number} */ number) => (before += signed(number));
}

/** A column of differences to the largest number before. */
function most() {
  let largest = 0;
  return (/** @type {number} */ number) => {
    const value = largest + signed(number);
    if (value > largest) largest = value;
    return value;
  };
}

/** A column in which 0 is the next number that was not there before. */
function next() {
  let unused = 0;
  return (/** @type {number} */ number) => {
    if (number > unused) throw new Error('a number is out of range');
    return number === 0 ? unused++ : unused - number;
  };
}

/** @param {number} most the largest number of a column */
function kindFor(most) {
  if (most < 2 ** 8) return Uint8Array;
  if (most < 2 ** 16) return Uint16Array;
  return most < 2 ** 32 ? Uint32Array : Float64Array;
}

/** @param {Reader} reader */
async function readModules(reader) {
  const n = await reader.number();
  const name = await reader.column(new Uint32Array(n), changes());
  const path = await reader.column(new Uint32Array(n), changes());
  const buildId = await reader.column(new Uint32Array(n), changes());
  return Array.from(name, (_, i) => ({
    name: name[i],
    path: path[i],
    buildId: buildId[i],
  }));
}

/** @param {Reader} reader */
async function readFunctions(reader) {
  const n = await reader.number();
  return {
    n,
    name: await reader.column(new Uint32Array(n), changes()),
    file: await reader.column(new Uint32Array(n), changes()),
    module: await reader.column(new Uint32Array(n), changes()),
    kind: await reader.column(new Uint8Array(n)),
  };
}

/** @param {Reader} reader */
async function readFrames(reader) {
  const n = await reader.number();
  return {
    n,
    func: await reader.column(new Uint32Array(n), next()),
    line: await reader.column(new Uint32Array(n)),
    inlined: await reader.column(new Uint8Array(n)),
  };
}

/**
 * Node 0 is the root. It is not in the data.
 * @param {Reader} reader
 */
async function readNodes(reader) {
  const n = (await reader.number()) + 1;
  const parent = new Uint32Array(n);
  const frame = new Uint32Array(n);
  await reader.column(parent.subarray(1), (number, i) => i + 1 - number);
  await reader.column(frame.subarray(1), next());
  return { n, parent, frame };
}

/** @param {Reader} reader */
async function readProcesses(reader) {
  const processes = [];
  const fields = new Float64Array(3);
  for (let n = await reader.number(); n > 0; n--) {
    const [pid, name, command] = await reader.column(fields);
    processes.push({ pid, name, command });
  }
  return processes;
}

/** @param {Reader} reader */
async function readThreads(reader) {
  const n = await reader.number();
  const process = await reader.column(new Uint32Array(n), changes());
  const tid = await reader.column(new Uint32Array(n), changes());
  const name = await reader.column(new Uint32Array(n), changes());
  const start = await reader.column(new Float64Array(n), changes());
  const length = await reader.column(new Float64Array(n));
  return Array.from(tid, (_, i) => ({
    process: process[i],
    tid: tid[i],
    name: name[i],
    startNs: start[i],
    endNs: start[i] + length[i],
  }));
}

/** @param {Reader} reader */
async function readStates(reader) {
  const n = await reader.number();
  const name = await reader.column(new Uint32Array(n));
  const kind = await reader.column(new Uint8Array(n));
  return Array.from(name, (_, i) => ({ name: name[i], kind: STATES[kind[i]] }));
}

/**
 * Wait 0 is none. It is not in the data.
 * @param {Reader} reader
 */
async function readWaits(reader) {
  const n = (await reader.number()) + 1;
  const text = new Uint32Array(n);
  const holder = new Int32Array(n).fill(-1);
  await reader.column(text.subarray(1), changes());
  const holders = await reader.column(new Uint32Array(n - 1));
  for (let i = 1; i < n; i++) holder[i] = holders[i - 1] - 1;
  return { waits: Array.from(text), waitHolders: holder };
}

/** @param {Reader} reader */
async function readLabels(reader) {
  const labels = [/** @type {[number, number][]} */ ([])];
  for (let n = await reader.number(); n > 0; n--) {
    const size = await reader.number();
    const pairs = await reader.column(new Uint32Array(2 * size));
    const set = /** @type {[number, number][]} */ ([]);
    for (let i = 0; i < size; i++) set.push([pairs[2 * i], pairs[2 * i + 1]]);
    labels.push(set);
  }
  return labels;
}

/**
 * @param {Reader} reader
 * @param {boolean} hasNative
 */
async function readRows(reader, hasNative) {
  const n = await reader.number();
  const rows = {
    n,
    node: await reader.column(new Uint32Array(n), most()),
    thread: await reader.column(new Uint32Array(n), changes()),
    state: await reader.column(new Uint32Array(n), next()),
    wait: await reader.column(new Uint32Array(n), changes()),
    label: await reader.column(new Uint32Array(n), changes()),
    count: await reader.column(new Float64Array(n)),
    cpu: await reader.column(new Float64Array(n)),
    wall: new Float64Array(n),
  };
  const { cpu } = rows;
  await reader.column(rows.wall, (number, i) => cpu[i] + signed(number));
  if (!hasNative) return rows;
  return { ...rows, native: await reader.column(new Uint32Array(n), most()) };
}

/**
 * Spans, or marks, which are spans without a length.
 * @param {Reader} reader
 */
async function readSpans(reader) {
  const spans = [];
  const time = changes();
  const fields = new Float64Array(4);
  for (let n = await reader.number(); n > 0; n--) {
    const [change, length, thread, name] = await reader.column(fields);
    const startNs = time(change);
    spans.push({ startNs, endNs: startNs + length, thread: thread - 1, name });
  }
  return spans;
}

/**
 * Where a byte is a letter, texts are put together: it is much faster than to
 * decode each string.
 * @param {string} tails
 * @param {Uint32Array} shared
 * @param {Uint32Array} more
 */
function joinAscii(tails, shared, more) {
  const strings = [];
  let before = '';
  for (let i = 0, at = 0; i < more.length; at += more[i++]) {
    before = before.slice(0, shared[i]) + tails.slice(at, at + more[i]);
    strings.push(before);
  }
  return strings;
}

/**
 * A string shares its first bytes with the one before.
 * @param {Reader} reader
 */
async function readStrings(reader) {
  const n = await reader.number();
  const shared = await reader.column(new Uint32Array(n));
  const more = await reader.column(new Uint32Array(n));
  const tails = await reader.take(
    more.reduce((sum, length) => sum + length, 0),
  );
  if (tails.every((byte) => byte < 0x80))
    return joinAscii(new TextDecoder().decode(tails), shared, more);
  const decoder = new TextDecoder();
  const strings = [];
  let bytes = new Uint8Array(256);
  for (let i = 0, at = 0; i < n; at += more[i++]) {
    const length = shared[i] + more[i];
    if (length > bytes.length) {
      const grown = new Uint8Array(2 * length);
      grown.set(bytes);
      bytes = grown;
    }
    bytes.set(tails.subarray(at, at + more[i]), shared[i]);
    strings.push(decoder.decode(bytes.subarray(0, length)));
  }
  return strings;
}

/**
 * Decode a head block.
 * @param {Data | Data[]} elements
 */
export async function decodeHead(elements) {
  const reader = new Reader(Array.isArray(elements) ? elements : [elements]);
  const version = await reader.number();
  if (version !== VERSION)
    throw new Error(`data of version ${version}; expected ${VERSION}`);
  const meta = JSON.parse(
    new TextDecoder().decode(await reader.take(await reader.number())),
  );
  const modules = await readModules(reader);
  const funcs = await readFunctions(reader);
  const frames = await readFrames(reader);
  const nodes = await readNodes(reader);
  const processes = await readProcesses(reader);
  const threads = await readThreads(reader);
  const states = await readStates(reader);
  const { waits, waitHolders } = await readWaits(reader);
  const labels = await readLabels(reader);
  const rows = await readRows(reader, meta.hasNative);
  const marks = (await readSpans(reader)).map(({ startNs, thread, name }) => ({
    timeNs: startNs,
    thread,
    name,
  }));
  const spans = await readSpans(reader);
  const strings = await readStrings(reader);
  return {
    meta,
    strings,
    modules,
    funcs,
    frames,
    nodes,
    processes,
    threads,
    states,
    waits,
    waitHolders,
    labels,
    rows,
    marks,
    spans,
  };
}

/**
 * Where the samples of each thread begin, and N.
 * @param {Reader} reader
 * @param {number} threads
 */
async function readFirst(reader, threads) {
  const first = new Uint32Array(threads + 1);
  let sum = 0;
  await reader.column(first.subarray(1), (number) => (sum += number));
  return first;
}

/**
 * The start of a sample is counted from the end of the last one. A point is at
 * the end of its wall time.
 * @param {Reader} reader
 * @param {Uint32Array} first
 * @param {Numbers} dur
 * @param {Numbers} wall
 */
async function readStarts(reader, first, dur, wall) {
  let thread = 0;
  let before = 0;
  return reader.column(new Float64Array(dur.length), (number, i) => {
    while (i >= first[thread]) {
      thread++;
      before = 0;
    }
    if (dur[i] === 0) before += wall[i];
    const start = before + signed(number);
    before = start + dur[i];
    return start;
  });
}

/**
 * Decode a time block.
 * @param {{threads: unknown[]}} model
 * @param {Data | Data[]} elements
 */
export async function decodeTime(model, elements) {
  const reader = new Reader(Array.isArray(elements) ? elements : [elements]);
  const n = await reader.number();
  const most = await reader.column(new Float64Array(4));
  const [longest, mostCpu, mostWall, mostPoints] = most;
  const first = await readFirst(reader, model.threads.length);
  const row = await reader.column(new Uint32Array(n), next());
  const dur = await reader.column(new (kindFor(longest))(n));
  const cpu = await reader.column(new (kindFor(mostCpu))(n));
  const wall = await reader.column(
    new (kindFor(mostWall))(n),
    (number, i) => (dur[i] > 0 ? dur[i] : cpu[i]) + signed(number),
  );
  const start = await readStarts(reader, first, dur, wall);
  const count = await reader.column(new (kindFor(mostPoints))(n));
  return { n, row, start, dur, cpu, wall, count, first };
}

/**
 * Decode a block that is JSON: the rows of a comparison, or source.
 * @param {Data | Data[]} elements
 */
export async function decodeJson(elements) {
  const reader = new Reader(Array.isArray(elements) ? elements : [elements]);
  await reader.fill(Infinity);
  return JSON.parse(new TextDecoder().decode(reader.bytes));
}
