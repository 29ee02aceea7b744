// SPDX-License-Identifier: MIT
/**
 * kinds.mjs -- prints the kind of each function in a page, before its name.
 *
 *   node kinds.mjs PAGE
 */
import { decodeHead, elementsOf } from '../../src/page/src/decode.js';
import { elements } from '../page/page.mjs';

const document = elements(process.argv[2]);
const { funcs, strings } = await decodeHead(elementsOf(document, 'sprof-head'));
funcs.kind.forEach((kind, func) =>
  console.log(kind, strings[funcs.name[func]]),
);
