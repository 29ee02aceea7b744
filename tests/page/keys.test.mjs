// SPDX-License-Identifier: MIT
/**
 * keys.test.mjs -- each key, switch, menu entry and gesture of the page has its
 * effect, and none is without a test here.
 */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, beforeEach, test } from 'node:test';
import {
  launch,
  openPage,
  reset,
  run,
  scratch,
  set,
  settle,
  source,
  state,
} from './browser.mjs';
import { recordTimes } from './times.mjs';

const folder = scratch();
const diff = join(folder, 'diff.html');
let browser;
let html;
let page;

before(async () => {
  const times = recordTimes(folder);
  html = times.html;
  run('diff', times.file, times.file, '-o', diff);
  browser = await launch(process.env.BROWSER ?? 'chrome');
  page = await open(html);
});
beforeEach(async () => {
  if (!page.url().includes('times.html')) {
    await page.close();
    page = await open(html);
  }
  await page.evaluate(() => void (window.did.length = 0));
  await reset(page);
});
after(async () => {
  try {
    assert.deepEqual(page?.problems ?? [], []);
  } finally {
    await browser?.close();
  }
});

/** Open FILE; nothing moves slowly, and window.did has what it copies, saves and prints. */
async function open(file) {
  const opened = await openPage(browser, file);
  await opened.evaluate(() => {
    const ask = window.matchMedia;
    window.matchMedia = (query) =>
      query.includes('reduced-motion') ? { matches: true } : ask(query);
    window.did = [];
    Object.defineProperty(navigator, 'clipboard', {
      value: { writeText: async (text) => void window.did.push(text) },
      configurable: true,
    });
    const make = URL.createObjectURL;
    URL.createObjectURL = (blob) => {
      window.did.push(blob.type);
      return make.call(URL, blob);
    };
    window.print = () => window.did.push('printed');
  });
  return opened;
}

async function press(name) {
  const [key, ...held] = name.split('+').reverse();
  for (const other of held) await page.keyboard.down(other);
  await page.keyboard.press(key);
  for (const other of held) await page.keyboard.up(other);
  await settle(page);
}

const window_ = () =>
  page.evaluate(() => [
    window.sprof.page.flame.from,
    window.sprof.page.flame.to,
    window.sprof.app.layout.width,
  ]);
const did = () => page.evaluate(() => window.did);
const focused = () =>
  page.evaluate(() => document.activeElement?.getAttribute('type'));
const shown = (name) => page.$eval(name, (e) => e.open);
const said = () => page.$eval('#said', (e) => e.textContent);

/** State KEY becomes VALUE. */
const becomes = (key, value) => async (name) => {
  assert.notDeepEqual((await state(page))[key], value);
  await press(name);
  assert.deepEqual((await state(page))[key], value);
};

/** Zoom to main, and then be at its middle. */
async function zoomIn() {
  await set(page, { range: null });
  await page.evaluate(() => {
    const { flame } = window.sprof.page;
    const { width } = window.sprof.app.layout;
    flame.moveTo(width * 0.4, width * 0.6, true);
  });
}

const walks = (before_, after_) => async (name) => {
  await set(page, { search: '^(before|inside|behind)$' });
  for (const key of before_) await press(key);
  await press(name);
  assert.match(await said(), after_);
};

