// SPDX-License-Identifier: MIT
/**
 * facts.test.mjs -- a page of a program of which a test knows what happens
 * when: its lines, the holder of its mutex, its marks and spans, and paper.
 */
import assert from 'node:assert/strict';
import { after, before, beforeEach, test } from 'node:test';
import { launch, openPage, run, scratch, set, settle } from './browser.mjs';
import { recordTimes } from './times.mjs';

const folder = scratch();
const kind = process.env.BROWSER ?? 'chrome';
let browser;
let page;
let times;

before(async () => {
  times = recordTimes(folder);
  browser = await launch(kind);
});
beforeEach(async () => {
  await page?.close();
  page = await openPage(browser, times.html);
});
after(async () => {
  try {
    assert.deepEqual(page?.problems ?? [], []);
  } finally {
    await browser?.close();
  }
});

function report(...options) {
  return JSON.parse(run('report', '--json', '-n', '0', ...options, times.file));
}

/** Self and total of each line of known_times.c, by `report --by line`. */
function linesOf(value, ...options) {
  const lines = new Map();
  for (const row of report('--by', 'line', ...options).rows)
    if (row.file.endsWith('/known_times.c'))
      lines.set(row.line, [row[`${value}_flat_ns`], row[`${value}_cum_ns`]]);
  return lines;
}

/** What the source panel shows: [self, total] and text by line. */
function shownLines() {
  return page.$$eval('.source tbody tr', (rows) =>
    rows.map((row) => {
      const [self, total, , text] = [...row.cells].map(
        (cell) => cell.textContent,
      );
      return [Number(row.dataset.line), self, total, text];
    }),
  );
}

const seconds = (ns) => (ns > 0 ? (ns / 1e9).toFixed(3) : '');

async function compareLines(value, ...options) {
  const expected = linesOf(value, ...options);
  const shown = await shownLines();
  let whole = 0;
  for (const [line, self, total] of shown) {
    const [flat, cum] = expected.get(line) ?? [0, 0];
    assert.equal(self.split(' ')[0], seconds(flat), `self of ${line}`);
    assert.equal(total.split(' ')[0], seconds(cum), `total of ${line}`);
    whole += flat;
  }
  return { shown, whole };
}

test('source: lines have the times that the report has', async () => {
  await page.click('[data-value="source"]');
  await settle(page);
  assert.match(await page.$eval('h3', (e) => e.textContent), /known_times\.c$/);
  const { shown, whole } = await compareLines('cpu');
  const { totals } = report();
  assert.ok(whole > 0.8 * totals.cpu_ns, `${whole} of ${totals.cpu_ns}`);
  for (const number of ['6364136223846793005', '1442695040888963407']) {
    const line = shown.find(([, , , text]) => text.includes(number));
    assert.ok(line && line[1] !== '', `the line with ${number}`);
    const share = line[2].split(' ').slice(1).join(' ');
    const exact = (100 * linesOf('cpu').get(line[0])[1]) / totals.cpu_ns;
    assert.ok(Math.abs(parseFloat(share) - exact) < 0.06, share);
  }
  assert.ok(shown.some(([, , , text]) => text === 'inside(uint64_t ms)'));
});

test('source follows what is counted, and the filters', async () => {
  await set(page, { view: 'source', value: 'wall' });
  await compareLines('wall');
  await set(page, { filters: [{ key: 'thread', value: 'waiter' }] });
  const { shown } = await compareLines('wall', '--thread', 'waiter');
  const line = shown.find(([, , , text]) => text.includes('mutex_lock(&'));
  assert.ok(Number(line[2].split(' ')[0]) > 0.05, 'the waiter waits there');
});

/** Whether the page shows the TIME of the report; a time of 0 is left out. */
function isTime(text, time) {
  return text.startsWith(time) || (text === '' && Number(time) === 0);
}

test('source: the same lines as report --lines', async () => {
  await set(page, { view: 'source', chosen: 'inside@known_times' });
  const shown = new Map((await shownLines()).map((line) => [line[0], line]));
  const text = run('report', '--lines', 'inside', times.file);
  let lines = 0;
  for (const line of text.split('\n')) {
    const found =
      /^ *([\d.]+) +[\d.]+ +[\d.]+ +([\d.]+) +[\d.]+ +(\d+) {2}?(.*)$/.exec(
        line,
      );
    if (!found) continue;
    const [, self, total] = shown.get(Number(found[3]));
    assert.ok(isTime(self, found[1]), line);
    assert.ok(isTime(total, found[2]), line);
    lines++;
  }
  assert.ok(lines >= 1, text);
});

