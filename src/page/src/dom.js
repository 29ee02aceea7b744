// SPDX-License-Identifier: MIT
/** dom.js -- elements of the page. Texts are texts, never markup. */

/**
 * An element with PROPERTIES: on... are listeners, others attributes; true is
 * an empty attribute, false and null none.
 * @template {keyof HTMLElementTagNameMap} T
 * @param {T} tag
 * @param {Record<string, any>} [properties]
 * @param {...(Node | string | null)} children
 * @returns {HTMLElementTagNameMap[T]}
 */
export function el(tag, properties = {}, ...children) {
  const element = document.createElement(tag);
  for (const [key, value] of Object.entries(properties)) {
    if (key.startsWith('on')) element.addEventListener(key.slice(2), value);
    else attribute(element, key, value);
  }
  for (const child of children) if (child !== null) element.append(child);
  return element;
}

/**
 * @param {Element} element
 * @param {string} key
 * @param {string | number | boolean | null} value
 */
export function attribute(element, key, value) {
  if (value === false || value === null) element.removeAttribute(key);
  else element.setAttribute(key, value === true ? '' : String(value));
}

/**
 * A bar of the width SHARE, 0 to 1.
 * @param {number} share
 * @param {string} [kind]
 */
export function bar(share, kind = '') {
  const inner = el('i', {});
  inner.style.width = `${Math.min(100, Math.max(0, 100 * share)).toFixed(2)}%`;
  return el('span', { class: `bar ${kind}`, 'aria-hidden': 'true' }, inner);
}

/**
 * @param {string} text
 * @param {() => void} action
 * @param {Record<string, any>} [properties]
 */
export function button(text, action, properties = {}) {
  return el('button', { type: 'button', onclick: action, ...properties }, text);
}

/**
 * Put TEXT into the clipboard, also where the page is a local file.
 * @param {string} text
 */
export async function copy(text) {
  try {
    await navigator.clipboard.writeText(text);
  } catch {
    const area = el('textarea', { class: 'unseen' });
    area.value = text;
    document.body.append(area);
    area.select();
    document.execCommand('copy');
    area.remove();
  }
  say(`Copied ${text.split('\n').length} line(s).`);
}

/**
 * Offer BLOB as a file.
 * @param {Blob} blob
 * @param {string} name
 */
export function save(blob, name) {
  const address = URL.createObjectURL(blob);
  el('a', { href: address, download: name }).click();
  setTimeout(() => URL.revokeObjectURL(address), 10000);
}

/**
 * Say TEXT to screen readers, and show it for a moment.
 * @param {string} text
 */
export function say(text) {
  const place = document.getElementById('said');
  if (!place) return;
  place.textContent = text;
  place.classList.add('shown');
  clearTimeout(Number(place.dataset.timer));
  place.dataset.timer = String(
    setTimeout(() => place.classList.remove('shown'), 2500),
  );
}
