// SPDX-License-Identifier: MIT
// calls.js -- computes, and calls preadv(2) for as long; see calls.py.
// Usage: calls.js SECONDS BYTES FILE
'use strict';

const fs = require('fs');

const PART_US = 50000;
const BUFFER = 64 << 20;

// The main thread has nearly all of the process's CPU time.
function used() {
  const { user, system } = process.cpuUsage();
  return user + system;
}

function call_user() {
  const begin = used();
  let number = 1;
  while (used() - begin < PART_US)
    for (let i = 0; i < 100000; i++) number = (number * 7) % 1000003;
  return used() - begin;
}

let count = 0;

function call_read(fd, buffers) {
  const begin = used();
  while (used() - begin < PART_US) {
    fs.readvSync(fd, buffers, 0);
    count++;
  }
  return used() - begin;
}

const [seconds, size, path] = process.argv.slice(2);
const fd = fs.openSync(path, 'r');
const buffer = Buffer.alloc(Math.min(Number(size), BUFFER));
const buffers = Array(Math.max(1, Math.floor(Number(size) / BUFFER))).fill(buffer);
const end = Date.now() + 1000 * Number(seconds);
let user = 0;
let read = 0;
while (Date.now() < end) {
  user += call_user();
  read += call_read(fd, buffers);
}
console.log(`work call_user ${user * 1000} ${user * 1000}`);
console.log(`work call_read ${read * 1000} ${read * 1000}`);
console.log(`calls ${count}`);