/** The share of each function in what the flame graph shows. */
async function shares() {
  const list = await page.evaluate(() => {
    const { app } = window.sprof;
    const { total } = app.functionSums();
    const whole = app.treeSums.total[0];
    return app.functions.name.map((name, func) => [name, total[func] / whole]);
  });
  return new Map(list.filter(([, share]) => share > 0));
}

test('the holder of a mutex: its stacks at that time', async () => {
  await set(page, { view: 'waits', value: 'wall' });
  const singles = await page.$$('.waits-view table:last-child tbody tr');
  let holder = null;
  for (const row of singles) {
    const text = await row.evaluate((e) => e.textContent);
    if (!/mutex of known_times/.test(text)) continue;
    assert.match(text, /waiter/);
    holder = await row.$('.holder');
    break;
  }
  assert.ok(holder, 'the longest wait names its holder');
  assert.ok(await holder.isVisible());
  const place = await holder.boundingBox();
  const view = await (await page.$('.place')).boundingBox();
  assert.ok(place.x + place.width <= view.x + view.width, 'it is in sight');
  await holder.click();
  await settle(page);
  // The waiter wakes up when the machine has time for it, during behind().
  const seen = await shares();
  // A sample of before() may stand for the first moments of it.
  assert.ok(seen.get('inside') > (seen.get('before') ?? 0), [...seen].join());
  assert.ok(!seen.has('wait_for_it'));
  const { filters, range } = await page.evaluate(() => window.sprof.app.state);
  assert.equal(filters.length, 1);
  const both = report(
    '--thread',
    filters[0].value,
    '--time',
    `${range[0] / 1e9}-${range[1] / 1e9}`,
  );
  assert.equal(
    await page.evaluate(() => window.sprof.app.treeSums.total[0]),
    both.totals.wall_ns,
  );
});

test('the holder of all waits for an object', async () => {
  await set(page, { view: 'waits', value: 'wall' });
  assert.match(
    await page.$eval('.waits tbody', (e) => e.textContent),
    /futex: mutex of known_times \(\d+\)/,
  );
  await page.click('.waits .holder');
  await settle(page);
  const seen = await shares();
  assert.ok(seen.has('inside') && !seen.has('wait_for_it'));
});

/** What is written on the time axis, with its place there, 0 to 1. */
function axisTexts() {
  return page.evaluate(() => {
    const { timeline } = window.sprof.page;
    const { context, width, ratio } = timeline.axisPixels;
    const list = [];
    const { fillText } = context;
    context.fillText = (text, x, y) => {
      list.push({ text, at: x / (width / ratio), y });
      fillText.call(context, text, x, y);
    };
    timeline.paint();
    delete context.fillText;
    return list;
  });
}

/** Marks and spans as the Firefox Profiler gets them: from and to, ns. */
function markers() {
  const { threads, shared } = JSON.parse(
    run('convert', '--format', '.json', times.file, '-'),
  );
  return new Map(
    threads.flatMap(({ markers: list, stringArray }) =>
      list.name.map((name, i) => [
        (stringArray ?? shared.stringArray)[name],
        [list.startTime[i], list.endTime[i]].map((ms) => ms * 1e6),
      ]),
    ),
  );
}

test('marks and spans stand on the axis with their names', async () => {
  const known = markers();
  const { marks, spans, wall } = await page.evaluate(() => {
    const { model } = window.sprof.app;
    const name = (text) => model.strings[text] ?? text;
    return {
      marks: model.marks.map((mark) => [name(mark.name), mark.timeNs]),
      spans: model.spans.map((s) => [name(s.name), s.startNs, s.endNs]),
      wall: model.meta.wallNs,
    };
  });
  assert.deepEqual(
    marks.map(([name]) => name),
    ['locked', 'unlocked'],
  );
  for (const [name, at] of marks)
    assert.ok(Math.abs(known.get(name)[0] - at) < 1e3, name);
  assert.equal(spans.length, 1);
  assert.ok(Math.abs(known.get('inside')[0] - spans[0][1]) < 1e3);
  assert.ok(Math.abs(known.get('inside')[1] - spans[0][2]) < 1e3);
  const written = await axisTexts();
  for (const [name, at] of [...marks, ...spans]) {
    const label = written.find(({ text }) => text === name);
    assert.ok(label, `${name} is not written`);
    assert.ok(Math.abs(label.at - at / wall) < 0.02, `${name}: ${label.at}`);
  }
  const area = await (await page.$('.lane-area')).boundingBox();
  const x = (t) => area.x + (t / wall) * area.width;
  await page.mouse.move(x(marks[1][1]), area.y + 8);
  await settle(page);
  const tip = () => page.$eval('.timeline .tip', (e) => e.textContent);
  assert.match(await tip(), /mark unlocked/);
  await page.mouse.move(x((spans[0][1] + spans[0][2]) / 2), area.y + 8);
  await settle(page);
  assert.match(await tip(), /span inside, [\d.]+ m?s/);
});

