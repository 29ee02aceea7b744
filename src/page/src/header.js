// SPDX-License-Identifier: MIT
/** header.js -- what ran, how long, and what is missing: always in sight. */
import { el } from './dom.js';
import { count, percent, time as timeText } from './format.js';

/** @typedef {import('./app.js').App} App */

/** Losses beyond this share of all samples are a note. */
const NOTABLE = 0.01;

/**
 * @param {string} key
 * @param {string} text
 * @param {{title?: string, bad?: boolean}} [more]
 */
function fact(key, text, { title, bad } = {}) {
  return el(
    'div',
    { class: bad ? 'fact bad' : 'fact', title: title ?? null },
    el('dt', {}, key),
    el('dd', {}, text),
  );
}

/** @param {{cause: string, count: number}[]} causes */
function causesText(causes) {
  return causes
    .map((cause) => `${count(cause.count)} ${cause.cause}`)
    .join(', ');
}

/** @param {App} app */
export function makeHeader(app) {
  const { meta } = app.model;
  const lost = meta.lost.reduce((sum, cause) => sum + cause.count, 0);
  const cut = meta.cut.reduce((sum, cause) => sum + cause.count, 0);
  const started = new Date(meta.start);
  const when = Number.isNaN(started.getTime())
    ? ''
    : `${started.toISOString().slice(0, 19).replace('T', ' ')} UTC`;
  const { cpu, wall } = sumsOf(app);
  return el(
    'header',
    {},
    el(
      'div',
      { class: 'subject' },
      el(
        'h1',
        { title: meta.command },
        meta.command || meta.executable || 'profile',
      ),
      el(
        'p',
        { class: 'faint' },
        [when, meta.host].filter(Boolean).join(' · '),
      ),
    ),
    el(
      'dl',
      { class: 'facts' },
      fact('run', timeText(meta.wallNs)),
      fact('CPU', timeText(cpu), {
        title: `${percent(cpu, meta.wallNs)} of one CPU`,
      }),
      fact('wall', timeText(wall), {
        title: 'All threads together, waits included',
      }),
      fact(
        'threads',
        count(meta.threads) +
          (meta.processes > 1 ? ` in ${count(meta.processes)} processes` : ''),
      ),
      fact('samples', count(meta.samples)),
      fact(
        'rate',
        meta.rate.reached ? `${count(meta.rate.reached)} / s` : '–',
        { title: meta.rate.text },
      ),
      fact('lost', lost ? count(lost) : 'none', {
        title:
          meta.lostText ||
          causesText(meta.lost) ||
          'No sample that was asked for is missing',
        bad: lost > NOTABLE * meta.samples,
      }),
      fact('cut', cut ? count(cut) : 'none', {
        title:
          meta.cutText || causesText(meta.cut) || 'All stacks reach their root',
        bad: cut > NOTABLE * meta.samples,
      }),
      fact('cost', `${meta.cost.percent.toFixed(1)} %`, {
        title: meta.cost.text,
      }),
    ),
    notes(app),
  );
}

/** The sums of all rows, of the new side. @param {App} app */
function sumsOf({ model }) {
  const { rows } = model;
  let cpu = 0;
  let wall = 0;
  for (let row = 0; row < rows.n; row++) {
    if (rows.side?.[row]) continue;
    cpu += rows.cpu[row];
    wall += rows.wall[row];
  }
  return { cpu, wall };
}

/** Notes on what is missing; the first ones in sight. @param {App} app */
function notes(app) {
  const { meta, rows } = app.model;
  const list = [...meta.notes];
  const has = (/** @type {string} */ word) =>
    list.some((note) => note.includes(word));
  if (!meta.hasTime && !rows.side && !has('time axis'))
    list.unshift('no time axis: the times of samples are not in this profile');
  if (rows.n === 0 && !has('no samples')) list.unshift('there are no samples');
  if (meta.filter)
    list.unshift(`this is a part of the profile: ${meta.filter}`);
  const lost = meta.lost.reduce((sum, cause) => sum + cause.count, 0);
  if (lost > NOTABLE * meta.samples)
    list.push(`lost: ${meta.lostText || causesText(meta.lost)}`);
  if (list.length === 0) return null;
  const items = list.map((note) => el('li', {}, note));
  if (list.length < 3)
    return el('ul', { class: 'notes', 'aria-label': 'Notes' }, ...items);
  return el(
    'details',
    { class: 'notes' },
    el(
      'summary',
      {},
      `${list[0]} `,
      el('span', { class: 'faint' }, `and ${list.length - 1} notes more`),
    ),
    el('ul', {}, ...items.slice(1)),
  );
}

/** One line on how to read the page. @param {App} app */
export function readingHelp(app) {
  if (app.model.rows.side)
    return 'Two runs: a box is as wide as the mean of both; red has more time in the new one, blue less, stripes may be noise.';
  return 'A box is a function, as wide as its time; what it called stands below it. Click to zoom, drag on the time axis to select, ? for keys.';
}
