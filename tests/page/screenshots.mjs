// SPDX-License-Identifier: MIT
/**
 * screenshots.mjs -- makes the pictures of the docs: docs/pictures/*.png.
 *
 *     node tests/page/screenshots.mjs [FOLDER]
 *
 * They show redis-server under redis-benchmark, and two runs of CPython. The
 * pictures are small enough for a page of docs: 150 kB at most.
 */
import { execFileSync, spawn } from 'node:child_process';
import { mkdirSync } from 'node:fs';
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

const out = process.argv[2] ?? join(source, 'docs', 'pictures');
const folder = scratch();
const PORT = '7393';

function wait(ms) {
  return new Promise((resolve) => setTimeout(resolve, ms));
}

/** Record redis-server under two loads, one behind the other. */
async function recordRedis(file) {
  const server = spawn(
    sprofile,
    [
      'record',
      '-q',
      '-o',
      file,
      '--',
      'redis-server',
      '--port',
      PORT,
      '--save',
      '',
    ],
    { stdio: 'ignore', env: environment, cwd: folder },
  );
  const ended = new Promise((resolve) => server.on('exit', resolve));
  await wait(2000);
  const load = (tests, count) =>
    execFileSync(
      'redis-benchmark',
      ['-p', PORT, '-n', count, '-q', '-t', tests],
      { stdio: 'ignore' },
    );
  load('set,get,incr', '40000');
  await wait(700);
  load('lpush,lrange_100,mset', '10000');
  execFileSync('redis-cli', ['-p', PORT, 'shutdown', 'nosave'], {
    stdio: 'ignore',
  });
  await ended;
}

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
  await page.screenshot({ path: join(out, `${name}.png`) });
  if (page.problems.length > 0) throw new Error(page.problems.join('\n'));
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
await recordRedis(files[0]);
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
await shoot(browser, diff, 'page-diff');
await shoot(browser, redis, 'page-narrow', {
  size: { width: 400, height: 860 },
});
await browser.close();
