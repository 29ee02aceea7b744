// SPDX-License-Identifier: MIT
/**
 * page.mjs -- what tests of the page share: a page that sprofile writes, its
 * elements without a browser, and the rows of `sprofile report --json`.
 */
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

export const build = process.env.SPROF_BUILD ?? 'build';

export const scratch = mkdtempSync(join(tmpdir(), 'sprof-page-'));
process.on('exit', () => rmSync(scratch, { recursive: true }));

/** Run PROGRAM of the build tree, or of the system. */
export function run(program, args, environment = {}) {
  const path = program.startsWith('/') ? program : join(build, program);
  const { SPROF_BUILD, SPROF_SOURCE, ...env } = process.env;
  return execFileSync(path, args, {
    encoding: 'utf8',
    maxBuffer: 1 << 30,
    env: { ...env, ...environment },
  });
}

/** The data elements of the page FILE, by their ids. */
export function elements(file) {
  const html = readFileSync(file, 'utf8');
  const pattern = /<script type="application\/octet-stream" id="([^"]+)">/g;
  const all = new Map();
  for (const match of html.matchAll(pattern)) {
    const from = match.index + match[0].length;
    const textContent = html.slice(from, html.indexOf('</script>', from));
    all.set(match[1], { textContent });
  }
  return { getElementById: (id) => all.get(id) ?? null };
}

/** What `sprofile report --json ARGS` prints. */
export function report(args) {
  return JSON.parse(run('sprofile', ['report', '--json', '-n', '0', ...args]));
}
