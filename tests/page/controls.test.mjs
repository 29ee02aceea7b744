// SPDX-License-Identifier: MIT
/**
 * controls.test.mjs -- every view, switch, key, filter and search does what it
 * says, in Chromium. BROWSER=firefox does the same in Firefox.
 */
import assert from 'node:assert/strict';
import { after, before, beforeEach, test } from 'node:test';
import {
  launch,
  openPage,
  reset,
  scratch,
  set,
  settle,
  state,
} from './browser.mjs';
import { writeKnown } from './controls.mjs';

const folder = scratch();
let browser;
let html;
let page;

before(async () => {
  html = writeKnown(folder);
  browser = await launch(process.env.BROWSER ?? 'chrome');
  page = await openPage(browser, html);
});
beforeEach(() => reset(page));
after(async () => {
  try {
    assert.deepEqual(page?.problems ?? [], []);
  } finally {
    await browser?.close();
  }
});

const app = (read) => page.evaluate(read);
const text = (selector) => page.$eval(selector, (e) => e.textContent);
const total = () => app(() => window.sprof.app.treeSums.total[0] / 1e9);
const stops = () => page.waitForFunction(() => !window.sprof.page.flame.motion);
const depth = () => app(() => window.sprof.app.layout.levels.length);

async function press(...keys) {
  for (const key of keys) {
    const [name, ...held] = key.split('+').reverse();
    for (const other of held) await page.keyboard.down(other);
    await page.keyboard.press(name);
    for (const other of held) await page.keyboard.up(other);
  }
  await settle(page);
}

/** Where the box of NAME is on the screen. */
function boxOf(name) {
  return page.evaluate((wanted) => {
    const { flame } = window.sprof.page;
    const { tree, functions, layout } = window.sprof.app;
    for (const [number, level] of layout.levels.entries())
      for (let i = 0; i < level.node.length; i++) {
        if (functions.name[tree.func[level.node[i]]] !== wanted) continue;
        const bounds = flame.element.getBoundingClientRect();
        const scale = bounds.width / (flame.to - flame.from);
        const middle = (level.from[i] + level.to[i]) / 2;
        return {
          x: bounds.left + (middle - flame.from) * scale,
          y: bounds.top + flame.topOf(number) + 8,
        };
      }
    return null;
  }, name);
}

test('the first screen says what ran, and what is missing', async () => {
  assert.match(await text('.facts'), /CPU9\.00 s/);
  assert.match(await text('.facts'), /wall17\.0 s/);
  assert.match(await text('.facts'), /threads2/);
  assert.match(await text('.notes'), /no time axis/);
  assert.match(await text('.hottest li'), /66\.7 %check/);
  assert.equal(await page.$eval('.timeline', (e) => e.hidden), true);
});

test('views', async () => {
  const seen = () => page.$eval('main', (e) => e.firstElementChild.className);
  for (const [key, name] of [
    ['2', 'table-view'],
    ['3', 'tree-view'],
    ['4', 'waits-view'],
    ['1', 'flame'],
    ['t', 'tree-view'],
  ]) {
    await press(key);
    assert.equal(await seen(), name, key);
  }
  for (const [value, name] of [
    ['table', 'table-view'],
    ['waits', 'waits-view'],
  ]) {
    await page.click(`[data-value="${value}"]`);
    await settle(page);
    assert.equal(await seen(), name);
  }
});

test('CPU, wall, waiting, runnable', async () => {
  assert.equal(await total(), 9);
  await press('v');
  assert.equal(await total(), 17);
  await press('v');
  assert.equal(await total(), 8);
  await press('v');
  assert.equal(await total(), 0);
  await page.click('[data-value="wall"]');
  await settle(page);
  assert.equal(await total(), 17);
  assert.equal(
    await page.$eval('[data-value="wall"]', (e) =>
      e.getAttribute('aria-pressed'),
    ),
    'true',
  );
});

test('fold, callers first, turn over, group, order, colour', async () => {
  assert.equal(await depth(), 5);
  await press('r');
  assert.equal(await depth(), 4);
  await press('r', 'b');
  const roots = await app(() =>
    [...window.sprof.app.layout.levels[1].node].map(
      (node) =>
        window.sprof.app.functions.name[window.sprof.app.tree.func[node]],
    ),
  );
  assert.deepEqual(roots, ['check', 'render']);
  await press('b', 'i');
  assert.equal((await state(page)).flip, true);
  const flipped = await boxOf('main');
  await press('i');
  assert.ok(flipped.y > (await boxOf('main')).y);
  await press('g');
  const groups = await app(() => window.sprof.app.tree.groups);
  assert.deepEqual(groups.toSorted(), ['main (10)', 'worker (11)']);
  await page.select('select[aria-label="Group"]', 'request');
  await settle(page);
  assert.deepEqual((await app(() => window.sprof.app.tree.groups)).toSorted(), [
    'no request',
    'request=/a',
    'request=/b',
  ]);
  await press('m');
  assert.equal((await state(page)).colour, 'state');
  await press('m', 'o');
  assert.deepEqual(
    [(await state(page)).colour, (await state(page)).order],
    ['module', 'name'],
  );
});

