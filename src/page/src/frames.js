// SPDX-License-Identifier: MIT
/**
 * frames.js -- which frames are seen on stacks. Of an interpreter these are the
 * usual ones, those of functions of Python or PHP alone (--script), or all
 * native ones too (--native). Idle threads that do not run have one frame.
 * Rows stay; their stacks are others.
 */
import { KIND } from './model.js';

/**
 * @typedef {import('./model.js').Model} Model
 * @typedef {Model['meta']['frames']} Frames
 */

/**
 * What the data of MODEL can show.
 * @param {Model} model
 * @returns {Frames[]}
 */
export function choicesOf({ meta }) {
  /** @type {Frames[]} */
  const choices = [meta.frames];
  if (meta.frames === 'usual') choices.push('script');
  if (meta.hasNative) choices.push('native');
  return choices;
}

/**
 * MODEL with FRAMES. What its data cannot show is left as it is.
 * @param {Model} model
 * @param {Frames} frames
 * @returns {Model}
 */
export function withFrames(model, frames) {
  const { rows, meta } = model;
  if (frames === meta.frames) return model;
  if (frames === 'script') return scriptsAlone(model);
  if (frames !== 'native' || !rows.native) return model;
  return { ...model, rows: { ...rows, node: rows.native } };
}

/**
 * MODEL where all but the CPU time of idle threads is one function. The writer of the
 * page found these threads (model/idle.h).
 * @param {Model} model
 * @returns {Model}
 */
export function foldIdle(model) {
  const { rows, states, meta } = model;
  if (!meta.idle) return model;
  const { node, threads } = meta.idle;
  const folds = (/** @type {number} */ row) =>
    states[rows.state[row]].kind !== 'running' &&
    threads.includes(rows.thread[row]);
  return {
    ...model,
    rows: {
      ...rows,
      node: rows.node.map((own, row) => (folds(row) ? node : own)),
    },
  };
}

/**
 * Native functions belong to the function of the interpreter that calls them,
 * and such a function is called by the next outer one. A stack without one
 * stays.
 * @param {Model} model
 * @returns {Model}
 */
function scriptsAlone(model) {
  const { nodes, frames, funcs, rows } = model;
  const parent = nodes.parent.slice();
  const shown = Uint32Array.from(parent.keys());
  const isScript = Uint8Array.from(nodes.frame, (frame, node) =>
    node > 0 && funcs.kind[frames.func[frame]] === KIND.script ? 1 : 0,
  );
  for (let node = 1; node < nodes.n; node++) {
    let above = shown[parent[node]];
    if (isScript[node])
      while (above > 0 && !isScript[above]) above = parent[above];
    else if (isScript[above]) shown[node] = above;
    parent[node] = above;
  }
  return {
    ...model,
    nodes: { ...nodes, parent },
    rows: { ...rows, node: rows.node.map((node) => shown[node]) },
  };
}
