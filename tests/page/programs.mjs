// SPDX-License-Identifier: MIT
/** programs.mjs -- real programs, recorded. */
import { execFileSync, spawn } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { environment, record, run, source, sprofile } from './browser.mjs';

const PORT = '7393';

export function wait(ms) {
  return new Promise((resolve) => setTimeout(resolve, ms));
}

function redisInfo() {
  return execFileSync('redis-cli', ['-p', PORT, 'info', 'server'], {
    encoding: 'utf8',
  });
}

/** Have redis-server do COUNT of each of TESTS. */
function load(tests, count) {
  const options = ['-p', PORT, '-n', count, '-q', '-t', tests];
  const client = spawn('redis-benchmark', options, { stdio: 'ignore' });
  return new Promise((resolve) => client.on('exit', resolve));
}

/**
 * Record redis-server into FILE under two loads, one after the other. During
 * the first one LOOK is called with its process id; its result is returned.
 */
export async function recordRedis(file, folder, look = async () => null) {
  const command = ['redis-server', '--port', PORT, '--save', ''];
  const server = spawn(
    sprofile,
    ['record', '-q', '-o', file, '--', ...command],
    { stdio: 'ignore', env: environment, cwd: folder },
  );
  const ended = new Promise((resolve) => server.on('exit', resolve));
  await wait(2000);
  const pid = /process_id:(\d+)/.exec(redisInfo())[1];
  const first = load('set,get,incr', '40000');
  const seen = await look(pid);
  await first;
  await wait(700);
  await load('lpush,lrange_100,mset', '10000');
  execFileSync('redis-cli', ['-p', PORT, 'shutdown', 'nosave'], {
    stdio: 'ignore',
  });
  await ended;
  return seen;
}

const PYTHON = `
import json, threading, time
def parse(n):
    return json.loads(json.dumps([{"a": i, "b": str(i) * 5} for i in range(n)]))
def work(n):
    for i in range(n):
        parse(500)
threads = [threading.Thread(target=work, args=(40,)) for i in range(3)]
[t.start() for t in threads]
work(30)
time.sleep(0.1)
[t.join() for t in threads]
`;

const SQL = `
create table t(a integer, b text);
with recursive n(i) as (select 1 union all select i + 1 from n where i < 60000)
insert into t select i, hex(i * 7919 % 10007) from n;
create index tb on t(b);
select count(*) from t x join t y on x.a = y.a + 1 where x.b < y.b;
`;

/** Commands by name, with what spawning them needs. */
export function programs(folder) {
  const data = join(folder, 'data');
  writeFileSync(data, run('--help').repeat(1500));
  const code = join(source, 'tests', 'workload', 'chaos.cc');
  return {
    python: { command: ['python3', '-c', PYTHON] },
    sqlite: { command: ['sqlite3', ':memory:'], options: { input: SQL } },
    xz: { command: ['xz', '-T2', '--block-size=300000', '-kc', data] },
    gcc: { command: ['gcc', '-O2', '-c', code, '-o', join(folder, 'code.o')] },
  };
}

/** Record all five programs into FOLDER; their spools by name. */
export async function recordPrograms(folder) {
  const files = {};
  for (const [name, { command, options }] of Object.entries(programs(folder)))
    record((files[name] = join(folder, `${name}.sprof`)), command, options);
  files.redis = join(folder, 'redis.sprof');
  await recordRedis(files.redis, folder);
  return files;
}