/** What each key of the help does. */
const KEYS = {
  1: async (name) => {
    await set(page, { view: 'table' });
    await becomes('view', 'flame')(name);
  },
  2: becomes('view', 'table'),
  3: becomes('view', 'tree'),
  t: becomes('view', 'tree'),
  4: becomes('view', 'waits'),
  5: async (name) => {
    await page.close();
    page = await open(diff);
    await press(name);
    assert.ok(await page.$('main .changes-view'));
  },
  6: async (name) => {
    await press(name);
    assert.ok(await page.$('main .source-view'));
  },
  v: becomes('value', 'wall'),
  m: becomes('colour', 'state'),
  g: becomes('group', 'thread'),
  o: becomes('order', 'name'),
  y: async (name) => {
    await press(name);
    assert.match(await said(), /no other choice of frames/);
  },
  0: async (name) => {
    await set(page, { ignore: ['^inside$'] });
    await zoomIn();
    await press(name);
    assert.deepEqual((await state(page)).ignore, []);
    const [from, to, width] = await window_();
    assert.deepEqual([from, to], [0, width]);
  },
  i: becomes('flip', true),
  b: becomes('invert', true),
  r: becomes('fold', true),
  w: async (name) => {
    const [from, to] = await window_();
    await press(name);
    const [left, right] = await window_();
    assert.ok(left > from && right < to);
  },
  s: async (name) => {
    await zoomIn();
    const [from, to] = await window_();
    await press(name);
    const [left, right] = await window_();
    assert.ok(left < from && right > to);
  },
  a: async (name) => {
    await zoomIn();
    const [from, to] = await window_();
    await press(name);
    const [left, right] = await window_();
    assert.ok(left < from && right < to);
  },
  d: async (name) => {
    await zoomIn();
    const [from, to] = await window_();
    await press(name);
    const [left, right] = await window_();
    assert.ok(left > from && right > to);
  },
  Backspace: async (name) => {
    await page.focus('.flame');
    for (let i = 0; i < 3; i++) await press('ArrowDown');
    await press('Enter');
    const { zoom } = await state(page);
    assert.equal(zoom.length, 3);
    await press(name);
    assert.deepEqual((await state(page)).zoom, zoom.slice(0, 2));
  },
  f: async (name) => {
    await set(page, { chosen: 'inside@known_times' });
    await becomes('focus', ['^inside$'])(name);
  },
  h: async (name) => {
    await set(page, { chosen: 'inside@known_times' });
    await becomes('ignore', ['^inside$'])(name);
  },
  c: async (name) => {
    await set(page, { chosen: 'inside@known_times' });
    await press(name);
    assert.match((await did())[0], /\nmain [^\n]*\ninside [^\n]*$/);
  },
  'Ctrl+f': async () => {
    await press('Control+f');
    assert.equal(await focused(), 'search');
  },
  '/': async (name) => {
    await press(name);
    assert.equal(await focused(), 'search');
  },
  n: async (name) => {
    await walks([], /1 of 3/)(name);
    await set(page, { search: '' });
    await press(name);
    assert.equal((await state(page)).filters[0].key, 'thread');
  },
  'Shift+N': walks(['n', 'n'], /1 of 3/),
  p: walks(['n', 'n', 'n'], /2 of 3/),
  z: async (name) => {
    await set(page, { range: [1e8, 2e8] });
    await press(name);
    const view = () => page.evaluate(() => window.sprof.page.timeline.view);
    assert.deepEqual(await view(), [1e8, 2e8]);
    await press(name);
    assert.equal((await view())[0], 0);
  },
  x: becomes('strip', 'heat'),
  e: async (name) => {
    await press(name);
    assert.match(await said(), /Select a range/);
    await set(page, { range: [1e8, 2e8] });
    await press(name);
    const { base, range, colour } = await state(page);
    assert.deepEqual([base, range, colour], [[1e8, 2e8], null, 'difference']);
  },
  l: async (name) => {
    await press(name);
    assert.ok(await shown('dialog[aria-label="Filters"]'));
  },
  k: async (name) => {
    await press(name);
    assert.match((await did())[0], /100\.0 % {2}all\n/);
  },
  'Shift+D': becomes('theme', 'dark'),
  '?': async (name) => {
    await press(name);
    assert.ok(await shown('dialog.help'));
  },
  Escape: async (name) => {
    await set(page, {
      search: 'main',
      chosen: 'main@known_times',
      base: [0, 1e8],
      range: [1e8, 2e8],
      filters: [{ key: 'state', value: 'running' }],
    });
    const empty = async () => {
      const now = await state(page);
      return [now.search, now.chosen, now.base, now.range, now.filters].map(
        (value) => value === null || value.length === 0,
      );
    };
    for (let i = 0; i < 5; i++) {
      const expected = [0, 1, 2, 3, 4].map((kind) => kind < i);
      assert.deepEqual(await empty(), expected);
      await press(name);
    }
    assert.deepEqual(await empty(), [true, true, true, true, true]);
  },
};

for (const [name, effect] of Object.entries(KEYS))
  test(`key ${name}`, () => effect(name));

test('each key of the help has a test, and stands in the docs', async () => {
  const keys = await page.$$eval('.help kbd', (list) =>
    list.map((e) => e.textContent),
  );
  assert.equal(new Set(keys).size, keys.length);
  assert.deepEqual(keys.toSorted(), Object.keys(KEYS).toSorted());
  const docs = readFileSync(join(source, 'docs', 'page.md'), 'utf8');
  const table = docs.slice(docs.indexOf('| key |'), docs.indexOf('## Two'));
  for (const key of keys)
    assert.ok(table.toLowerCase().includes(`\`${key.toLowerCase()}\``), key);
});

test('keys do nothing while text is typed, or with a panel open', async () => {
  await page.focus('input[type=search]');
  await page.keyboard.type('2rv');
  await press('Enter');
  let now = await state(page);
  assert.deepEqual(
    [now.view, now.fold, now.value, now.search],
    ['flame', false, 'cpu', '2rv'],
  );
  await press('Escape');
  await press('l');
  await press('2');
  now = await state(page);
  assert.equal(now.view, 'flame');
});

