// SPDX-License-Identifier: MIT
// job.js -- a fixed amount of work: parsing, sorting, closures and numbers.
// Usage: job.js UNITS (a unit is some 10 ms of CPU time).
'use strict';

let state = 88172645;

function random() {
  state ^= state << 13;
  state ^= state >>> 17;
  state ^= state << 5;
  return state >>> 0;
}

function makeRows(count) {
  const rows = [];
  for (let i = 0; i < count; i++)
    rows.push({ id: i, key: (random() % 997).toString(36), price: random() / 7 });
  return rows;
}

function group(rows) {
  const sums = new Map();
  for (const row of rows)
    sums.set(row.key, (sums.get(row.key) || 0) + row.price);
  return [...sums].sort((a, b) => b[1] - a[1] || (a[0] < b[0] ? -1 : 1));
}

function walk(node, depth) {
  if (depth === 0) return node.id;
  return walk({ id: node.id + depth }, depth - 1) ^ depth;
}

function unit() {
  const rows = JSON.parse(JSON.stringify(makeRows(3000)));
  const top = group(rows.filter((row) => row.id % 3 !== 0));
  let sum = 0;
  for (let i = 0; i < 300; i++) sum += walk(rows[i], 40);
  return sum + top.length;
}

const units = Number(process.argv[2] || 100);
let result = 0;
for (let i = 0; i < units; i++) result = (result + unit()) | 0;
console.log(result);
