// SPDX-License-Identifier: MIT
/** firefox.test.mjs -- opening, sums, keys and the time strip in Firefox. */
process.env.BROWSER = 'firefox';
await import('./controls.test.mjs');
await import('./time.test.mjs');
