// SPDX-License-Identifier: MIT
/**
 * answers.test.mjs -- in how many clicks a page that was just opened answers
 * the questions of docs/page-compared.md, whose numbers these are.
 */
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { after, before, beforeEach, test } from 'node:test';
import {
  build,
  launch,
  openPage,
  record,
  run,
  scratch,
  settle,
} from './browser.mjs';

const folder = scratch();
const html = join(folder, 'new.html');
const diff = join(folder, 'diff.html');
let browser;
let page;
let clicks;
let hovers;

before(async () => {
  const [old, now, slow] = ['old', 'new', 'slow'].map((name) =>
    join(folder, `${name}.sprof`),
  );
  const program = join(build, 'tests', 'workload', 'known_times');
  record(old, [program, '300', '300']);
  record(now, [program, '300', '600']);
  run('flame', '-o', html, now);
  record(slow, [program, '300', '1500']);
  run('diff', old, slow, '-o', diff);
  browser = await launch(process.env.BROWSER ?? 'chrome');
});
beforeEach(async () => {
  await page?.close();
  page = await openPage(browser, html);
  clicks = 0;
  hovers = 0;
});
after(() => browser.close());

/** The first element of SELECTOR that is in sight and whose text has TEXT. */
async function inSight(selector, text) {
  for (const element of await page.$$(selector)) {
    const seen = await element.evaluate((e) => e.textContent);
    if (!text.test(seen) || !(await element.isIntersectingViewport())) continue;
    return element;
  }
  return null;
}

async function click(selector, text) {
  const element = await inSight(selector, text);
  assert.ok(element, `${selector} with ${text} is in sight`);
  clicks++;
  await element.click();
  await settle(page);
}

async function hover(selector, text) {
  const element = await inSight(selector, text);
  assert.ok(element, `${selector} with ${text} is in sight`);
  hovers++;
  await element.hover();
  await settle(page);
  await page.waitForFunction(() => window.sprof.page.timeline.stale.size === 0);
}

const inside = ['.hottest .name', /^inside$/];

test('which function: no click', async () => {
  assert.ok(await inSight('.hottest li:first-child', /inside/));
  assert.deepEqual([clicks, hovers], [0, 0]);
});

test('who calls it: no click', async () => {
  await hover(...inside);
  assert.ok(await inSight('.tip', /callersmain 100/));
  assert.deepEqual([clicks, hovers], [0, 1]);
});

test('when, and which thread: no click', async () => {
  await hover(...inside);
  const lit = await page.evaluate(() => {
    const { strips, rows } = window.sprof.page.timeline;
    return rows
      .filter(({ key }) => strips.get(key).matched.some((ns) => ns > 0))
      .map(({ name }) => name);
  });
  assert.deepEqual(lit, ['known_times']);
  assert.ok(await inSight('.lane-name', /^known_times$/));
  assert.deepEqual([clicks, hovers], [0, 1]);
});

test('what a thread waited for: no click; what held it: one', async () => {
  assert.ok(await inSight('.largest-waits li', /mutex of known_times/));
  assert.deepEqual([clicks, hovers], [0, 0]);
  await click('.largest-waits .holder', /known_times held it/);
  const names = await page.evaluate(() => {
    const { layout, tree, functions } = window.sprof.app;
    return layout.levels.flatMap(({ node }) =>
      [...node].map((n) => functions.name[tree.func[n]]),
    );
  });
  assert.ok(names.includes('inside'));
  assert.deepEqual([clicks, hovers], [1, 0]);
});

test('all waits are one click away, each with its threads', async () => {
  await click('.largest-waits .more', /^All waits$/);
  assert.ok(await inSight('.waits tr', /waiter.*mutex of known_times/));
  assert.ok(await inSight('.waits tr td:nth-child(2)', /^1$/));
  assert.equal(await page.$('.largest-waits'), null);
  assert.deepEqual([clicks, hovers], [1, 0]);
});

test('on 400 pixels the table has its names in sight', async () => {
  for (const file of [html, diff]) {
    await page.close();
    const size = { width: 400, height: 800 };
    page = await openPage(browser, file, { hash: 'view=table', size });
    await settle(page);
    const name = await inSight('.functions .name', /^inside$/);
    const box = await name.boundingBox();
    assert.ok(box.x >= 0 && box.x + box.width <= 400, JSON.stringify(box));
  }
});

test('what changed: no click', async () => {
  await page.close();
  page = await openPage(browser, diff);
  assert.ok(await inSight('.changed li:first-child', /^\+.*inside$/));
  const clipped = await page.$$eval('.changed .number', (list) =>
    list.some((e) => e.scrollWidth > e.clientWidth),
  );
  assert.ok(!clipped, 'changes have room');
  assert.deepEqual([clicks, hovers], [0, 0]);
});

test('a comparison names both runs, the new one first', async () => {
  await page.close();
  page = await openPage(browser, diff);
  const texts = await page.$$eval('.subject > *', (all) =>
    all.map((e) => e.textContent),
  );
  assert.match(texts[0], /known_times 300 1500$/);
  assert.match(texts[2], /^compared with .*known_times 300 300 · .* UTC/);
});
