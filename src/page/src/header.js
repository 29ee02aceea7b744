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
function sumOf(causes) {
  return causes.reduce((sum, cause) => sum + cause.count, 0);
}

/** @typedef {import('./model.js').Meta} Meta */

/** When and where it ran. @param {Meta} meta */
function placeOf(meta) {
  const started = new Date(meta.start);
  const when = Number.isNaN(started.getTime())
    ? ''
    : `${started.toISOString().slice(0, 19).replace('T', ' ')} UTC`;
  return [when, meta.host].filter(Boolean).join(' · ');
}

/** What ran. @param {Meta} meta */
function nameOf(meta) {
  return meta.command || meta.executable || 'profile';
}

/** A page of two runs names both: the new one first. @param {App} app */
export function makeHeader(app) {
  const { meta } = app.model;
  const { before } = meta;
  const facts = el('dl', { class: 'facts' });
  const refresh = () => facts.replaceChildren(...factsOf(app));
  refresh();
  app.listen(refresh);
  return el(
    'header',
    {},
    el(
      'div',
      { class: 'subject' },
      el('h1', { title: meta.command }, nameOf(meta)),
      el('p', { class: 'faint' }, placeOf(meta)),
      before
        ? el(
            'p',
            { class: 'faint', title: before.command },
            `compared with ${nameOf(before)} · ${placeOf(before)}`,
          )
        : null,
    ),
    facts,
    notes(app),
  );
}

/**
 * CPU and wall time, threads, samples and rate are those of the selection.
 * @param {App} app
 */
function factsOf(app) {
  const { meta } = app.model;
  const { range, filters, focus, ignore } = app.state;
  const isPart = range || [filters, focus, ignore].some((list) => list.length);
  const { cpu, wall, ran, looks, threads } = app.selected;
  const length = range ? range[1] - range[0] : meta.wallNs;
  const lost = sumOf(meta.lost);
  const cut = sumOf(meta.cut);
  const rate = isPart ? cpu && (1e9 * ran) / cpu : meta.rate.reached;
  return [
    fact(range ? 'range' : 'run', timeText(length)),
    fact('CPU', timeText(cpu), {
      title: `${percent(cpu, length)} of one CPU`,
    }),
    fact('wall', timeText(wall), {
      title: 'All threads together, waits included',
    }),
    fact(
      'threads',
      count(isPart ? threads.size : meta.threads) +
        (isPart || meta.processes < 2
          ? ''
          : ` in ${count(meta.processes)} processes`),
    ),
    fact('samples', count(ran)),
    fact('looks', count(Math.ceil(looks * meta.looks))),
    fact('rate', rate ? `${count(rate)} / s` : '–', {
      title: meta.rate.text,
    }),
    fact('lost', lost ? count(lost) : 'none', {
      title: meta.lostText,
      bad: lost > NOTABLE * meta.samples,
    }),
    fact('cut', cut ? count(cut) : 'none', {
      title: meta.cutText,
      bad: cut > NOTABLE * meta.samples,
    }),
    fact('cost', `${meta.cost.percent.toFixed(1)} %`, {
      title: meta.cost.text,
    }),
  ];
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
  const lost = sumOf(meta.lost);
  if (lost > NOTABLE * meta.samples) list.push(`lost: ${meta.lostText}`);
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
