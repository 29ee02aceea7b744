// SPDX-License-Identifier: MIT
/** browser.mjs -- opens pages of profiles in a browser without a window. */
import { execFileSync } from 'node:child_process';
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

export const source = fileURLToPath(new URL('../..', import.meta.url));
export const build = process.env.SPROF_BUILD ?? join(source, 'build');
export const sprofile = join(build, 'sprofile');

/** Where the npm packages of src/page/package.json are. */
const modules = [join(build, 'page'), join(source, 'src', 'page')].find(
  (folder) => existsSync(join(folder, 'node_modules', 'puppeteer-core')),
);

const PATHS = {
  chrome: ['/usr/bin/chromium', '/usr/bin/chromium-browser'],
  firefox: ['/usr/bin/firefox-esr', '/usr/bin/firefox'],
};

const OPTIONS = {
  chrome: ['--no-sandbox', '--disable-gpu', '--disable-dev-shm-usage'],
  firefox: [],
};

/** Why BROWSER cannot be used here; null if it can. */
export function missing(browser) {
  if (!modules) return 'the npm package puppeteer-core is not installed';
  if (!PATHS[browser].some((path) => existsSync(path)))
    return `there is no ${PATHS[browser][0]}`;
  return null;
}

/** A browser; the caller closes it. */
export async function launch(browser = 'chrome') {
  const require = createRequire(join(modules, 'package.json'));
  const { default: puppeteer } = await import(
    require.resolve('puppeteer-core')
  );
  return puppeteer.launch({
    browser,
    executablePath: PATHS[browser].find((path) => existsSync(path)),
    args: OPTIONS[browser],
    headless: true,
    timeout: 300000,
    protocolTimeout: 300000,
  });
}

/** A folder for a test, removed when the process ends. */
export function scratch() {
  const folder = mkdtempSync(join(tmpdir(), 'sprof-page.'));
  process.on('exit', () => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

/** The environment without what is a setting of tests and not of programs. */
export const environment = { ...process.env, SPROF_CACHE: 'off' };
for (const name of ['SPROF_BUILD', 'SPROF_SOURCE', 'SPROF_TEST_FULL'])
  delete environment[name];

/** What sprofile prints. */
export function run(...args) {
  return execFileSync(sprofile, args, {
    encoding: 'utf8',
    maxBuffer: 1 << 30,
    env: environment,
  });
}

/** Record COMMAND into FILE. */
export function record(file, command, options = {}) {
  execFileSync(sprofile, ['record', '-q', '-o', file, '--', ...command], {
    stdio: ['pipe', 'ignore', 'inherit'],
    env: environment,
    ...options,
  });
}

/**
 * Open FILE and wait until its time axis is there. Errors of the page are in
 * its list PROBLEMS.
 */
export async function openPage(browser, file, { hash = '', size } = {}) {
  const page = await browser.newPage();
  page.setDefaultTimeout(120000);
  page.problems = [];
  page.requests = [];
  page.on('pageerror', (error) => page.problems.push(String(error)));
  page.on('console', (message) => {
    if (['error', 'warn'].includes(message.type()))
      page.problems.push(message.text());
  });
  page.on('request', (request) => page.requests.push(request.url()));
  await page.setViewport(size ?? { width: 1280, height: 800 });
  await page.goto(`file://${file}${hash ? `#${hash}` : ''}`);
  await page.waitForFunction(
    () => document.documentElement.dataset.ready !== undefined,
  );
  page.usual = await state(page);
  return page;
}

/** PAGE as it was when it was opened: this takes less time than another one. */
export async function reset(page) {
  await page.mouse.move(5, 5);
  await page.evaluate((usual) => {
    for (const dialog of document.querySelectorAll('dialog[open]'))
      dialog.close();
    for (const menu of document.querySelectorAll('details[open]'))
      menu.open = false;
    document.activeElement?.blur();
    const { app, page: parts } = window.sprof;
    app.set(usual);
    app.flush();
    parts.timeline.view = [0, Math.max(1, app.model.meta.wallNs)];
    parts.flame.moveTo(0, app.layout.width, true);
  }, page.usual);
  await settle(page);
}

/** Change the state and wait until the views have followed. */
export async function set(page, patch) {
  await page.evaluate((state) => {
    window.sprof.app.set(state);
    window.sprof.app.flush();
  }, patch);
}

/** Wait until two frames have passed. */
export async function settle(page) {
  await page.evaluate(
    () =>
      new Promise((resolve) =>
        requestAnimationFrame(() => requestAnimationFrame(() => resolve(null))),
      ),
  );
}

/** What the page's state is. */
export function state(page) {
  return page.evaluate(() => window.sprof?.app.state);
}
