// SPDX-License-Identifier: MIT
/**
 * sums.test.mjs -- with the same filters the page has the sums of
 * `sprofile report --json`, to the nanosecond: of the whole, of each function,
 * thread, process and state, and of what a search matches. Three real programs
 * are recorded for it.
 */
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { launch, openPage, record, run, scratch, set } from './browser.mjs';
import { programs } from './programs.mjs';

const folder = scratch();

const { python, sqlite, xz } = programs(folder);
const PROGRAMS = { python, sqlite, xz };

/** Filters of the command and of the page. */
function filter(key, value) {
  const option = ['thread', 'state', 'module'].includes(key)
    ? [`--${key}`, value]
    : ['--label', `${key}=${value}`];
  return { options: option, filters: [{ key, value }] };
}

function range(from, to) {
  return {
    options: ['--time', `${from / 1e9}-${to / 1e9}`],
    range: [from, to],
  };
}

function join_(...parts) {
  return {
    options: parts.flatMap((part) => part.options),
    state: {
      filters: parts.flatMap((part) => part.filters ?? []),
      focus: parts.flatMap((part) => part.focus ?? []),
      ignore: parts.flatMap((part) => part.ignore ?? []),
      range: parts.find((part) => part.range)?.range ?? null,
    },
  };
}

const focus = (text) => ({ options: ['--focus', text], focus: [text] });
const ignore = (text) => ({ options: ['--ignore', text], ignore: [text] });

/** Combinations for a profile whose report by threads is THREADS. */
function combinations({ threads, functions, duration }) {
  const part = (share) => Math.round((duration * share) / 1e3) * 1e3;
  const tid = String(threads[0].tid);
  const { thread } = threads[0];
  const hottest = functions.find(({ module }) => module);
  const plain = hottest.function.replace(/[^A-Za-z0-9_]/g, '.');
  return [
    [],
    [filter('thread', tid)],
    [filter('thread', thread)],
    [filter('tid', tid)],
    [filter('state', 'running')],
    [filter('state', 'runnable')],
    [filter('state', 'waiting')],
    [filter('state', 'running'), filter('state', 'runnable')],
    [filter('module', hottest.module)],
    [filter('module', 'lib*')],
    [filter('module', 'libc.so.6'), filter('module', hottest.module)],
    [focus(`^${plain}$`)],
    [ignore(`^${plain}$`)],
    [focus('main'), ignore('alloc')],
    [range(0, part(0.5))],
    [range(part(0.5), part(1.5))],
    [range(part(0.31), part(0.62))],
    [range(part(0.4), part(0.4) + 1000)],
    [range(part(0.1), part(0.7)), filter('state', 'running'), focus(plain)],
    [range(part(0.2), part(0.9)), filter('thread', tid), ignore('^_')],
  ].map((parts) => join_(...parts));
}

/** The page's sums with STATE. */
function sumsOf(page) {
  return page.evaluate(() => {
    const { app } = window.sprof;
    const rows = app.rows;
    const { sums, functions } = app;
    const all = (values) => values.reduce((sum, n) => sum + n, 0);
    const cpu = app.functionSums('cpu');
    const wall = app.functionSums('wall');
    const shown = {};
    for (const value of ['cpu', 'wall', 'waiting', 'runnable'])
      shown[value] = all(app.values(value));
    return {
      ...shown,
      samples: all(sums.count.map((n, row) => (rows[row] ? n : 0))),
      functions: Array.from({ length: functions.n }, (_, f) => ({
        function: functions.name[f],
        module: functions.module[f],
        cpu_flat_ns: cpu.self[f],
        cpu_cum_ns: cpu.total[f],
        wall_flat_ns: wall.self[f],
        wall_cum_ns: wall.total[f],
      })).filter((row) => row.wall_cum_ns || row.cpu_cum_ns),
    };
  });
}

/**
 * Names and sums as a map, sorted. A process that has called exec has a row of
 * the same name for each program.
 */
