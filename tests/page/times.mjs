// SPDX-License-Identifier: MIT
/** times.mjs -- a page of tests/workload/known_times.c, with its source. */
import { join } from 'node:path';
import { build, record, run } from './browser.mjs';

/** Record known_times into FOLDER; its profile and its page. */
export function recordTimes(folder) {
  const file = join(folder, 'times.sprof');
  const html = join(folder, 'times.html');
  record(file, [join(build, 'tests', 'workload', 'known_times'), '300']);
  run('flame', '--source', '-o', html, file);
  return { file, html };
}
