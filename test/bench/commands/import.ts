import { createHash } from 'node:crypto';
import { createReadStream, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { defineEmulatorClient } from '../../../infra/cli/tableOption.ts';
import { type Engine, startEmbeddedEngine } from '../../../infra/local/engine/engine.ts';
import { createTables } from '../../../infra/local/localTables.ts';
import { dynoxideIsInstalled, startDynoxide } from '../../support/dynoxide.ts';
import { type Finished, runOpsCommand } from './opsCommand.ts';
import { hashSortedStock, writeStock } from './stockFile.ts';

/**
 * What an import costs in time and memory, and that neither bad rows nor a violent end spoil it: a
 * file of so many rows (1,000,000, or the first argument) is refused for its three planted bad rows,
 * then loaded, killed half way, loaded again and exported, and the export compared with what was made.
 */
const ROWS = Number(process.argv[2] ?? 1_000_000);
/** dynalite knows no PartiQL and takes an entry at a time. */
const DYNALITE_ROWS = Math.min(ROWS, 10_000);

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
