// SPDX-License-Identifier: MIT
/** loader.js -- unpacks the style and the script of the page. */

async function load() {
  const element = document.getElementById('sprof-code');
  const packed = atob(element?.textContent?.trim() ?? '');
  const bytes = Uint8Array.from(packed, (c) => c.charCodeAt(0));
  const stream = new Blob([bytes])
    .stream()
    .pipeThrough(new DecompressionStream('deflate-raw'));
  const text = await new Response(stream).text();
  const end = text.indexOf('\0');
  const sheet = document.createElement('style');
  sheet.textContent = text.slice(0, end);
  document.head.append(sheet);
  const script = document.createElement('script');
  script.textContent = text.slice(end + 1);
  document.body.append(script);
}

load().catch(() => {
  const place = document.querySelector('.opening');
  if (place)
    place.textContent =
      'This page needs a browser of 2023 or later (DecompressionStream).';
});
