// SPDX-License-Identifier: MIT
/**
 * screenshots.mjs -- makes the pictures of the docs: docs/pictures/*.png.
 *
 *     node tests/page/screenshots.mjs [FOLDER]
 *
 * They show redis-server under redis-benchmark, also in `sprofile top`, and two
 * runs of CPython. The pictures are small enough for a page of docs: 150 kB at
 * most.
 */
import { mkdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import {
  environment,
  launch,
  openPage,
  record,
  run,
  scratch,
  set,
  settle,
  source,
  sprofile,
} from './browser.mjs';
import { recordRedis, wait } from './programs.mjs';
import { Terminal, screenHtml } from './terminal.mjs';

const out = process.argv[2] ?? join(source, 'docs', 'pictures');
const folder = scratch();
/** Bytes of a picture. */
const MOST = 150000;

function recordPython(file, body) {
  record(file, [
    '/usr/bin/python3',
    '-c',
    `import json, re\nfor i in range(60):\n    text = json.dumps([{"a": j, "b": str(j)} for j in range(4000)])\n    ${body}`,
  ]);
}

/** @param {any} browser @param {string} html @param {string} name */
async function shoot(
  browser,
  html,
  name,
  { patch = {}, size = { width: 1080, height: 660 }, dark = false, then } = {},
) {
  const page = await openPage(browser, html, { size });
  await page.emulateMediaFeatures([
    { name: 'prefers-color-scheme', value: dark ? 'dark' : 'light' },
  ]);
  await set(page, patch);
  await wait(1500);
  if (then) await then(page);
  await settle(page);
  await wait(400);
  await save(page, name);
  if (page.problems.length > 0) throw new Error(page.problems.join('\n'));
  await page.close();
}

/** Save what PAGE, or ELEMENT of it, shows. */
async function save(page, name, element = page) {
  const path = join(out, `${name}.png`);
  await element.screenshot({ path });
  const { size } = statSync(path);
  if (size > MOST) throw new Error(`${path}: ${size} bytes`);
}

async function shootTop(browser, screen) {
  const page = await browser.newPage();
  await page.setContent(screenHtml(screen));
  await save(page, 'top', await page.$('pre'));
  await page.close();
}

/** Put the pointer on the middle of the box of NAME. */
async function pointAt(page, name) {
  const at = await page.evaluate((wanted) => {
    const { app, page: parts } = window.sprof;
    const { flame } = parts;
    for (const [number, level] of app.layout.levels.entries())
      for (let i = 0; i < level.node.length; i++) {
        if (app.functions.name[app.tree.func[level.node[i]]] !== wanted)
          continue;
        const bounds = flame.element.getBoundingClientRect();
        const middle = (level.from[i] + level.to[i]) / 2 / app.layout.width;
        return {
          x: bounds.left + middle * bounds.width,
          y: bounds.top + flame.topOf(number) + 9,
        };
      }
    return null;
  }, name);
  if (at) await page.mouse.move(at.x, at.y);
}

mkdirSync(out, { recursive: true });
const files = ['redis', 'old', 'new'].map((name) =>
  join(folder, `${name}.sprof`),
);
const screen = await recordRedis(files[0], folder, async (pid) => {
  const terminal = new Terminal([sprofile, 'top', pid], 92, 24, environment);
  await wait(2600);
  const text = terminal.capture();
  terminal.close();
  return text;
});
recordPython(files[1], 'json.loads(text)');
recordPython(files[2], 'json.loads(text); re.findall(r"\\d+", text)');
const redis = join(folder, 'redis.html');
const diff = join(folder, 'diff.html');
run('convert', files[0], redis);
run('diff', '--shares', files[1], files[2], '-o', diff);
const browser = await launch();
await shoot(browser, redis, 'page-flame', {
  then: (page) => pointAt(page, 'call'),
});
await shoot(browser, redis, 'page-states', {
  patch: { value: 'wall', colour: 'state', group: 'thread' },
  dark: true,
});
await shoot(browser, redis, 'page-table', {
  patch: { view: 'table', strip: 'heat', chosen: 'call@redis-check-rdb' },
});
await shoot(browser, diff, 'page-diff', { size: { width: 960, height: 560 } });
await shootTop(browser, screen);
await shoot(browser, redis, 'page-narrow', {
  size: { width: 400, height: 860 },
});
await browser.close();
