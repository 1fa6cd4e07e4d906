import { readFileSync, writeFileSync } from 'node:fs';
import { gunzipSync, gzipSync } from 'node:zlib';
import { type DynamoDBClient, ScanCommand } from '@aws-sdk/client-dynamodb';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type Engine, startEmbeddedEngine } from '../../../../infra/local/engine/engine.ts';
import { runExport } from '../../../../infra/ops/data/runExport.ts';
import { runImport } from '../../../../infra/ops/data/runImport.ts';
import { openStoreTables } from '../../../support/storeTables.ts';
import { callOps, runOps } from '../opsProcess.ts';
import { openDataFolder, toStockLines } from './dataFolder.ts';

const data = openDataFolder();
const stock = toStockLines(100);
const toText = (lines: readonly string[]) => lines.map((line) => `${line}\n`).join('');
let engine: Engine;
let client: DynamoDBClient;
let at: string[];

beforeEach(async () => {
  engine = await startEmbeddedEngine();
  client = await openStoreTables(engine);
  at = ['--endpoint', engine.endpoint];
});
afterEach(async () => {
  client.destroy();
  await engine.close();
});

async function count(): Promise<number> {
  return (await client.send(new ScanCommand({ TableName: 'inventory' }))).Count ?? 0;
}

describe('gzip by the name of a file', () => {
  it('is packed by an export, unpacked by an import, and the same for the same data', async () => {
    const [packed, again] = [data.toPath('stock.csv.gz'), data.toPath('again.csv.gz')];
    writeFileSync(packed, gzipSync(toText(stock)));
    expect(await callOps(runImport, [...at, '--inventory', packed])).toMatchObject({ status: 0 });
    expect(await count()).toBe(100);
    expect(await callOps(runExport, [...at, '--inventory', again])).toMatchObject({ status: 0 });
    expect(gunzipSync(readFileSync(again)).toString()).toBe(toText(stock));
  });

  it.each([
    ['cut off', gzipSync(toText(stock)).subarray(0, -20), 'unexpected end of file'],
    ['no gzip', Buffer.from(toText(stock)), 'incorrect header check'],
  ])(
    'that is %s is refused with the name of the file, before anything is written',
    async (_, bytes, reason) => {
      const file = data.toPath('bad.csv.gz');
      writeFileSync(file, bytes);
      const { status, stderr } = await callOps(runImport, [...at, '--inventory', file]);
      expect(stderr).toBe(`${file} cannot be read: ${reason}.\n`);
      expect(status).toBe(1);
      expect(await count()).toBe(0);
    },
  );
});

describe('the name -', () => {
  it('is standard input to an import, and standard output to an export, with nothing else on it', async () => {
    const args = [...at, '--inventory', '-'];
    const loaded = await runOps('infra/ops/data/import.ts', args, { piped: toText(stock) });
    expect(loaded.stdout).toMatch(/^inventory: 100 rows in -: 100 added/);
    expect(loaded).toMatchObject({ status: 0, stderr: '' });
    const saved = await runOps('infra/ops/data/export.ts', args);
    expect(saved).toMatchObject({ status: 0, stdout: toText(stock) });
    expect(saved.stderr).toMatch(/^inventory: 100 rows to -; /);
  });

  it('has the rows of standard input named by line, and nothing is written when one is wrong', async () => {
    const pets = '{"id":1,"name":"Rex","status":"sold"}\n{"id":2}\n';
    const args = [...at, '--pets', '-'];
    const { status, stdout, stderr } = await runOps('infra/ops/data/import.ts', args, {
      piped: pets,
    });
    expect(stderr).toContain('-:2: name is missing');
    expect(stderr).toContain('Nothing was written: 1 of 2 rows in - is not valid.');
    expect({ status, stdout }).toEqual({ status: 1, stdout: '' });
  });
});

describe('rows that are not valid', () => {
  const header = 'status,petId,quantity';
  const lines = [header, 'sold,1,1', 'lost,2,2', 'sold,3,3', 'sold,1,4', 'sold,"x'];

  it('are left out with status 3, and stand as they were in a file that can be corrected and imported', async () => {
    const rejects = data.toPath('rejects.csv');
    const args = [...at, '--inventory', data.write('mixed.csv', lines)];
    const loaded = await callOps(runImport, [...args, '--skip-invalid', '--rejects', rejects]);
    expect(loaded.stdout).toContain('2 added, 0 there already and kept, 3 not valid and left out');
    expect(loaded.status).toBe(3);
    expect(data.read('rejects.csv')).toBe(toText([header, 'lost,2,2', 'sold,1,4', 'sold,"x']));
    data.write('rejects.csv', [header, 'sold,2,2']);
    expect(await callOps(runImport, [...at, '--inventory', rejects])).toMatchObject({ status: 0 });
    expect(await count()).toBe(3);
  });

  it('are written to the file also when nothing is loaded, and it is empty when there are none', async () => {
    const good = data.write('good.jsonl', ['{"petId":1,"quantity":1,"status":"sold"}']);
    const bad = data.write('bad.jsonl', ['{"petId":1}']);
    const rejects = ['--rejects', data.toPath('rejects.jsonl')];
    expect(await callOps(runImport, [...at, '--inventory', bad, ...rejects])).toMatchObject({
      status: 1,
    });
    expect(data.read('rejects.jsonl')).toBe('{"petId":1}\n');
    expect(await callOps(runImport, [...at, '--inventory', good, ...rejects])).toMatchObject({
      status: 0,
    });
    expect(data.read('rejects.jsonl')).toBe('');
  });
});

describe('a dry run', () => {
  it.each([
    [toStockLines(5), [], 0, 'inventory: 5 of 5 rows in '],
    [[...toStockLines(5), '1,1,lost'], [], 1, ''],
    [[...toStockLines(5), '1,1,lost'], ['--skip-invalid'], 3, 'inventory: 5 of 6 rows in '],
  ])(
    'of %j with %j says what is valid, writes nothing, and ends with status %i',
    async (lines, options, status, told) => {
      const args = [...at, '--dry-run', '--inventory', data.write('dry.csv', lines), ...options];
      const outcome = await callOps(runImport, args);
      expect(outcome.status).toBe(status);
      expect(outcome.stdout).toMatch(new RegExp(`^${told}`));
      if (status !== 1) expect(outcome.stdout).toMatch(/ are valid; nothing was written\.\n$/);
      expect(await count()).toBe(0);
    },
  );

  it('looks for the tables too', async () => {
    const args = [...at, '--dry-run', '--inventory', data.write('dry.csv', stock)];
    const { status, stderr } = await callOps(runImport, [...args, '--inventory-table', 'absent']);
    expect(stderr).toContain('ResourceNotFoundException');
    expect(status).toBe(1);
  });
});
