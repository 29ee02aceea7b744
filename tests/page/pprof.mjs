// SPDX-License-Identifier: MIT
/** pprof.mjs -- writes pprof files whose names are chosen by a test. */
import { writeFileSync } from 'node:fs';
import { gzipSync } from 'node:zlib';

function varint(number) {
  const bytes = [];
  let rest = BigInt(number);
  do {
    const low = Number(rest & 127n);
    rest >>= 7n;
    bytes.push(rest > 0n ? low | 128 : low);
  } while (rest > 0n);
  return Buffer.from(bytes);
}

const number = (field, value) =>
  Buffer.concat([varint(field << 3), varint(value)]);
const bytes = (field, value) =>
  Buffer.concat([varint((field << 3) | 2), varint(value.length), value]);
const list = (field, values) => bytes(field, Buffer.concat(values.map(varint)));

/**
 * Write FILE with SAMPLES of {stack (names, leaf first), cpu, wall, labels}.
 */
export function writePprof(file, samples) {
  const strings = [''];
  const known = new Map([['', 0]]);
  const string = (text) => {
    if (!known.has(text)) known.set(text, strings.push(text) - 1);
    return known.get(text);
  };
  const functions = new Map();
  const functionOf = (name) => {
    if (!functions.has(name)) functions.set(name, functions.size + 1);
    return functions.get(name);
  };
  const types = [
    ['samples', 'count'],
    ['cpu', 'nanoseconds'],
    ['wall', 'nanoseconds'],
  ].map(([type, unit]) =>
    bytes(1, Buffer.concat([number(1, string(type)), number(2, string(unit))])),
  );
  const records = samples.map(({ stack, cpu, wall, labels = {} }) =>
    bytes(
      2,
      Buffer.concat([
        list(1, stack.map(functionOf)),
        list(2, [1, cpu, wall]),
        ...Object.entries(labels).map(([key, value]) =>
          bytes(
            3,
            Buffer.concat([
              number(1, string(key)),
              typeof value === 'number'
                ? number(3, value)
                : number(2, string(value)),
            ]),
          ),
        ),
      ]),
    ),
  );
  const locations = [...functions.values()].map((id) =>
    bytes(4, Buffer.concat([number(1, id), bytes(4, number(1, id))])),
  );
  const names = [...functions].map(([name, id]) =>
    bytes(5, Buffer.concat([number(1, id), number(2, string(name))])),
  );
  const texts = strings.map((text) => bytes(6, Buffer.from(text)));
  writeFileSync(
    file,
    gzipSync(
      Buffer.concat([...types, ...records, ...locations, ...names, ...texts]),
    ),
  );
}
