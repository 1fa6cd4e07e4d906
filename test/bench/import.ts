import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { createReadStream, createWriteStream, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { pipeline } from 'node:stream/promises';
import { defineEmulatorClient } from '../../infra/cli/tableOption.ts';
import { type Engine, startEmbeddedEngine } from '../../infra/local/engine/engine.ts';
import { createTables } from '../../infra/local/localTables.ts';
import { dynoxideIsInstalled, startDynoxide } from '../support/dynoxide.ts';

/**
 * What an import costs in time and memory, and that neither bad rows nor a violent end spoil it: a
 * file of so many rows (1,000,000, or the first argument) is refused for its three planted bad rows,
 * then loaded, killed half way, loaded again and exported, and the export compared with what was made.
 */
const ROWS = Number(process.argv[2] ?? 1_000_000);
/** dynalite knows no PartiQL and takes an entry at a time. */
const DYNALITE_ROWS = Math.min(ROWS, 10_000);

const HEADER = 'petId,quantity,status\n';
const statuses = ['available', 'pending', 'sold'];
/** Odd, so that its multiples are 2^64 different ids, scattered over int64. */
const SCATTER = 0x9e3779b97f4a7c15n;

const folder = mkdtempSync(join(tmpdir(), 'petstore-import-'));
process.once('exit', () => rmSync(folder, { recursive: true, force: true }));

if (dynoxideIsInstalled) await measure('Dynoxide', startDynoxide, ROWS);
await measure('dynalite', startEmbeddedEngine, DYNALITE_ROWS);
process.exit();

async function measure(name: string, start: () => Promise<Engine>, rows: number): Promise<void> {
  const engine = await start();
  const client = defineEmulatorClient(engine.endpoint);
  await createTables(client);
  const [bad, good, out] = ['bad.csv', 'good.csv', 'out.csv'].map((file) => join(folder, file));
  const run = (command: string, file = '', killAt?: number) =>
    runOpsCommand(command, ['--endpoint', engine.endpoint, '--inventory', file], killAt);

  await writeStock(bad, rows, new Set([2, Math.ceil(rows / 2), rows + 1]));
  const refused = await run('import', bad);
  tell(name, 'checked, and refused for its bad rows', rows, refused);
  await writeStock(good, rows);
  tell(name, 'killed half way', rows / 2, await run('import', good, 50));
  tell(name, 'loaded again, to the end', rows, await run('import', good));
  tell(name, 'loaded once more, all there already', rows, await run('import', good));
  tell(name, 'replaced (--overwrite)', rows, await run('import --overwrite', good));
  const exported = await run('export', out);
  tell(name, 'exported', rows, exported);
  const isSame = exported.status === 0 && hashSortedStock(rows) === (await hashFile(out));
  process.stdout.write(`${name}: the export is ${isSame ? '' : 'NOT '}what was made.\n`);
  if (!isSame || refused.status !== 1) process.exitCode = 1;
  client.destroy();
  await engine.close();
}

function tell(name: string, what: string, rows: number, finished: Finished): void {
  const { seconds, peakMegabytes, status, stdout, stderr } = finished;
  const lines = (stdout + stderr)
    .split('\n')
    .filter((line) => line && !/^(Checking|Loading|Reading) /.test(line));
  process.stdout.write(
    `${name}: ${rows.toLocaleString('en')} rows ${what}: ${seconds.toFixed(1)} s, ` +
      `${Math.round(rows / seconds).toLocaleString('en')} rows/s, ` +
      `peak ${peakMegabytes} MB, status ${status}\n${lines.map((line) => `    ${line}\n`).join('')}`,
  );
}

async function hashFile(file = ''): Promise<string> {
  const hash = createHash('sha256');
  for await (const chunk of createReadStream(file)) hash.update(chunk);
  return hash.digest('hex');
}

interface Finished {
  /** `null` when it was killed. */
  readonly status: number | null;
  readonly seconds: number;
  /** The most memory it held, where /proc tells. */
  readonly peakMegabytes: number | undefined;
  readonly stdout: string;
  readonly stderr: string;
}

/**
 * Runs a command of `infra/ops/data` in a process of its own.
 * @param killAt the percentage of progress at which it is killed without a warning
 */
async function runOpsCommand(
  command: string,
  args: readonly string[],
  killAt = Number.POSITIVE_INFINITY,
): Promise<Finished> {
  const [name, ...options] = command.split(' ');
  const started = performance.now();
  const child = spawn(process.execPath, [`infra/ops/data/${name}.ts`, ...options, ...args], {
    cwd: join(import.meta.dirname, '../..'),
  });
  let peakMegabytes: number | undefined;
  const watch = setInterval(() => {
    peakMegabytes = readPeak(child.pid) ?? peakMegabytes;
  }, 50);
  child.stderr.on('data', (data: Buffer) => {
    const [, percent] = /(\d+)% of/.exec(data.toString()) ?? [];
    if (Number(percent) >= killAt) child.kill('SIGKILL');
  });
  const [stdout, stderr, [status]] = await Promise.all([
    text(child.stdout),
    text(child.stderr),
    once(child, 'exit') as Promise<[number | null]>,
  ]);
  clearInterval(watch);
  const seconds = (performance.now() - started) / 1_000;
  return { status, seconds, peakMegabytes, stdout, stderr };
}

function readPeak(pid = 0): number | undefined {
  try {
    const [, kilobytes] = /VmHWM:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8')) ?? [];
    return kilobytes === undefined ? undefined : Math.round(Number(kilobytes) / 1_024);
  } catch {
    return undefined;
  }
}

/** Writes inventory entries in no order to a CSV file; the given lines of it hold an unknown status. */
async function writeStock(
  file = '',
  rows: number,
  badLines: ReadonlySet<number> = new Set(),
): Promise<void> {
  function* toChunks(): Generator<string> {
    let chunk = HEADER;
    for (let row = 0; row < rows; row += 1) {
      const line = toLine(toId(row));
      chunk += badLines.has(row + 2) ? line.replace(/[a-z]+$/m, 'lost') : line;
      if (chunk.length < 65_536) continue;
      yield chunk;
      chunk = '';
    }
    yield chunk;
  }
  await pipeline(Readable.from(toChunks()), createWriteStream(file));
}

/** The SHA-256 of the same entries in the order of their ids. */
function hashSortedStock(rows: number): string {
  const ids = new BigInt64Array(rows).map((_, row) => toId(row)).sort();
  const hash = createHash('sha256').update(HEADER);
  for (const id of ids) hash.update(toLine(id));
  return hash.digest('hex');
}

function toId(row: number): bigint {
  return BigInt.asIntN(64, BigInt(row) * SCATTER);
}

function toLine(id: bigint): string {
  const quantity = Number(BigInt.asUintN(31, id));
  return `${id},${quantity},${statuses[quantity % 3]}\n`;
}
