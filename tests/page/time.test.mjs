// SPDX-License-Identifier: MIT
/** time.test.mjs -- the time strip of a real program, with the pointer. */
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import {
  launch,
  openPage,
  record,
  run,
  scratch,
  set,
  settle,
  state,
} from './browser.mjs';

const folder = scratch();
const html = join(folder, 'time.html');
let browser;
let page;

/** Two threads: one works first and waits then, the other the other way. */
const PROGRAM = `
import threading, time
def first(n):
    return sum(i * i for i in range(n))
def second(n):
    return len([str(i) for i in range(n)])
def until(work, seconds):
    end = time.thread_time() + seconds
    while time.thread_time() < end:
        work(2000)
turn, over = threading.Event(), threading.Event()
def early():
    until(first, 2)
    turn.set()
    over.wait()
thread = threading.Thread(target=early)
thread.start()
turn.wait()
until(second, 2)
over.set()
thread.join()
`;

before(async () => {
  const file = join(folder, 'time.sprof');
  record(file, ['python3', '-c', PROGRAM]);
  run('convert', file, html);
  browser = await launch(process.env.BROWSER ?? 'chrome');
  page = await openPage(browser, html);
});
after(async () => {
  try {
    assert.deepEqual(page?.problems ?? [], []);
  } finally {
    await browser?.close();
  }
});

const total = () => page.evaluate(() => window.sprof.app.treeSums.total[0]);

/** Drag from FROM to TO, shares of the strip; HELD is a key. */
async function drag(from, to, held) {
  const area = await (await page.$('.lane-area')).boundingBox();
  if (held) await page.keyboard.down(held);
  await page.mouse.move(area.x + from * area.width, area.y + 10);
  await page.mouse.down();
  await page.mouse.move(area.x + to * area.width, area.y + 12, { steps: 4 });
  await page.mouse.up();
  if (held) await page.keyboard.up(held);
  await settle(page);
}

test('lanes are worked out', async () => {
  await page.waitForFunction(() => {
    const { timeline } = window.sprof.page;
    return timeline.rows.every((row) => timeline.strips.has(row.key));
  });
  const { running, cpu } = await page.evaluate(() => {
    const { timeline } = window.sprof.page;
    let sum = 0;
    for (const strip of timeline.strips.values())
      for (const n of strip.running) sum += n;
    return { running: sum, cpu: window.sprof.app.treeSums.total[0] };
  });
  assert.ok(Math.abs(running - cpu) < 0.02 * cpu, `${running} of ${cpu}`);
});

test('a drag selects, and everything follows', async () => {
  const whole = await total();
  await drag(0.1, 0.4);
  const { range } = await state(page);
  const wall = await page.evaluate(() => window.sprof.app.model.meta.wallNs);
  assert.ok(Math.abs(range[0] / wall - 0.1) < 0.02);
  assert.ok(Math.abs(range[1] / wall - 0.4) < 0.02);
  assert.ok((await total()) < whole);
  assert.match(
    await page.$eval('.chips', (e) => e.textContent),
    /time \d+\.\d+–\d+\.\d+ s/,
  );
  await page.focus('.lane-area');
  await page.keyboard.press('ArrowRight');
  await settle(page);
  assert.ok((await state(page)).range[0] > range[0]);
  await page.keyboard.press('Escape');
  await settle(page);
  assert.equal(await total(), whole);
});

test('a drag with Ctrl is the baseline', async () => {
  await drag(0.6, 0.9);
  await drag(0.1, 0.4, 'Control');
  const { base, colour } = await state(page);
  assert.ok(base);
  assert.equal(colour, 'difference');
  const { now, before: old } = await page.evaluate(() => ({
    now: window.sprof.app.treeSums.total[0],
    before: window.sprof.app.treeBase.total[0],
  }));
  assert.ok(now > 0 && old > 0);
  await set(page, { view: 'table', sort: 'dself' });
  await settle(page);
  const head = await page.$$eval('th', (list) =>
    list.map((e) => e.textContent),
  );
  assert.ok(head.some((title) => title.startsWith('± self')));
  await set(page, { view: 'flame', base: null, range: null, colour: 'module' });
});

test('the heat map: a cell is a range', async () => {
  await page.keyboard.press('x');
  await settle(page);
  const area = await (await page.$('.lane-area canvas')).boundingBox();
  await page.mouse.click(area.x + area.width * 0.3, area.y + area.height * 0.6);
  await settle(page);
  const { range } = await state(page);
  const cell = await page.evaluate(() => window.sprof.page.timeline.grid.cell);
  assert.equal(range[1] - range[0], cell);
  const sum = await page.evaluate(() => {
    const { heat } = window.sprof.page.timeline;
    return heat.running.reduce((a, b) => a + b, 0);
  });
  await set(page, { range: null, strip: 'lanes' });
  const whole = await total();
  assert.ok(Math.abs(sum - whole) < 0.02 * whole);
});

test('search lights the lanes', async () => {
  await set(page, { search: 'unicode|str|list|long' });
  await page.waitForFunction(() => {
    const { timeline } = window.sprof.page;
    return timeline.rows.every((row) => timeline.strips.has(row.key));
  });
  const matched = await page.evaluate(() => {
    let sum = 0;
    for (const strip of window.sprof.page.timeline.strips.values())
      for (const n of strip.matched) sum += n;
    return sum;
  });
  assert.ok(matched > 0);
  await set(page, { search: '' });
});

test('the order of time', async () => {
  await set(page, { order: 'time', value: 'wall' });
  const { width, whole, ordered } = await page.evaluate(() => ({
    width: window.sprof.app.layout.width,
    whole: window.sprof.app.treeSums.total[0],
    ordered: window.sprof.app.layout.ordered,
  }));
  assert.ok(ordered);
  assert.equal(width, whole);
  await set(page, { order: 'heavy', value: 'cpu' });
});

test('threads of one name open', async () => {
  await page.evaluate(() => {
    const { timeline } = window.sprof.page;
    timeline.open.add(timeline.rows[0].key);
    timeline.fillNames();
  });
  const rows = await page.$$eval('.lane-row', (list) => list.length);
  assert.ok(rows >= 2);
});
