// SPDX-License-Identifier: MIT
/**
 * page.mjs -- how fast a page opens and moves, and what memory it needs.
 *
 *     node tests/bench/page.mjs [SAMPLES]
 *
 * The spools are those of large.py: SAMPLES (10 million) running samples in
 * 10,000 stacks, and a tenth of them. Each page is opened in headless Chromium
 * with software rendering, at 1280 x 800. The times of the first screen and of
 * the time axis are the page's own marks, since navigation began. Frames are
 * taken while the graph zooms and is dragged: the time between two frames, and
 * the time to draw one. Memory is the peak of the renderer (VmHWM). The cells
 * are medians of ROUNDS. Each page is opened once before that: the first start of
 * a browser reads its files from the disk. The second table has the sizes of the
 * pages of five real programs.
 */
import { execFileSync } from 'node:child_process';
import { readFileSync, readdirSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { build, launch, openPage, run, scratch } from '../page/browser.mjs';
import { recordPrograms } from '../page/programs.mjs';

const ROUNDS = 3;
const samples = Number(process.argv[2] ?? 1e7);

function median(values) {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.floor(sorted.length / 2)];
}

/** Peak memory of the largest renderer that is a child of BROWSER, in MiB. */
function rendererMemory(browser) {
  const own = String(browser.process().pid);
  let most = 0;
  for (const pid of readdirSync('/proc').filter((name) => /^\d+$/.test(name)))
    try {
      const command = readFileSync(`/proc/${pid}/cmdline`, 'utf8');
      if (!command.includes('--type=renderer') || !isBelow(pid, own)) continue;
      const status = readFileSync(`/proc/${pid}/status`, 'utf8');
      const peak = Number(/VmHWM:\s+(\d+)/.exec(status)?.[1] ?? 0);
      most = Math.max(most, peak / 1024);
    } catch {
      // The process ended meanwhile.
    }
  return most;
}

function isBelow(pid, ancestor) {
  for (let at = pid; at !== '0' && at !== '1';) {
    if (at === ancestor) return true;
    at = /PPid:\s+(\d+)/.exec(readFileSync(`/proc/${at}/status`, 'utf8'))[1];
  }
  return false;
}

/** Zoom and drag for two seconds; medians of the frames. */
function moveAbout(page) {
  return page.evaluate(async () => {
    const { flame } = window.sprof.page;
    const { width, boxes } = window.sprof.app.layout;
    const times = [];
    flame.frames.length = 0;
    let last = await new Promise(requestAnimationFrame);
    const begin = last;
    while (last - begin < 2000) {
      const part = (last - begin) / 2000;
      const size = width * (0.15 + 0.85 * Math.abs(1 - 2 * part));
      const from = (width - size) * part;
      flame.element.scrollTop = 600 * part;
      flame.moveTo(from, from + size, true);
      const now = await new Promise(requestAnimationFrame);
      times.push(now - last);
      last = now;
    }
    const middle = (list) =>
      list.toSorted((a, b) => a - b)[Math.floor(list.length / 2)];
    return { boxes, frame: middle(times), draw: middle(flame.frames) };
  });
}

async function measure(html) {
  const browser = await launch();
  const page = await openPage(browser, html);
  const marks = await page.evaluate(() =>
    Object.fromEntries(
      performance.getEntriesByType('mark').map((m) => [m.name, m.startTime]),
    ),
  );
  const memory = rendererMemory(browser);
  const moved = await moveAbout(page);
  await browser.close();
  return { ...marks, memory, ...moved };
}

const folder = scratch();
console.log(
  '| samples | file MiB | first screen s | time axis s | frames drawn of | ms between frames | ms to draw one | memory MiB |',
);
console.log('| ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: |');
for (const count of [samples / 10, samples]) {
  const spool = join(folder, 'large.sprof');
  const html = join(folder, 'large.html');
  execFileSync(join(build, 'tests/workload/make_spool'), [
    spool,
    String(count),
  ]);
  run('convert', spool, html);
  rmSync(spool);
  await measure(html);
  const rounds = [];
  for (let i = 0; i < ROUNDS; i++) rounds.push(await measure(html));
  const of = (key) => median(rounds.map((round) => round[key]));
  console.log(
    `| ${count.toLocaleString('en')} | ${(statSync(html).size / 2 ** 20).toFixed(1)} | ${(of('sprof-first-screen') / 1e3).toFixed(2)} | ${(of('sprof-time') / 1e3).toFixed(2)} | ${of('boxes').toLocaleString('en')} | ${of('frame').toFixed(1)} | ${of('draw').toFixed(1)} | ${of('memory').toFixed(0)} |`,
  );
}

console.log('\n| program | page kB |\n| --- | ---: |');
for (const [name, spool] of Object.entries(await recordPrograms(folder))) {
  const html = join(folder, `${name}.html`);
  run('convert', spool, html);
  console.log(`| ${name} | ${(statSync(html).size / 1e3).toFixed(0)} |`);
}
