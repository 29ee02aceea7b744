// SPDX-License-Identifier: MIT
/**
 * scripts.test.mjs -- functions of Python on a page: their language in the
 * legend and among the filters; the switch of frames, whose choices have the
 * sums of `sprofile report`, --script and --native.
 */
import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, beforeEach, test } from 'node:test';
import {
  launch,
  openPage,
  record,
  run,
  scratch,
  set,
  settle,
} from './browser.mjs';

const PROGRAM = `
import gc, time
def key(x):
    return -x
def work():
    sorted(range(3000), key=key)
    gc.collect(0)
end = time.process_time() + 0.7
while time.process_time() < end:
    work()
`;

const folder = scratch();
const file = join(folder, 'app.sprof');
const pprof = join(folder, 'app.pb.gz');
let browser;
let page;

before(async () => {
  const program = join(folder, 'app.py');
  writeFileSync(program, PROGRAM);
  record(file, ['python3', program]);
  run('convert', file, pprof);
  browser = await launch(process.env.BROWSER ?? 'chrome');
});
beforeEach(() => {
  page = null;
});
after(() => browser?.close());

/** Open the page that sprofile makes with OPTIONS. */
async function open(...options) {
  const html = join(folder, 'app.html');
  run(...options, '-o', html);
  page = await openPage(browser, html);
}

async function close() {
  assert.deepEqual(page.problems, []);
  await page.close();
}

/** Self and total of each function, as the page has them now. */
function shown() {
  return page.evaluate(() => {
    const { functions } = window.sprof.app;
    const { self, total } = window.sprof.app.functionSums('wall');
    return functions.name
      .map((name, f) => [`${name}@${functions.module[f]}`, self[f], total[f]])
      .filter(([, , ns]) => ns > 0)
      .sort(([a], [b]) => (a < b ? -1 : 1));
  });
}

/** The same by the report. */
function reported(...options) {
  const text = run('report', '--json', '-n', '0', ...options);
  return JSON.parse(text)
    .rows.map((row) => [
      `${row.function}@${row.module}`,
      row.wall_flat_ns,
      row.wall_cum_ns,
    ])
    .filter(([, , ns]) => ns > 0)
    .sort(([a], [b]) => (a < b ? -1 : 1));
}

/** Choices of the switch of frames, without those that are disabled. */
const choices = () =>
  page.$$eval('select[aria-label=Frames] option', (list) =>
    list.filter((e) => !e.disabled).map((e) => e.value),
  );

const legend = () =>
  page.$$eval('.legend .entry', (list) => list.map((e) => e.textContent));

test('each choice of frames has the sums of the report', async () => {
  await open('flame', file);
  assert.deepEqual(await choices(), ['usual', 'script', 'native']);
  assert.deepEqual(await shown(), reported(file));
  for (const choice of ['script', 'native', 'usual']) {
    await page.select('select[aria-label=Frames]', choice);
    await settle(page);
    const options = choice === 'usual' ? [] : [`--${choice}`];
    assert.deepEqual(await shown(), reported(...options, file), choice);
  }
  await close();
});

test('stacks of script functions have no native frame', async () => {
  await open('flame', file);
  await page.keyboard.press('y');
  await settle(page);
  assert.match(page.url(), /frames=script/);
  const boxes = await page.evaluate(() => {
    const { app } = window.sprof;
    const key = app.functions.name.indexOf('app.key');
    const { tree } = app;
    const node = tree.func.indexOf(key);
    const path = [];
    for (let at = node; at > 0; at = tree.parent[at])
      path.push(app.functions.name[tree.func[at]]);
    return path;
  });
  assert.deepEqual(boxes, ['app.key', 'app.work', 'app.<module>']);
  await close();
});

/** The hue of a colour, in degrees. */
function hueOf([red, green, blue]) {
  const most = Math.max(red, green, blue);
  const range = most - Math.min(red, green, blue) || 1;
  if (most === red) return (60 * (green - blue)) / range;
  if (most === green) return 120 + (60 * (blue - red)) / range;
  return 240 + (60 * (red - green)) / range;
}

/** Hues of the legend, by name. */
async function legendHues() {
  const list = await page.$$eval('.legend .entry', (entries) =>
    entries.map((e) => [e.textContent, e.firstChild.style.background]),
  );
  return new Map(
    list.map(([name, colour]) => [
      name,
      hueOf(colour.match(/\d+/g).map(Number)),
    ]),
  );
}

test('the legend and the filters have the language', async () => {
  await open('flame', file);
  const hues = await legendHues();
  const python = hues.get('Python');
  for (const [name, hue] of hues)
    assert.ok(name === 'Python' || Math.abs(hue - python) > 15, name);
  const colour = await page.evaluate(() => {
    const { functions } = window.sprof.app;
    const func = functions.name.indexOf('app.work');
    const packed = window.sprof.app.kept.get('functionColours').result[func];
    return [0, 8, 16].map((shift) => (packed >> shift) & 255);
  });
  assert.ok(Math.abs(hueOf(colour) - python) < 10, `${colour}`);
  await set(page, { filters: [{ key: 'module', value: 'Python' }] });
  assert.deepEqual(await shown(), reported('--module', 'Python', file));
  await page.keyboard.press('l');
  const names = await page.$$eval('.choice-name', (list) =>
    list.map((e) => e.textContent),
  );
  assert.ok(names.includes('Python'));
  assert.ok(!names.includes('[generated code]'), 'nothing is generated');
  await close();
});

test('a page that was made with an option offers what it has', async () => {
  for (const [option, list] of [
    ['--script', ['script', 'native']],
    ['--native', []],
  ]) {
    await open('flame', option, file);
    assert.deepEqual(await choices(), list, option);
    assert.deepEqual(await shown(), reported(option, file), option);
    for (const choice of list) {
      await set(page, { frames: choice });
      assert.deepEqual(await shown(), reported(`--${choice}`, file), choice);
    }
    await close();
  }
});

test('a page of a pprof file has the language and script functions', async () => {
  await open('flame', pprof);
  assert.ok((await legend()).includes('Python'), `${await legend()}`);
  assert.deepEqual(await choices(), ['usual', 'script']);
  assert.deepEqual(await shown(), reported(pprof));
  await set(page, { frames: 'script' });
  assert.deepEqual(await shown(), reported('--script', pprof));
  await close();
});

test('a comparison has the switch, too', async () => {
  await open('diff', file, file);
  assert.deepEqual(await choices(), ['usual', 'script', 'native']);
  for (const choice of ['script', 'native']) {
    await set(page, { frames: choice });
    assert.deepEqual(await shown(), reported(`--${choice}`, file), choice);
  }
  await close();
});
