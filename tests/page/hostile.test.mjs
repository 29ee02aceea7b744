// SPDX-License-Identifier: MIT
/**
 * hostile.test.mjs -- a program controls its names, and profiles may have any
 * size: the page shows them, and runs no code of theirs.
 */
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import {
  build,
  launch,
  openPage,
  run,
  scratch,
  set,
  settle,
} from './browser.mjs';
import { writePprof } from './pprof.mjs';

const folder = scratch();
let browser;
before(async () => {
  browser = await launch(process.env.BROWSER ?? 'chrome');
});
after(() => browser.close());

const BREAK = '</script><script>window.broken = 1</script>';
const NAMES = [
  BREAK,
  '<img src=x onerror="window.broken = 2">',
  '"><svg onload=window.broken=3>',
  "'; window.broken = 4; //",
  '<!--SPROF-DATA-->',
  'javascript:window.broken=5',
  '&lt;b&gt;&#x3c;script&#x3e;',
  'operator<< <a&b, "c">',
  '\u202eevil\u200b',
  '${window.broken=6}',
  '__proto__',
  'constructor',
  'a'.repeat(20000),
  'tab\tand\u0001control',
];

async function open(name, samples) {
  const file = join(folder, `${name}.pb.gz`);
  const html = join(folder, `${name}.html`);
  writePprof(file, samples);
  run('convert', file, html);
  return openPage(browser, html);
}

const sample = (stack, labels = {}, cpu = 1e6) => ({
  stack,
  cpu,
  wall: cpu,
  labels: { thread: 'main', tid: 1, state: 'running', ...labels },
});

/** Look at all views with the names everywhere. */
async function lookAtAll(page) {
  for (const view of ['table', 'tree', 'waits', 'flame'])
    for (const group of ['thread', 'none', NAMES[1]]) {
      await set(page, { view, group });
      await settle(page);
    }
  await page.evaluate(() => window.sprof.page.filters.open());
  await settle(page);
  await page.keyboard.press('Escape');
  await page.evaluate(() => window.sprof.page.actions.saveSvg());
}

test('names are texts', async () => {
  const page = await open(
    'names',
    NAMES.map((name, i) =>
      sample(['leaf', name, 'root'], {
        thread: name.slice(0, 100),
        tid: i + 1,
        [NAMES[1]]: name.slice(0, 100),
      }),
    ),
  );
  await lookAtAll(page);
  for (const name of NAMES.slice(0, 6)) {
    await set(page, { chosen: `${name}@`, view: 'flame', search: name });
    await settle(page);
  }
  assert.equal(await page.evaluate(() => window.broken), undefined);
  assert.equal(await page.$$eval('script', (list) => list.length), 4);
  assert.equal(
    await page.$$eval('img, iframe, object', (list) => list.length),
    0,
  );
  await set(page, { chosen: '', search: '', view: 'flame' });
  await settle(page);
  const titles = await page.$$eval('.hottest .name', (list) =>
    list.map((e) => e.textContent),
  );
  assert.deepEqual(titles, ['leaf']);
  await set(page, { view: 'table', search: '', chosen: '' });
  const shown = await page.$$eval('.functions .name', (list) =>
    list.map((e) => e.textContent),
  );
  assert.ok(shown.includes(BREAK));
  assert.deepEqual(page.problems, []);
});

test('no name stands in the file', () => {
  const html = readFileSync(join(folder, 'names.html'), 'utf8');
  assert.ok(!html.includes('window.broken'));
  assert.ok(html.includes("default-src 'none'"));
});

test('a name of an address runs nothing', async () => {
  const page = await openPage(browser, join(folder, 'names.html'), {
    hash: 'view=%3Cscript%3E&group=%3Cimg%20src=x%20onerror=broken%3E&search=(((&zoom=1.x.-9&chosen=x%3Cb%3E&focus=(',
  });
  assert.equal(await page.evaluate(() => window.broken), undefined);
  assert.deepEqual(page.problems, []);
});

test('100,000 threads', { timeout: 240000 }, async () => {
  const samples = [];
  for (let i = 0; i < 100000; i++)
    samples.push(
      sample([`work_${i % 50}`, 'root'], {
        thread: `thread-${i % 3000}`,
        tid: i + 1,
      }),
    );
  const page = await open('threads', samples);
  assert.equal(
    await page.$eval('.facts', (e) => /threads100,000/.test(e.textContent)),
    true,
  );
  await lookAtAll(page);
  assert.equal(
    await page.evaluate(() => window.sprof.app.treeSums.total[0]),
    1e11,
  );
  assert.deepEqual(page.problems, []);
  await page.close();
});

test('stacks of 1 and of 10,000 frames', { timeout: 240000 }, async () => {
  const deep = Array.from({ length: 10000 }, (_, i) => `f${i % 7}`);
  const page = await open('deep', [sample(deep), sample(['alone'])]);
  await lookAtAll(page);
  const levels = () =>
    page.evaluate(() => window.sprof.app.layout.levels.length);
  await set(page, { group: 'none' });
  assert.equal(await levels(), 10001);
  await set(page, { invert: true });
  assert.equal(await levels(), 10001);
  await settle(page);
  assert.deepEqual(page.problems, []);
});

test('one sample', async () => {
  const page = await open('one', [sample(['only'])]);
  await lookAtAll(page);
  assert.equal(
    await page.$eval('.hottest .name', (e) => e.textContent),
    'only',
  );
  assert.deepEqual(page.problems, []);
});

test('one sample and none of a recording', async () => {
  const spool = join(folder, 'few.sprof');
  execFileSync(join(build, 'tests', 'workload', 'make_spool'), [spool]);
  const html = join(folder, 'few.html');
  run('convert', '--thread', 'worker', '--state', 'running', spool, html);
  const one = await openPage(browser, html);
  await lookAtAll(one);
  const names = (page) =>
    page.$$eval('.hottest .name', (list) => list.map((e) => e.textContent));
  assert.deepEqual(await names(one), ['lib.so+0x30']);
  assert.equal(
    await one.evaluate(() => window.sprof.app.treeSums.total[0]),
    1e6,
  );
  assert.match(
    await one.$eval('.notes', (e) => e.textContent),
    /a part of the profile: --thread worker/,
  );
  assert.deepEqual(one.problems, []);
  // A filter that leaves nothing ends with status 1, and the page is written.
  assert.throws(
    () => run('convert', '--thread', 'nosuch', spool, html),
    ({ status }) => status === 1,
  );
  const none = await openPage(browser, html);
  await lookAtAll(none);
  assert.match(
    await none.$eval('.notes', (e) => e.textContent),
    /there are no samples/,
  );
  await set(none, { view: 'flame', group: 'none' });
  assert.equal(
    await none.$eval('.side .empty', (e) => e.textContent),
    'The profile has no samples.',
  );
  for (const view of ['table', 'waits']) {
    await set(none, { view });
    assert.ok(await none.$(`.${view}-view .empty`));
  }
  assert.deepEqual(none.problems, []);
});

test('a page whose data is damaged says so', async () => {
  const html = readFileSync(join(folder, 'one.html'), 'utf8');
  const broken = join(folder, 'broken.html');
  writeFileSync(broken, html.replace(/(id="sprof-head">[^<]{40})[^<]*/, '$1'));
  const page = await openPage(browser, broken);
  const text = await page.$eval('.failed', (e) => e.textContent);
  assert.match(text, /cannot be read/);
});
