// SPDX-License-Identifier: MIT
/** export.js -- what is seen, as text, SVG and PNG. */
import { nodeName } from './calltree.js';
import { theme } from './colours.js';
import { save } from './dom.js';
import { nodeColours } from './boxcolours.js';
import { percent, seconds, time as timeText } from './format.js';
import { css } from './pixels.js';
import { collectWaits, waitName } from './waits.js';

/**
 * @typedef {import('./app.js').App} App
 * @typedef {import('./flame.js').Flame} Flame
 */

/** Lines of a text; and what is too narrow for it or for an SVG. */
const LINES = 60;
const LEAST_SHARE = 0.005;
const LEAST_PIXELS = 0.3;
const LEVEL = 18;
const WIDTH = 1200;

/** @param {string} text */
function markup(text) {
  return text
    .replace(/[&<>"']/g, (c) => `&#${c.charCodeAt(0)};`)
    .replace(/[^\t\n\r\u0020-\ud7ff\ue000-\ufffd]/g, '\ufffd');
}

/** What is looked at, in a line. @param {App} app */
export function describeSelection(app) {
  const { state, model } = app;
  const parts = [`${timeText(app.treeSums.total[0])} ${state.value}`];
  if (state.range)
    parts.push(`time ${seconds(state.range[0])}-${seconds(state.range[1])} s`);
  if (state.base)
    parts.push(`against ${seconds(state.base[0])}-${seconds(state.base[1])} s`);
  for (const { key, value } of state.filters) parts.push(`${key} ${value}`);
  for (const text of state.focus) parts.push(`focus ${text}`);
  for (const text of state.ignore) parts.push(`ignore ${text}`);
  return `${model.meta.command}: ${parts.join(', ')}`;
}

/** The present view as text. @param {App} app */
export function viewText(app) {
  const lines = [describeSelection(app), ''];
  const { view } = app.state;
  if (view === 'flame' || view === 'tree') lines.push(...treeLines(app));
  else if (view === 'waits')
    for (const wait of collectWaits(app).slice(0, LINES))
      lines.push(
        `${seconds(wait.wall).padStart(10)} s  ${waitName(app, wait)}`,
      );
  else lines.push(...functionLines(app));
  return lines.join('\n') + '\n';
}

/** @param {App} app */
function treeLines(app) {
  const { tree, functions, treeSums, layout } = app;
  const { total } = treeSums;
  const lines = [];
  /** @type {[number, number][]} */
  const boxes = [];
  layout.levels.forEach((level) =>
    level.node.forEach((node, i) => boxes.push([level.from[i], node])),
  );
  boxes.sort((a, b) => a[0] - b[0] || tree.depth[a[1]] - tree.depth[b[1]]);
  for (const [, node] of boxes) {
    if (total[node] < LEAST_SHARE * total[0]) continue;
    lines.push(
      `${percent(total[node], total[0]).padStart(8)}  ${'  '.repeat(Math.min(40, tree.depth[node]))}${nodeName(tree, functions, node)}`,
    );
    if (lines.length === 4 * LINES) break;
  }
  return lines;
}

/** @param {App} app */
function functionLines(app) {
  const { self, total } = app.functionSums();
  const whole = app.treeSums.total[0];
  const lines = ['    self s       %    total s       %  function'];
  const list = Array.from(self.keys())
    .filter((func) => total[func] > 0)
    .sort((a, b) => self[b] - self[a] || total[b] - total[a]);
  for (const func of list.slice(0, LINES)) {
    const module = app.functions.module[func];
    lines.push(
      [
        seconds(self[func]).padStart(10),
        percent(self[func], whole).padStart(8),
        seconds(total[func]).padStart(10),
        percent(total[func], whole).padStart(8),
        `  ${app.functions.name[func]}${module ? ` (${module})` : ''}`,
      ].join(''),
    );
  }
  return lines;
}

/**
 * The flame graph as it is zoomed, as SVG that is readable by itself.
 * @param {App} app
 * @param {Flame} flame
 */
export function makeSvg(app, flame) {
  const { layout, tree, functions, treeSums } = app;
  const colours = theme();
  const colourOf = nodeColours(app, colours);
  const scale = WIDTH / (flame.to - flame.from);
  const height = layout.levels.length * LEVEL + 30;
  const parts = [
    `<svg xmlns="http://www.w3.org/2000/svg" width="${WIDTH}" height="${height}" viewBox="0 0 ${WIDTH} ${height}" font-family="system-ui, sans-serif" font-size="12">`,
    `<rect width="100%" height="100%" fill="${css(colours.ground)}"/>`,
    `<text x="6" y="18" fill="${css(colours.text)}">${markup(describeSelection(app))}</text>`,
  ];
  layout.levels.forEach((level, number) => {
    const row = app.state.flip ? layout.levels.length - 1 - number : number;
    const y = 28 + row * LEVEL;
    for (let i = 0; i < level.node.length; i++) {
      const x = Math.max(0, (level.from[i] - flame.from) * scale);
      const width = Math.min(WIDTH, (level.to[i] - flame.from) * scale) - x;
      if (width < LEAST_PIXELS) continue;
      const node = level.node[i];
      const name = nodeName(tree, functions, node);
      const room = Math.floor((width - 8) / 6.4);
      const text =
        room < 3
          ? ''
          : name.length > room
            ? `${name.slice(0, room - 1)}…`
            : name;
      parts.push(
        `<g><title>${markup(`${name}, ${timeText(treeSums.total[node])}, ${percent(treeSums.total[node], treeSums.total[0])}`)}</title>` +
          `<rect x="${x.toFixed(2)}" y="${y}" width="${Math.max(0.2, width - (width > 3 ? 1 : 0)).toFixed(2)}" height="${LEVEL - 1}" fill="${css(colourOf(node))}"/>` +
          (text
            ? `<text x="${(x + 4).toFixed(2)}" y="${y + 13}" fill="${css(colours.text)}">${markup(text)}</text>`
            : '') +
          '</g>',
      );
    }
  });
  parts.push('</svg>\n');
  return parts.join('\n');
}

/**
 * @param {App} app
 * @param {Flame} flame
 */
export function saveSvg(app, flame) {
  save(new Blob([makeSvg(app, flame)], { type: 'image/svg+xml' }), 'flame.svg');
}

/**
 * The whole flame graph as a picture, also what is out of sight.
 * @param {App} app
 * @param {Flame} flame
 */
export async function savePng(app, flame) {
  const image = new Image();
  const text = new Blob([makeSvg(app, flame)], { type: 'image/svg+xml' });
  const address = URL.createObjectURL(text);
  image.src = address;
  await image.decode();
  URL.revokeObjectURL(address);
  const canvas = document.createElement('canvas');
  const ratio = image.height > 8000 ? 1 : 2;
  canvas.width = image.width * ratio;
  canvas.height = Math.min(16000, image.height * ratio);
  canvas
    .getContext('2d')
    ?.drawImage(image, 0, 0, canvas.width, image.height * ratio);
  canvas.toBlob((blob) => blob && save(blob, 'flame.png'));
}
