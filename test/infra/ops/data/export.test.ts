import { existsSync, mkdirSync, readdirSync } from 'node:fs';
import { DeleteItemCommand, type DynamoDBClient, PutItemCommand } from '@aws-sdk/client-dynamodb';
import { marshall } from '@aws-sdk/util-dynamodb';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { toKey, toKeySchema } from '../../../../infra/bulk/resources.ts';
import type { Command } from '../../../../infra/cli/usage.ts';
import type { Engine } from '../../../../infra/local/engine/engine.ts';
import { runExport } from '../../../../infra/ops/data/runExport.ts';
import { runImport } from '../../../../infra/ops/data/runImport.ts';
import { toJson } from '../../../../shared/contract/values.ts';
import { fixtures } from '../../../conformance/fixtures.ts';
import { engines } from '../../../support/engines.ts';
import {
  type FaultyEndpoint,
  startFaultyEndpoint,
} from '../../../support/faults/faultyEndpoint.ts';
import { openStoreTables } from '../../../support/storeTables.ts';
import { callOps } from '../opsProcess.ts';
import { openDataFolder, toStockLines } from './dataFolder.ts';

const data = openDataFolder();
const stock = toStockLines(400);
const byId = (a: { id: bigint }, b: { id: bigint }) => (a.id < b.id ? -1 : 1);
const pets = fixtures.pets.toSorted(byId).map(toJson);
const orders = fixtures.orders.toSorted(byId).map(toJson);

describe.each(engines)('npm run export on $name', ({ name, start }) => {
  let engine: Engine;
  let client: DynamoDBClient;
  let faulty: FaultyEndpoint;

  beforeAll(async () => {
    engine = await start();
    client = await openStoreTables(engine);
    faulty = await startFaultyEndpoint(engine.endpoint);
  });

  afterAll(async () => {
    client.destroy();
    await faulty.close();
    await engine.close();
  });

  const transfer = (command: Command, files: Record<string, string>, options: string[] = []) =>
    callOps(command, [
      ...['--endpoint', faulty.endpoint],
      ...options,
      ...Object.entries(files).flatMap(([option, file]) => [`--${option}`, file]),
    ]);

  it('gives back byte for byte what was imported in another order, in pages of any size', async () => {
    const given = {
      inventory: data.write(`${name}.csv`, [stock[0] ?? '', ...stock.slice(1).reverse()]),
      pets: data.write(`${name}.pets.jsonl`, pets.toReversed()),
      orders: data.write(`${name}.orders.jsonl`, orders.toReversed()),
    };
    expect(await transfer(runImport, given, ['--overwrite'])).toMatchObject({
      status: 0,
      stderr: '',
    });
    faulty.pageSize = 150;
    const names = { inventory: 'out.csv', pets: 'out.pets.jsonl', orders: 'out.orders.jsonl' };
    const outcome = await transfer(runExport, {
      inventory: data.toPath(names.inventory),
      pets: data.toPath(names.pets),
      orders: data.toPath(names.orders),
    });
    expect(outcome).toMatchObject({ status: 0, stderr: '' });
    expect(outcome.stdout).toContain('inventory: 400 rows to ');
    const toText = (lines: readonly string[]) => lines.map((line) => `${line}\n`).join('');
    expect(data.read(names.inventory)).toBe(toText(stock));
    expect(data.read(names.pets)).toBe(toText(pets));
    expect(data.read(names.orders)).toBe(toText(orders));
  });

  it('leaves an earlier file as it was, and no half one, when it fails', async () => {
    const file = data.write('kept.jsonl', ['earlier']);
    faulty.fail({ action: 'Scan', fault: 'accessDenied', after: 1 });
    const { status, stdout, stderr } = await transfer(runExport, { inventory: file });
    faulty.heal();
    expect(stderr).toContain('AccessDeniedException');
    expect({ status, stdout }).toEqual({ status: 1, stdout: '' });
    expect(data.read('kept.jsonl')).toBe('earlier\n');
    expect(readdirSync(data.folder).filter((entry) => entry.includes('unfinished'))).toEqual([]);
  });

  it.each([
    ['inventory', { p: 7, s: 'a' }, '{"petId":7,"status":"available"}', 'quantity is missing.'],
    ['inventory', { p: 7, q: 1 }, '{"petId":7,"quantity":1}', 'status is missing.'],
    [
      'inventory',
      { p: 7, q: '1', s: 'x' },
      '{"petId":7,',
      'and is "1"; status must be "available"',
    ],
    ['pets', { id: 7, status: 'sold' }, '"id":7', 'name is missing.'],
    [
      'pets',
      { id: 7, name: 'Rex', status: 'lost' },
      '"id":7',
      'status must be "available", "pending" or "sold", and is "lost"',
    ],
    ['orders', { id: 7, ledger: 'o', placed: '1' }, '"id":7', 'petId is missing; quantity'],
  ] as const)('refuses a record of %s that is %j, and says what is wrong', async (...row) => {
    const [table, record, named, wrong] = row;
    const item = { TableName: table, Item: marshall(record) };
    await client.send(new PutItemCommand(item));
    const file = data.toPath('never.jsonl');
    const { status, stderr } = await transfer(runExport, { [table]: file });
    faulty.heal();
    await client.send(
      new DeleteItemCommand({ ...item, Key: toKey(toKeySchema(table), item.Item) }),
    );
    expect(stderr).toMatch(/^The record {.*} is not valid: [^\n]+\n$/);
    expect(stderr).toContain(named);
    expect(stderr).toContain(wrong);
    expect(status).toBe(1);
    expect(existsSync(file)).toBe(false);
  });

  it('gets past throttling', async () => {
    faulty.fail({ action: 'Scan', fault: 'throughputExceeded', times: 2 });
    const { status } = await transfer(runExport, { pets: data.toPath('throttled.jsonl') });
    expect(status).toBe(0);
    expect(faulty.calls.get('Scan')).toBe(3);
    faulty.heal();
  });
});

describe('npm run export', () => {
  const folder = data.toPath('folder.csv');
  mkdirSync(folder);

  it.each([
    [['--pets', 'pets.csv', '--endpoint', 'http://127.0.0.1:9'], 'ends in .jsonl'],
    [['--pets', '/nowhere/pets.jsonl', '--endpoint', 'http://127.0.0.1:9'], 'cannot be written'],
    [['--inventory', folder, '--endpoint', 'http://127.0.0.1:9'], 'must name a file'],
    [['--pets', 'pets.jsonl', '--stage', 'test'], '--stage must be staging or production'],
  ])('refuses %j with one clear line and status 2', async (args, message) => {
    const { status, stdout, stderr } = await callOps(runExport, args);
    expect(stderr).toContain(message);
    expect(stderr.trimEnd().split('\n')).toHaveLength(1);
    expect({ status, stdout }).toEqual({ status: 2, stdout: '' });
  });
});
