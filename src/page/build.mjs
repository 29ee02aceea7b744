// SPDX-License-Identifier: MIT
/**
 * build.mjs -- bundles the page into one file: [OUT], dist/page.html. The
 * style and the script are packed like the data, because most of a small page
 * is code. A library packs them, and not node: other versions of zlib make
 * other bytes.
 */
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';
import { deflateSync } from 'fflate';

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

/** @param {string} text */
function packed(text) {
  const bytes = deflateSync(new TextEncoder().encode(text), { level: 9 });
  return Buffer.from(bytes).toString('base64');
}

/** @type {Record<string, string>} */
const parts = {
  PACKED: packed(`${await bundle('page.css')}\0${await bundle('main.js')}`),
  LOADER: await bundle('loader.js'),
};
const template = await readFile(join(here, 'src', 'page.html'), 'utf8');
const page = template.replace(
  /\/\*(PACKED|LOADER)\*\//g,
  (_, name) => parts[name],
);
if (page.split('<!--SPROF-DATA-->').length !== 2)
  throw new Error('page.html must have <!--SPROF-DATA--> once');
await mkdir(dirname(out), { recursive: true });
await writeFile(out, page);
