// SPDX-License-Identifier: MIT
/** help.js -- the page of keys and words. */
import { button, el } from './dom.js';

/** @typedef {import('./keys.js').Key} Key */

const POINTER = [
  ['click a box', 'zoom to it; the side shows its callers, threads and waits'],
  [
    'Ctrl+wheel',
    'zoom at the pointer, in the flame graph and on the time axis',
  ],
  ['drag', 'move the flame graph; on the time axis select a range'],
  [
    'Ctrl+drag',
    'on the time axis: the baseline, with which the rest is compared',
  ],
  ['double click', 'on the time axis: end the range'],
];

const WORDS = [
  ['CPU', 'time on a CPU, in user code and in the kernel'],
  ['wall', 'all time: each thread has a second of it each second'],
  ['self, total', 'in the function itself; while it was on the stack'],
  ['runnable', 'the thread waited for a CPU'],
  ['lost', 'asked, but there is no stack; the cause stands beside it'],
  ['cut', 'a stack that ends before its root, with [truncated] there'],
  ['[not sampled]', 'CPU time that a clock counted and no sample stands for'],
  ['points', 'samples of equal weight that would tell as much'],
  ['±', '95 % interval of a share; few samples are dim'],
];

/**
 * @param {string} title
 * @param {[string[], string][]} lines
 * @param {boolean} areKeys
 */
function section(title, lines, areKeys) {
  const terms = lines.flatMap(([names, text]) => [
    el(
      'dt',
      {},
      ...names.map((name) => (areKeys ? el('kbd', {}, name) : name)),
    ),
    el('dd', {}, text),
  ]);
  return el('section', {}, el('h3', {}, title), el('dl', {}, ...terms));
}

/**
 * @param {[string, Key[]][]} table
 * @param {string[]} summary
 */
export function makeHelp(table, summary) {
  const dialog = el(
    'dialog',
    { class: 'panel help', 'aria-label': 'Keys and help' },
    el(
      'div',
      { class: 'columns' },
      ...table.map(([title, keys]) =>
        section(
          title,
          keys.map(({ keys: names, title: text }) => [names, text]),
          true,
        ),
      ),
      section(
        'With the pointer',
        POINTER.map(([key, text]) => [[key], text]),
        false,
      ),
      section(
        'Words',
        WORDS.map(([key, text]) => [[key], text]),
        false,
      ),
    ),
    summary.length > 0 ? el('pre', {}, summary.join('\n')) : null,
    button('Close', () => dialog.close(), { class: 'close' }),
  );
  dialog.addEventListener('click', (event) => {
    if (event.target === dialog) dialog.close();
  });
  return dialog;
}
