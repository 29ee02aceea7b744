// SPDX-License-Identifier: MIT
/**
 * keys.js -- what keys do. They are those of async-profiler's flame graph
 * (0, I, T, N, Ctrl+F) and of speedscope (WASD, n, p, r, 1, 2, 3).
 */
import { button, el } from './dom.js';

/**
 * @typedef {object} Key
 * @property {string[]} keys as KeyboardEvent has them; "Shift+" and "Ctrl+" before
 * @property {string} title
 * @property {() => void} run
 */

/**
 * @param {Record<string, () => void>} actions
 * @returns {[string, Key[]][]}
 */
export function keyTable(actions) {
  const key = (
    /** @type {string} */ keys,
    /** @type {string} */ title,
    /** @type {string} */ action,
  ) => ({
    keys: keys.split(' '),
    title,
    run: () => actions[action](),
  });
  return [
    [
      'Views',
      [
        key('1', 'flame graph', 'flame'),
        key('2', 'table: functions, callers, callees', 'table'),
        key('3 t', 'call tree', 'tree'),
        key('4', 'waits', 'waits'),
        key('5', 'changes, on a page of two profiles', 'changes'),
        key('6', 'source, where the page has it', 'source'),
        key('v', 'CPU, wall, waiting, runnable', 'value'),
        key('m', 'colour by module, state, difference', 'colour'),
        key('g', 'group by nothing, thread, process, ...', 'group'),
        key('o', 'order: heaviest left, name, time', 'order'),
      ],
    ],
    [
      'Flame graph',
      [
        key('0', 'show all: no zoom, no hidden stacks', 'reset'),
        key('i', 'turn over: root at the top or at the bottom', 'flip'),
        key('b', 'callers first: from the leaf', 'invert'),
        key('r', 'fold recursion', 'fold'),
        key('w', 'zoom in', 'zoomIn'),
        key('s', 'zoom out', 'zoomOut'),
        key('a', 'to the left', 'left'),
        key('d', 'to the right', 'right'),
        key('Backspace', 'zoom to the caller', 'up'),
        key('f', 'focus: only stacks with the chosen function', 'focus'),
        key(
          'h',
          'hide stacks with the chosen function (also Ctrl or Alt and click)',
          'hide',
        ),
        key('c', 'copy the stack', 'copyStack'),
      ],
    ],
    [
      'Search',
      [
        key('Ctrl+f /', 'search by regular expression', 'search'),
        key('n', 'next match; without a search the next thread', 'next'),
        key('Shift+N p', 'the one before', 'previous'),
      ],
    ],
    [
      'Time',
      [
        key(
          'z',
          'the selected range fills the axis, or all of it again',
          'zoomTime',
        ),
        key('x', 'heat map or lanes', 'heat'),
        key('e', 'the selected range becomes the baseline', 'baseline'),
      ],
    ],
    [
      'Page',
      [
        key('l', 'filters', 'filters'),
        key('k', 'copy what is seen as text', 'copyView'),
        key('Shift+D', 'light or dark', 'theme'),
        key('?', 'this page', 'help'),
        key(
          'Escape',
          'undo: search, choice, zoom, range, filters, one after the other',
          'escape',
        ),
      ],
    ],
  ];
}

/**
 * The name of the key of EVENT in a table of keys.
 * @param {KeyboardEvent} event
 */
function nameOf(event) {
  const letter = event.key.length === 1 ? event.key : event.key;
  if (event.ctrlKey || event.metaKey) return `Ctrl+${letter.toLowerCase()}`;
  if (event.shiftKey && /^[a-z]$/i.test(letter))
    return `Shift+${letter.toUpperCase()}`;
  return /^[A-Z]$/.test(letter) ? letter.toLowerCase() : letter;
}

/**
 * @param {[string, Key[]][]} table
 */
export function listenKeys(table) {
  /** @type {Map<string, Key>} */
  const known = new Map();
  for (const [, keys] of table)
    for (const key of keys) for (const name of key.keys) known.set(name, key);
  addEventListener('keydown', (event) => {
    if (event.altKey || event.defaultPrevented) return;
    const target = /** @type {Element} */ (event.target);
    const isTyping = target.matches?.(
      'input:not([type=checkbox]), textarea, select',
    );
    const name = nameOf(event);
    if (isTyping && name !== 'Ctrl+f') return;
    if (document.querySelector('dialog[open]')) return;
    const key = known.get(name);
    if (!key) return;
    event.preventDefault();
    key.run();
  });
}

/**
 * The page of keys and words.
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
        el(
          'section',
          {},
          el('h3', {}, title),
          el(
            'dl',
            {},
            ...keys.flatMap(({ keys: names, title: text }) => [
              el(
                'dt',
                {},
                ...names.map((name) =>
                  el('kbd', {}, name.replace('Shift+N', 'Shift+N')),
                ),
              ),
              el('dd', {}, text),
            ]),
          ),
        ),
      ),
      el(
        'section',
        {},
        el('h3', {}, 'With the pointer'),
        el(
          'dl',
          {},
          ...[
            [
              'click a box',
              'zoom to it; the side shows its callers, threads and waits',
            ],
            [
              'Ctrl+wheel',
              'zoom at the pointer, in the flame graph and on the time axis',
            ],
            ['drag', 'move the flame graph; on the time axis select a range'],
            [
              'Ctrl+drag',
              'on the time axis: the baseline, with which the selection is compared',
            ],
            ['double click', 'on the time axis: end the range'],
          ].flatMap(([key, text]) => [el('dt', {}, key), el('dd', {}, text)]),
        ),
      ),
      el(
        'section',
        {},
        el('h3', {}, 'Words'),
        el(
          'dl',
          {},
          ...[
            ['CPU', 'time on a CPU, in user code and in the kernel'],
            ['wall', 'all time: each thread has a second of it each second'],
            [
              'self, total',
              'in the function itself; while it was on the stack',
            ],
            ['runnable', 'the thread could have run, and waited for a CPU'],
            [
              'lost',
              'asked, but there is no stack; the cause stands beside it',
            ],
            [
              'cut',
              'a stack that ends before its root, with [truncated] there',
            ],
            [
              '[not sampled]',
              'CPU time that a clock counted and no sample stands for',
            ],
            ['points', 'samples of equal weight that would tell as much'],
            ['±', '95 % interval of a share, by the points'],
          ].flatMap(([key, text]) => [el('dt', {}, key), el('dd', {}, text)]),
        ),
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