function mapOf(pairs) {
  const map = new Map();
  for (const [name, ns] of pairs.toSorted(([a], [b]) => (a < b ? -1 : 1)))
    map.set(name, (map.get(name) ?? 0) + ns);
  return map;
}

/** Sums of wall time by GROUP, as the flame graph has them. */
async function groupsOf(page, group, value) {
  await set(page, { group, value });
  const groups = await page.evaluate(() => {
    const { tree, treeSums } = window.sprof.app;
    const list = [];
    for (let node = 1; node < tree.n; node++)
      if (tree.parent[node] === 0 && treeSums.total[node] > 0)
        list.push([
          tree.groups[-1 - tree.func[node]].replace(/ of .*/, ''),
          treeSums.total[node],
        ]);
    return list;
  });
  await set(page, { group: 'none', value: 'cpu' });
  return mapOf(groups);
}

/** The same by the command. */
function rowsBy(file, options, group, value, nameOf) {
  const { rows } = reportOf(file, ['-n', '0', '--by', group, ...options]);
  return mapOf(
    rows
      .map((row) => [nameOf(row), row[`${value}_ns`]])
      .filter(([, ns]) => ns > 0),
  );
}

const sumOf = (map, test = () => true) =>
  [...map].reduce((sum, [name, ns]) => sum + (test(name) ? ns : 0), 0);

/** What groups and switches show with filters that hold. */
async function compareGroups(page, file, options, sums, where) {
  const states = rowsBy(file, options, 'state', 'wall', (row) => row.state);
  assert.deepEqual(await groupsOf(page, 'state', 'wall'), states, where);
  const isWait = (name) => !['running', 'runnable'].includes(name);
  assert.equal(sums.waiting, sumOf(states, isWait), `waiting: ${where}`);
  assert.equal(sums.runnable, states.get('runnable') ?? 0, where);
  const title = (row) => `${row.thread} (${row.tid})`;
  const threads = rowsBy(file, options, 'thread', 'cpu', title);
  assert.deepEqual(await groupsOf(page, 'thread', 'cpu'), threads, where);
  const name = (row) => `${row.process} (${row.pid})`;
  const processes = rowsBy(file, options, 'process', 'wall', name);
  assert.deepEqual(await groupsOf(page, 'process', 'wall'), processes, where);
}

/** A search has what --focus leaves; it does not see capitals. */
async function compareSearch(page, file, options, where) {
  for (const [search, expression] of [
    ['ALLOC|_start', 'ALLOC|_start'],
    ['main|read', '[mM][aA][iI][nN]|[rR][eE][aA][dD]'],
  ]) {
    await set(page, { search });
    const found = await page.evaluate(() => window.sprof.app.matchedTotal);
    const left = reportOf(file, ['--focus', expression, ...options]);
    assert.equal(found, left.totals.cpu_ns, `search ${search}: ${where}`);
  }
  await set(page, { search: '' });
}

function reportOf(file, options) {
  try {
    return JSON.parse(run('report', '--json', ...options, file));
  } catch (error) {
    // A filter that leaves nothing ends with status 1.
    return JSON.parse(error.stdout);
  }
}

function textOf(file, options) {
  try {
    return run('report', '-n', '1', ...options, file);
  } catch (error) {
    return error.stdout;
  }
}

/** How sure both are of what is selected: samples, looks, first function. */
async function compareSure(page, file, options, rows, where) {
  const text = textOf(file, options);
  const counts = /^samples +(\d+) of \d+ thread[^,:;]*(?:, (\d+) look)?/m;
  const head = counts.exec(text);
  const facts = new Map(
    await page.$$eval('.fact', (list) =>
      list.map((fact) => [...fact.children].map((e) => e.textContent)),
    ),
  );
  const plain = (key) => facts.get(key).replaceAll(',', '');
  assert.equal(plain('samples'), head[1], where);
  assert.equal(plain('looks'), head[2] ?? '0', where);
  if (rows.length === 0 || rows[0].cpu_flat_ns === 0) return;
  const [, error] = /flat .*\n +[\d.]+ +[\d.]+ +([\d.]+) /.exec(text);
  const key = `${rows[0].function}@${rows[0].module}`;
  await set(page, { view: 'table' });
  const share = await page.$eval(
    `[data-func=${JSON.stringify(key)}] small`,
    (e) => e.textContent,
  );
  await set(page, { view: 'flame' });
  const shown = Number(/±(.*)/.exec(share)?.[1] ?? 0);
  // In a range, the page takes what points of a row stand for in the whole.
  const most = 0.11 + (options.includes('--time') ? error / 10 : 0);
  assert.ok(Math.abs(shown - error) < most, `${share}, ${error}: ${where}`);
}

