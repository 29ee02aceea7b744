// SPDX-License-Identifier: MIT
/**
 * states.mjs -- prints the sums of each state in a page: name, CPU time and wall
 * time in ns, with "|" between them.
 *
 *   node states.mjs PAGE
 */
import { decodeHead, elementsOf } from '../../src/page/src/decode.js';
import { elements } from '../page/page.mjs';

const document = elements(process.argv[2]);
const model = await decodeHead(elementsOf(document, 'sprof-head'));
const { rows, states, strings } = model;
const sums = states.map(() => [0, 0]);
for (let row = 0; row < rows.n; row++) {
  sums[rows.state[row]][0] += rows.cpu[row];
  sums[rows.state[row]][1] += rows.wall[row];
}
states.forEach(({ name }, state) =>
  console.log([strings[name], ...sums[state]].join('|')),
);
