// SPDX-License-Identifier: MIT
/** build.mjs -- bundles the page into one file: [OUT], dist/page.html. */
import { readFile, writeFile, mkdir } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';

const here = dirname(fileURLToPath(import.meta.url));
const out = process.argv[2] ?? join(here, 'dist', 'page.html');

/** @param {string} entry */
async function bundle(entry) {
  const result = await build({
    entryPoints: [join(here, 'src', entry)],
    bundle: true,
    minify: true,
    write: false,
    format: 'iife',
    target: ['chrome117', 'firefox119', 'safari17.4'],
    charset: 'utf8',
    legalComments: 'none',
    logLevel: 'error',
  });
  return result.outputFiles[0].text.trim();
}

/** @type {Record<string, string>} */
const parts = {
  '/*STYLE*/': await bundle('page.css'),
  '/*SCRIPT*/': (await bundle('main.js')).replace(/<\/(script)/gi, '<\\/$1'),
};
const template = await readFile(join(here, 'src', 'page.html'), 'utf8');
const page = template.replace(/\/\*(STYLE|SCRIPT)\*\//g, (mark) => parts[mark]);
if (page.split('<!--SPROF-DATA-->').length !== 2)
  throw new Error('page.html must have <!--SPROF-DATA--> once');
await mkdir(dirname(out), { recursive: true });
await writeFile(out, page);