const KEYS = ['cpu_flat_ns', 'cpu_cum_ns', 'wall_flat_ns', 'wall_cum_ns'];

/** Rows by function and module; those without any time are left out. */
function byName(rows) {
  const sums = new Map();
  for (const row of rows)
    if (row.cpu_cum_ns || row.wall_cum_ns)
      sums.set(
        `${row.function} (${row.module})`,
        KEYS.map((key) => row[key]),
      );
  return new Map([...sums].sort(([a], [b]) => (a < b ? -1 : 1)));
}

let browser;
before(async () => {
  browser = await launch();
});
after(() => browser.close());

for (const [place, [name, { command, options }]] of Object.entries(
  PROGRAMS,
).entries())
  test(`sums of ${name}`, { timeout: 300000 }, async (context) => {
    const file = join(folder, `${name}.sprof`);
    const html = join(folder, `${name}.html`);
    record(file, command, options);
    run('convert', file, html);
    const whole = reportOf(file, []);
    const threads = reportOf(file, ['--by', 'thread']).rows;
    const page = await openPage(browser, html);
    const list = combinations({
      threads,
      functions: whole.rows,
      duration: whole.duration_ns,
    });
    assert.equal(list.length, 20);
    let different = 0;
    for (const [i, { options: filters, state }] of list.entries()) {
      const report = reportOf(file, filters);
      await set(page, state);
      const sums = await sumsOf(page);
      const where = `${name} ${filters.join(' ')}`;
      assert.equal(sums.cpu, report.totals.cpu_ns, `CPU: ${where}`);
      assert.equal(sums.wall, report.totals.wall_ns, `wall: ${where}`);
      assert.equal(sums.samples, report.totals.samples, `samples: ${where}`);
      assert.deepEqual(byName(sums.functions), byName(report.rows), where);
      await compareSure(page, file, filters, report.rows, where);
      // Each filter with one of the programs.
      if ((i + place) % Object.keys(PROGRAMS).length === 0) {
        await compareGroups(page, file, filters, sums, where);
        await compareSearch(page, file, filters, where);
      }
      different += report.totals.wall_ns !== whole.totals.wall_ns;
    }
    assert.ok(different > 10, 'most filters leave a part');
    assert.deepEqual(page.problems, []);
    context.diagnostic(
      `${list.length} combinations, ${whole.rows.length} functions`,
    );
    await page.close();
  });

test('two profiles: the table of changes is that of diff', async () => {
  const html = join(folder, 'diff.html');
  const files = ['python', 'xz'].map((name) => join(folder, `${name}.sprof`));
  run('diff', ...files, '-o', html);
  const page = await openPage(browser, html);
  const { cpu, base, changes } = await page.evaluate(() => {
    const { app } = window.sprof;
    const all = (values) => values.reduce((sum, n) => sum + n, 0);
    return {
      cpu: all(app.values('cpu')),
      base: all(app.baseValues),
      changes: app.changes.rows.length,
    };
  });
  assert.equal(cpu, reportOf(files[1], []).totals.cpu_ns);
  assert.equal(base, reportOf(files[0], []).totals.cpu_ns);
  assert.ok(changes > 5);
  await set(page, { view: 'changes' });
  const shown = await page.$$eval(
    '.changes-view tbody tr',
    (rows) => rows.length,
  );
  assert.ok(shown > 5);
  assert.deepEqual(page.problems, []);
});
