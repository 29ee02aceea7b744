// SPDX-License-Identifier: MIT
/**
 * own.test.mjs -- the lines of a Python program's own file on the first screen
 * are those of `sprofile report`, also with a filter.
 */
import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { launch, openPage, record, run, scratch, set } from './browser.mjs';

const PROGRAM = `
import json
import threading

def build(n):
    return [{"a": i, "b": str(i) * 5} for i in range(n)]

def pack(rows):
    return json.loads(json.dumps(rows))

def work(n):
    for i in range(n):
        pack(build(500))

other = threading.Thread(target=work, args=(60,))
other.start()
work(200)
other.join()
`;

const folder = scratch();
const kind = process.env.BROWSER ?? 'chrome';
const file = join(folder, 'own.sprof');
const html = join(folder, 'own.html');
let browser;
let page;

before(async () => {
  const program = join(folder, 'own_lines.py');
  writeFileSync(program, PROGRAM);
  record(file, ['python3', program]);
  run('flame', '-o', html, file);
  browser = await launch(kind);
  page = await openPage(browser, html);
});
after(async () => {
  try {
    assert.deepEqual(page?.problems ?? [], []);
  } finally {
    await browser?.close();
  }
});

/** The lines of the report's head as the page has them: the file comes first.
 * With their shares in percent. */
function expected(...options) {
  const text = run('report', '-n', '1', ...options, file);
  return [
    ...text.matchAll(/^ +([\d.]+) % ± +[\d.]+ {2}(\S+) (own_lines\.py:\d+)$/gm),
  ].map(([, share, name, line]) => [`${line} ${name}`, Number(share)]);
}

async function compare(...options) {
  const lines = expected(...options);
  const shown = await page.$$eval('.own li', (list) =>
    list.map((item) => [
      item.querySelector('.name').textContent,
      parseFloat(item.querySelector('.number').textContent),
    ]),
  );
  assert.ok(lines.length >= 1, run('report', '-n', '1', ...options, file));
  // Lines of nearly the same time may change places: the page's are rounded.
  assert.deepEqual(
    shown.map(([line]) => line).sort(),
    lines.map(([line]) => line).sort(),
  );
  const shares = new Map(lines);
  for (const [i, [line, share]] of shown.entries()) {
    assert.ok(Math.abs(share - shares.get(line)) < 0.06, `${line}: ${share}`);
    assert.ok(i === 0 || share <= shown[i - 1][1], `${line} is not in order`);
  }
}

test('own lines are those of the report', async () => {
  await compare();
});

test('own lines follow the filters', async () => {
  await set(page, { focus: ['own_lines.pack'] });
  await compare('--focus', 'own_lines.pack');
});
