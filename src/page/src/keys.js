// SPDX-License-Identifier: MIT
/**
 * keys.js -- what keys do. They are those of async-profiler's flame graph
 * (0, I, T, N, Ctrl+F) and of speedscope (WASD, n, p, r, 1, 2, 3).
 */
/**
 * @typedef {object} Key
 * @property {string[]} keys as KeyboardEvent has them; "Shift+" and "Ctrl+" before
 * @property {string} title
 * @property {() => void} run
 */

/** Titles, and lines of keys, meaning and action. @type {[string, [string, string, string][]][]} */
const KEYS = [
  [
    'Views',
    [
      ['1', 'flame graph', 'flame'],
      ['2', 'table: functions, callers, callees', 'table'],
      ['3 t', 'call tree', 'tree'],
      ['4', 'waits', 'waits'],
      ['5', 'changes, on a page of two profiles', 'changes'],
      ['6', 'source, where the page has it', 'source'],
      ['v', 'CPU, wall, waiting, runnable', 'value'],
      ['m', 'colour by module, state, difference', 'colour'],
      ['g', 'group by nothing, thread, process, ...', 'group'],
      ['o', 'order: heaviest left, name, time', 'order'],
      [
        'y',
        'frames of Python and PHP: usual, script functions alone, all native ones',
        'frames',
      ],
    ],
  ],
  [
    'Flame graph',
    [
      ['0', 'show all: no zoom, no hidden stacks', 'reset'],
      ['i', 'turn over: root at the top or at the bottom', 'flip'],
      ['b', 'callers first: from the leaf', 'invert'],
      ['r', 'fold recursion', 'fold'],
      ['w', 'zoom in', 'zoomIn'],
      ['s', 'zoom out', 'zoomOut'],
      ['a', 'to the left', 'left'],
      ['d', 'to the right', 'right'],
      ['Backspace', 'zoom to the caller', 'up'],
      ['f', 'focus: only stacks with the chosen function', 'focus'],
      [
        'h',
        'hide stacks with the chosen function (also Ctrl or Alt and click)',
        'hide',
      ],
      ['c', 'copy the stack', 'copyStack'],
    ],
  ],
  [
    'Search',
    [
      ['Ctrl+f /', 'search by regular expression', 'search'],
      ['n', 'next match; without a search the next thread', 'next'],
      ['Shift+N p', 'the one before', 'previous'],
    ],
  ],
  [
    'Time',
    [
      [
        'z',
        'the selected range fills the axis, or all of it again',
        'zoomTime',
      ],
      ['x', 'heat map or lanes', 'heat'],
      ['e', 'the selected range becomes the baseline', 'baseline'],
    ],
  ],
  [
    'Page',
    [
      ['l', 'filters', 'filters'],
      ['k', 'copy what is seen as text', 'copyView'],
      ['Shift+D', 'light or dark', 'theme'],
      ['?', 'this page', 'help'],
      [
        'Escape',
        'undo: search, choice, zoom, range, filters, one after the other',
        'escape',
      ],
    ],
  ],
];

/**
 * @param {Record<string, () => void>} actions
 * @returns {[string, Key[]][]}
 */
export function keyTable(actions) {
  return KEYS.map(([title, keys]) => [
    title,
    keys.map(([names, text, action]) => ({
      keys: names.split(' '),
      title: text,
      run: () => actions[action](),
    })),
  ]);
}

/**
 * The name of the key of EVENT in a table of keys.
 * @param {KeyboardEvent} event
 */
function nameOf(event) {
  const letter = event.key;
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