test('zoom and hover', async () => {
  const box = await boxOf('render');
  await page.mouse.move(box.x, box.y);
  await settle(page);
  const tip = await text('.tip:not([hidden])');
  assert.match(tip, /^render/);
  assert.match(tip, /3\.00 s, 33\.3 %/);
  assert.match(tip, /of view.*of all/);
  await page.mouse.click(box.x, box.y);
  await stops();
  const window_ = await app(() => [
    window.sprof.page.flame.from,
    window.sprof.page.flame.to,
  ]);
  assert.equal(window_[1] - window_[0], 3e9);
  assert.equal(await text('.side h2'), 'render');
  await press('Backspace');
  await stops();
  assert.equal(
    await app(() => window.sprof.page.flame.to - window.sprof.page.flame.from),
    7e9,
  );
  await press('0');
  await stops();
  assert.equal(
    await app(() => window.sprof.page.flame.to - window.sprof.page.flame.from),
    9e9,
  );
  await press('w');
  await stops();
  const [from, to] = await app(() => [
    window.sprof.page.flame.from,
    window.sprof.page.flame.to,
  ]);
  assert.ok(Math.abs(to - from - 9e9 / 1.6) < 1);
  await press('d');
  await stops();
  assert.ok((await app(() => window.sprof.page.flame.from)) > from);
  await press('a', 's', 's');
  await stops();
  assert.equal(await app(() => window.sprof.page.flame.from), 0);
});

test('arrow keys move in the flame graph', async () => {
  await page.focus('.flame');
  await press('ArrowDown', 'ArrowRight');
  assert.equal(await text('#said'), 'loop');
  await press('ArrowLeft', 'ArrowDown', 'Enter');
  assert.equal((await state(page)).chosen.split('@')[0], 'parse');
});

test('hide and focus', async () => {
  const box = await boxOf('parse');
  await page.keyboard.down('Alt');
  await page.mouse.click(box.x, box.y);
  await page.keyboard.up('Alt');
  await settle(page);
  assert.equal(await total(), 5);
  assert.match(await text('.chips'), /without parse/);
  await press('0');
  assert.equal(await total(), 9);
  await set(page, { chosen: 'render@' });
  await page.mouse.move(5, 5);
  await press('f');
  assert.equal(await total(), 5);
  await page.click('.chip button');
  await settle(page);
  assert.equal(await total(), 9);
  await press('h');
  assert.equal(await total(), 4);
  await press('Escape', 'Escape');
  assert.equal(await total(), 9);
});

test('search counts each stack once, and walks the matches', async () => {
  await press('Control+f');
  await page.keyboard.type('PARSE|render');
  await press('Enter');
  assert.match(await text('.search-status'), /55\.6 % matched/);
  await page.$eval('input[type=search]', (e) => (e.value = ''));
  await page.focus('input[type=search]');
  await page.keyboard.type('check|parse');
  await press('Enter');
  assert.match(await text('.search-status'), /66\.7 % matched, 6\.00 s/);
  await page.$eval('input[type=search]', (e) => e.blur());
  await press('n');
  assert.match(await text('#said'), /2 of 4/);
  await press('p', 'p');
  assert.match(await text('#said'), /4 of 4/);
  await press('Shift+N');
  assert.match(await text('#said'), /3 of 4/);
  await press('2');
  assert.equal(
    await page.$$eval('.functions tbody tr', (rows) => rows.length),
    2,
  );
  await set(page, { search: '(' });
  await settle(page);
  assert.match(await text('.search-status'), /not a regular expression/);
});

test('without a search n and p walk the threads', async () => {
  await press('n');
  assert.equal(await total(), 7);
  await press('n');
  assert.equal(await total(), 2);
  await press('p');
  assert.equal(await total(), 7);
});

test('filters: threads, states, labels', async () => {
  await set(page, { value: 'wall' });
  await press('l');
  const check = async (title) => {
    const boxes = await page.$$('fieldset label');
    for (const box of boxes)
      if (
        (await box.evaluate(
          (e) => e.querySelector('.choice-name').textContent,
        )) === title
      )
        await box.click();
    await settle(page);
  };
  await check('worker (11)');
  assert.equal(await total(), 10);
  await check('futex');
  assert.equal(await total(), 8);
  await check('futex');
  await check('worker (11)');
  await check('/a');
  assert.equal(await total(), 7);
  await press('Escape');
  assert.match(await text('.chips'), /request \/a/);
});