/** The columns of the lane ROW that are lit, as a share; and the first. */
function litColumns(row) {
  return page.evaluate((number) => {
    const { timeline } = window.sprof.page;
    const strip = timeline.strips.get(timeline.rows[number].key);
    const columns = [...strip.matched.keys()].filter((i) => strip.matched[i]);
    if (columns.length === 0) return [null, null];
    return [columns[0], columns.at(-1)].map((i) => i / strip.matched.length);
  }, row);
}

/** Wait until the lanes are those of what is lit now. */
async function lanesDone() {
  await settle(page);
  await page.waitForFunction(() => {
    const { strips, stale, rows } = window.sprof.page.timeline;
    return stale.size === 0 && rows.every(({ key }) => strips.has(key));
  });
}

test('the pointer on a function tells its callers, and lights when', async () => {
  const { marks, wall } = await page.evaluate(() => ({
    marks: window.sprof.app.model.marks.map(({ timeNs }) => timeNs),
    wall: window.sprof.app.model.meta.wallNs,
  }));
  const names = await page.$$('.hottest .name');
  for (const name of names)
    if ((await name.evaluate((e) => e.textContent)) === 'inside')
      await name.hover();
  await lanesDone();
  assert.match(
    await page.$eval('.tip:not([hidden])', (e) => e.textContent),
    /^inside.*callersmain 100\.0 %/,
  );
  // A sample stands for the time since the last one, which may be long ago.
  const [locked, unlocked] = marks.map((ns) => ns / wall);
  const close = ([from, to]) => {
    assert.ok(from > locked / 2 && from < unlocked, `${from}`);
    assert.ok(to > locked && to < (unlocked + 1) / 2, `${to}`);
  };
  close(await litColumns(0));
  await page.mouse.move(5, 5);
  await lanesDone();
  assert.deepEqual(await litColumns(0), [null, null]);
  await set(page, { chosen: 'inside@known_times' });
  await lanesDone();
  close(await litColumns(0));
  assert.deepEqual(await litColumns(1), [null, null]);
});

test('few lanes are high', async () => {
  const { height, rows } = await page.evaluate(() => ({
    height: document.querySelector('.lane-area canvas').clientHeight,
    rows: window.sprof.page.timeline.rows.length,
  }));
  assert.equal(rows, 2);
  assert.equal(height, 96);
});

test('paper: white, all rows, no switches', async () => {
  await set(page, { theme: 'dark', view: 'table', value: 'wall' });
  await settle(page);
  await page.evaluate(() => dispatchEvent(new Event('beforeprint')));
  if (kind === 'chrome') await page.emulateMediaType('print');
  const seen = await page.evaluate(() => ({
    ground: getComputedStyle(document.body).backgroundColor,
    hidden: ['.toolbar', '.axis-controls', '.reading'].map(
      (name) => getComputedStyle(document.querySelector(name)).display,
    ),
    clipped: ['.table-scroll', '.place', '.lanes'].map((name) => {
      const e = document.querySelector(name);
      return getComputedStyle(e).overflowY !== 'visible';
    }),
    lane: [
      ...document
        .querySelector('.lane-area canvas')
        .getContext('2d')
        .getImageData(1, 1, 1, 1).data,
    ].slice(0, 3),
  }));
  assert.equal(seen.ground, 'rgb(255, 255, 255)');
  assert.ok(
    seen.lane.every((part) => part > 80),
    String(seen.lane),
  );
  if (kind === 'chrome') {
    assert.deepEqual(seen.hidden, ['none', 'none', 'none']);
    assert.deepEqual(seen.clipped, [false, false, false]);
    await set(page, { view: 'flame' });
    const paper = await page.pdf({ format: 'A4', printBackground: true });
    assert.equal(Buffer.from(paper.slice(0, 5)).toString(), '%PDF-');
    await page.emulateMediaType('screen');
  }
  await page.evaluate(() => dispatchEvent(new Event('afterprint')));
  assert.notEqual(
    await page.$eval('body', (e) => getComputedStyle(e).backgroundColor),
    'rgb(255, 255, 255)',
  );
});
