// SPDX-License-Identifier: MIT
/** controls.mjs -- a page of a profile of which a test knows everything. */
import { join } from 'node:path';
import { run } from './browser.mjs';
import { writePprof } from './pprof.mjs';

/**
 * Write a page of two threads: main calls parse and render; both call check,
 * parse calls itself.
 */
export function writeKnown(folder) {
  const file = join(folder, 'known.pb.gz');
  const html = join(folder, 'known.html');
  const main = { thread: 'main', tid: 10, state: 'running', request: '/a' };
  const worker = { thread: 'worker', tid: 11, state: 'running', request: '/b' };
  const asleep = { thread: 'worker', tid: 11, state: 'futex' };
  writePprof(file, [
    {
      stack: ['check', 'parse', 'parse', 'main'],
      cpu: 4e9,
      wall: 4e9,
      labels: main,
    },
    { stack: ['render', 'main'], cpu: 3e9, wall: 3e9, labels: main },
    { stack: ['check', 'render', 'loop'], cpu: 2e9, wall: 2e9, labels: worker },
    { stack: ['wait', 'loop'], cpu: 0, wall: 8e9, labels: asleep },
  ]);
  run('convert', file, html);
  return html;
}