test('the table sorts, and shows callers and callees', async () => {
  await press('2');
  const names = () =>
    page.$$eval('.functions tbody button.name', (list) =>
      list.map((e) => e.textContent),
    );
  assert.deepEqual(await names(), ['check', 'render', 'main', 'parse', 'loop']);
  await page.$$eval('th button', (list) =>
    list.find((e) => e.textContent === 'Total').click(),
  );
  await settle(page);
  assert.deepEqual(await names(), ['main', 'check', 'render', 'parse', 'loop']);
  assert.equal(
    await page.$eval('th[aria-sort="descending"]', (e) => e.textContent),
    'Total ↓',
  );
  await page.$$eval('.functions button.name', (list) =>
    list.find((e) => e.textContent === 'check').click(),
  );
  await settle(page);
  assert.match(
    await text('.sandwich [data-kind="callers"]'),
    /66\.7 %parse33\.3 %render/,
  );
  assert.match(await text('.sandwich [data-kind="callees"]'), /none/);
  await set(page, { value: 'wall', chosen: '' });
  const row = await page.$$eval('.functions tbody tr', (rows) =>
    rows.map((r) => r.textContent).find((t) => t.includes('wait')),
  );
  assert.match(row, /8\.000 47\.1 %.*0\.0008\.0008\.000wait/);
});

test('the tree opens by keys, and has roles', async () => {
  await press('3');
  const rows = () =>
    page.$$eval('[role=treegrid] tbody tr', (list) =>
      list.map((e) => [
        e.getAttribute('aria-level'),
        e.querySelector('.name').textContent,
      ]),
    );
  assert.deepEqual((await rows()).slice(0, 3), [
    ['1', 'all'],
    ['2', 'main'],
    ['3', 'parse'],
  ]);
  await page.focus('[role=treegrid] tbody tr');
  await press('ArrowLeft');
  assert.equal((await rows()).length, 1);
  await press('ArrowRight', 'ArrowDown', 'Enter');
  assert.equal((await state(page)).chosen.split('@')[0], 'main');
});

test('waits are named', async () => {
  await press('4');
  assert.match(await text('.waits tbody'), /8\.000 100\.0 %1futex/);
  await page.click('.waits button.name');
  await settle(page);
  assert.equal(await total(), 8);
  assert.equal((await state(page)).view, 'flame');
});

test('the address has the state', async () => {
  await set(page, {
    value: 'wall',
    search: 'check',
    filters: [{ key: 'thread', value: '11' }],
    view: 'table',
  });
  await settle(page);
  const address = await page.evaluate(() => location.hash.slice(1));
  const other = await openPage(browser, html, { hash: address });
  const same = await state(other);
  assert.equal(same.value, 'wall');
  assert.equal(same.view, 'table');
  assert.deepEqual(same.filters, [{ key: 'thread', value: '11' }]);
  assert.equal(await other.evaluate(() => window.sprof.app.matchedTotal), 2e9);
  await other.close();
});

test('text, SVG, theme, help', async () => {
  const copied = await page.evaluate(async () => {
    /** @type {string[]} */
    const list = [];
    Object.defineProperty(navigator, 'clipboard', {
      value: { writeText: async (t) => void list.push(t) },
      configurable: true,
    });
    window.sprof.page.actions.copyView();
    window.sprof.app.set({ chosen: 'check@' });
    window.sprof.page.actions.copyStack();
    for (let i = 0; i < 1200 && list.length < 2; i++)
      await new Promise((resolve) => setTimeout(resolve, 50));
    return list;
  });
  assert.match(copied[0], /100\.0 % {2}all/);
  assert.match(copied[1], /^main\nparse\nparse\ncheck$/);
  const saved = await page.evaluate(async () => {
    const before = URL.createObjectURL;
    const blobs = [];
    URL.createObjectURL = (blob) => (blobs.push(blob), before.call(URL, blob));
    window.sprof.page.actions.saveSvg();
    window.sprof.page.actions.savePng();
    for (let i = 0; i < 1200 && blobs.length < 3; i++)
      await new Promise((resolve) => setTimeout(resolve, 50));
    return { svg: await blobs[0].text(), types: blobs.map((b) => b.type) };
  });
  assert.deepEqual(saved.types, [
    'image/svg+xml',
    'image/svg+xml',
    'image/png',
  ]);
  const boxes = await page.evaluate((svg) => {
    const parsed = new DOMParser().parseFromString(svg, 'image/svg+xml');
    return [
      parsed.querySelectorAll('parsererror').length,
      parsed.querySelectorAll('g title').length,
    ];
  }, saved.svg);
  assert.deepEqual(boxes, [0, 9]);
  const ground = () =>
    page.$eval('body', (e) => getComputedStyle(e).backgroundColor);
  const light = await ground();
  await press('Shift+D');
  assert.notEqual(await ground(), light);
  await press('?');
  assert.match(await text('dialog[open]'), /Keys and help|flame graph/);
  assert.match(await text('dialog[open] pre'), /samples/);
  await press('Escape');
});

test('nothing is asked of any network', async () => {
  const foreign = page.requests.filter(
    (url) => !/^(file|data|blob):/.test(url),
  );
  assert.deepEqual(foreign, []);
});