test('each button, toggle and choice', async () => {
  const groups = await page.$$eval('.group button', (list) =>
    list
      .filter((e) => e.checkVisibility())
      .map((e) => [e.closest('[role=group]').ariaLabel, e.dataset.value]),
  );
  assert.equal(groups.length, 9);
  for (const [label, value] of groups.reverse()) {
    await page.click(`[aria-label="${label}"] [data-value="${value}"]`);
    await settle(page);
    const now = await state(page);
    assert.equal(now[label === 'View' ? 'view' : 'value'], value);
  }
  const selects = await page.$$eval('.select select', (list) =>
    list.map((e) => [
      e.ariaLabel,
      [...e.options].filter((o) => !o.disabled).map((o) => o.value),
    ]),
  );
  assert.deepEqual(selects, [
    ['Colour', ['module', 'state']],
    ['Group', ['none', 'thread', 'process', 'state']],
    ['Order', ['heavy', 'name', 'time']],
  ]);
  for (const [label, values] of selects)
    for (const value of values.reverse()) {
      await page.select(`select[aria-label="${label}"]`, value);
      await settle(page);
      assert.equal((await state(page))[label.toLowerCase()], value);
    }
  const toggles = await page.$$eval('.toggle', (list) =>
    list.map((e) => e.textContent),
  );
  assert.deepEqual(toggles, ['Callers', 'Fold', 'Flip']);
  for (const [i, key] of ['invert', 'fold', 'flip'].entries())
    for (const value of [true, false]) {
      await (await page.$$('.toggle'))[i].click();
      await settle(page);
      assert.equal((await state(page))[key], value);
      assert.equal(
        await page.$$eval('.toggle', (l, n) => l[n].ariaPressed, i),
        String(value),
      );
    }
});

test('each entry of the menu', async () => {
  const EFFECTS = {
    copyView: async () => assert.match((await did())[0], /all\n/),
    copyLink: async () => assert.match((await did())[0], /^file:.*times\.html/),
    saveSvg: async () => assert.deepEqual(await did(), ['image/svg+xml']),
    savePng: async () => {
      await page.waitForFunction(() => window.did.includes('image/png'));
    },
    print: async () => assert.deepEqual(await did(), ['printed']),
    theme: async () => assert.equal((await state(page)).theme, 'dark'),
    help: async () => assert.ok(await shown('dialog.help')),
  };
  const names = await page.$$eval('[data-action]', (list) =>
    list.map((e) => e.dataset.action),
  );
  assert.deepEqual(names, Object.keys(EFFECTS));
  for (const name of names) {
    await page.evaluate(() => void (window.did.length = 0));
    await page.click('.menu summary');
    await page.click(`[data-action="${name}"]`);
    await settle(page);
    await EFFECTS[name]();
  }
});

/** A drag on ELEMENT from one place to another: shares of it. */
async function drag(element, from, to) {
  const area = await (await page.$(element)).boundingBox();
  const at = ([x, y]) => [area.x + x * area.width, area.y + y * area.height];
  await page.mouse.move(...at(from));
  await page.mouse.down();
  await page.mouse.move(...at(to), { steps: 4 });
  await page.mouse.up();
  await settle(page);
}

/** The wheel with Ctrl over ELEMENT: up, to zoom in. */
async function zoomWheel(element) {
  const area = await (await page.$(element)).boundingBox();
  await page.mouse.move(area.x + area.width / 4, area.y + 8);
  await page.keyboard.down('Control');
  await page.mouse.wheel({ deltaY: -120 });
  await page.keyboard.up('Control');
  await settle(page);
}

test('wheel, drag and double click', async () => {
  const [from, to] = await window_();
  await zoomWheel('.flame');
  await page.waitForFunction(
    (size) => window.sprof.page.flame.to - window.sprof.page.flame.from < size,
    {},
    to - from,
  );
  const [left, right] = await window_();
  assert.ok(left > from && right < to);
  assert.ok(left - from < to - right, 'what is under the pointer stays');
  await drag('.flame', [0.5, 0.1], [0.4, 0.1]);
  const moved = await window_();
  assert.ok(Math.abs(moved[0] - left - 0.1 * (right - left)) < 0.01 * to);
  assert.deepEqual((await state(page)).zoom, [], 'a drag is no click');
  const view = () => page.evaluate(() => window.sprof.page.timeline.view);
  const [begin, end] = await view();
  await zoomWheel('.lane-area');
  await page.waitForFunction(
    (size) => {
      const [a, b] = window.sprof.page.timeline.view;
      return b - a < size;
    },
    {},
    end - begin,
  );
  await drag('.lane-area', [0.2, 0.2], [0.6, 0.2]);
  assert.ok((await state(page)).range);
  const area = await (await page.$('.lane-area')).boundingBox();
  await page.mouse.click(area.x + 50, area.y + 10, { count: 2 });
  await settle(page);
  assert.equal((await state(page)).range, null);
});
