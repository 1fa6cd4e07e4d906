import { mkdirSync } from 'node:fs';
import { type DynamoDBClient, GetItemCommand, ScanCommand } from '@aws-sdk/client-dynamodb';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { Engine } from '../../../../infra/local/engine/engine.ts';
import { runExport } from '../../../../infra/ops/data/runExport.ts';
import { runImport } from '../../../../infra/ops/data/runImport.ts';
import { defineInventoryUpdates } from '../../../../shared/store/inventoryUpdates.ts';
import { engines } from '../../../support/engines.ts';
import {
  type FaultyEndpoint,
  startFaultyEndpoint,
} from '../../../support/faults/faultyEndpoint.ts';
import { openStoreTables } from '../../../support/storeTables.ts';
import { startCloudFormation } from '../cloudFormation.ts';
import { callOps, type RunOptions, runOps } from '../opsProcess.ts';
import { openDataFolder, toStockLines } from './dataFolder.ts';

const data = openDataFolder();

describe.each(engines)('npm run import on $name', ({ name, start }) => {
  /** dynalite takes an entry at a time. */
  const many = name === 'dynalite' ? 200 : 4_000;
  const at = openImport(start);
  const { load, loadApart, count, quantityOf } = at;

  it('is refused for its bad rows, killed half way, and loaded by running it again', async () => {
    const lines = toStockLines(many);
    const bad = lines.with(2, '5,-1,available').with(many, '6,1,lost');
    const refused = await load(data.write('bad.csv', bad));
    expect(refused.stderr).toContain('bad.csv:3: quantity must be an integer from 0 to 2147483647');
    expect(refused.stderr).toContain(`bad.csv:${many + 1}: status must be "available", "pending"`);
    expect(refused.stderr).toContain('Nothing was written: 2 of');
    expect(refused).toMatchObject({ status: 1, stdout: '' });
    expect(await count()).toBe(0);

    const good = data.write('good.csv', lines);
    const writes = name === 'dynalite' ? 'PutItem' : 'BatchExecuteStatement';
    at.faulty().heal();
    const killed = await loadApart(good, [], (child) => {
      const watch = setInterval(() => {
        const perCall = writes === 'PutItem' ? 1 : 25;
        if ((at.faulty().calls.get(writes) ?? 0) * perCall < many / 3) return;
        clearInterval(watch);
        child.kill('SIGKILL');
      }, 5);
      child.once('exit', () => clearInterval(watch));
    });
    expect(killed.status).toBeNull();
    const loaded = await count();
    expect(loaded).toBeGreaterThan(many / 4);
    expect(loaded).toBeLessThan(many);

    const again = await load(good);
    expect(again).toMatchObject({ status: 0 });
    const [, added = '', kept = ''] = /: ([\d,]+) added, ([\d,]+) there/.exec(again.stdout) ?? [];
    const toNumber = (text: string) => Number(text.replaceAll(',', ''));
    expect(toNumber(added) + toNumber(kept)).toBe(many);
    // What was still on its way when the process died may have arrived since.
    expect(toNumber(kept)).toBeGreaterThanOrEqual(loaded);
    expect(await count()).toBe(many);
    expect(await quantityOf('9223372036854775807')).toBe(String(((many - 1) * 7_919) % 2 ** 31));
  }, 90_000);

  it('repeats a write that meets a transaction on its entry', async () => {
    for (const options of [[], ['--overwrite']]) {
      for (const action of ['PutItem', 'BatchExecuteStatement', 'BatchWriteItem']) {
        at.faulty().fail({ action, fault: 'transactionConflict', times: 2 });
      }
      const { status, stderr } = await load(data.write('few.csv', toStockLines(30)), options);
      expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
      expect(await count()).toBe(30);
    }
  });

  it('keeps what is there, even stock that has changed since, unless it is told to overwrite', async () => {
    const file = data.write('three.csv', ['petId,quantity,status', '1,10,sold', '2,20,sold']);
    await load(file);
    const updates = defineInventoryUpdates(at.client(), 'inventory', 'requests');
    await updates.setQuantity({ petId: 1n, quantity: 99 });
    const kept = await load(file);
    expect(kept.stdout).toContain(': 0 added, 2 there already and kept;');
    expect(await quantityOf('1')).toBe('99');
    const replaced = await load(file, ['--overwrite']);
    expect(replaced.stdout).toContain(': 2 written;');
    expect(await quantityOf('1')).toBe('10');
  });
});

/** The emulator that knows PartiQL, as DynamoDB does, where it is installed. */
describe.each(engines.slice(-1))('npm run import on $name', ({ start }) => {
  const at = openImport(start);
  const { load, loadApart, count, quantityOf } = at;

  it('loads the rows that are valid when it is told to skip the others, the first of each id', async () => {
    const file = data.write('mixed.jsonl', [
      '{"petId":9007199254740993,"quantity":1,"status":"sold"}',
      '{"petId":9007199254740992,"quantity":2}',
      'nonsense',
      '',
      '{"petId":9007199254740993,"quantity":3,"status":"sold"}',
      '{"petId":9223372036854775808,"quantity":4,"status":"sold"}',
      '[]',
    ]);
    const { status, stdout, stderr } = await load(file, ['--skip-invalid', '--overwrite']);
    const told = stderr.trimEnd().split('\n');
    expect(told.map((line) => line.replace(/^.*(mixed)/, '$1'))).toEqual([
      'mixed.jsonl:2: status is missing',
      expect.stringMatching(/^mixed\.jsonl:3: is not JSON: /),
      'mixed.jsonl:5: petId 9007199254740993 is that of line 1 too',
      expect.stringMatching(/^mixed\.jsonl:6: petId must be an integer from -9223372036854775808/),
      expect.stringMatching(/^mixed\.jsonl:7: must be of type object, and is \[\]$/),
    ]);
    expect(stdout).toContain(': 1 written, 5 not valid and left out;');
    expect(status).toBe(3);
    expect(await count()).toBe(1);
    expect(await quantityOf('9007199254740993')).toBe('1');
  });

  it('counts one row as one, as an export does', async () => {
    const good = data.write('one.csv', ['petId,quantity,status', '7,1,sold']);
    expect((await load(good)).stdout).toMatch(/^inventory: 1 row in /);
    const exported = ['--endpoint', at.engine().endpoint, '--inventory', good];
    expect((await callOps(runExport, exported)).stdout).toMatch(/^inventory: 1 row to /);
    const one = data.write('one.csv', ['petId,quantity,status', '07,1,sold']);
    const refused = await load(one);
    expect(refused.stderr).toBe(
      `${one}:2: petId must have no leading zero, and is "07"\n` +
        `Nothing was written: 1 of 1 row in ${one} is not valid. Correct it, or add --skip-invalid to load the others.\n`,
    );
    const bad = Array.from({ length: 21 }, (_, row) => `${row},-1,sold`);
    const { stderr } = await load(data.write('many.csv', ['petId,quantity,status', ...bad]));
    expect(stderr).toMatch(
      /\n… and 1 more invalid row\.\n[^\n]+ 21 of 21 rows in [^\n]+ are not valid/,
    );
  });

  it('finds a stage’s tables through its stack, and asks before it overwrites what they hold', async () => {
    const cloudFormation = await startCloudFormation('petstore-production', {
      InventoryTableName: 'inventory',
      PetsTableName: 'pets',
      OrdersTableName: 'orders',
    });
    const file = data.write('one.csv', ['petId,quantity,status', '1,10,sold']);
    const args = ['--stage', 'production', '--inventory', file];
    const variables = cloudFormation.toVariables(at.engine().endpoint);
    expect(await callOps(runImport, args, variables)).toMatchObject({ status: 0, stderr: '' });
    expect(await quantityOf('1')).toBe('10');
    const unasked = await callOps(runImport, [...args, '--overwrite'], variables);
    expect(unasked).toMatchObject({ status: 2, stderr: expect.stringContaining('add --yes') });
    cloudFormation.close();
  });

  it('gets past throttling, failures and broken connections', async () => {
    at.faulty().fail({ fault: 'throughputExceeded', after: 1, times: 3 });
    at.faulty().fail({ fault: 'unavailable', after: 6, times: 2 });
    at.faulty().fail({ fault: 'reset', after: 10, times: 2 });
    for (const options of [[], ['--overwrite']]) {
      const { status, stderr } = await load(data.write('some.csv', toStockLines(300)), options);
      expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
      expect(await count()).toBe(300);
    }
  });

  it('stops on Ctrl-C once what is under way is written, and says where it was', async () => {
    const file = data.write('long.csv', toStockLines(2_000));
    const { status, stdout, stderr } = await loadApart(file, ['--max-wcu', '400'], (child) => {
      const watch = setInterval(() => {
        const { calls } = at.faulty();
        if ((calls.get('PutItem') ?? calls.get('BatchExecuteStatement') ?? 0) < 5) return;
        clearInterval(watch);
        child.kill('SIGINT');
      }, 5);
      child.once('exit', () => clearInterval(watch));
    });
    const [, line, written] = /up to line (\d+) \((\d+) written\)/.exec(stderr) ?? [];
    expect(stderr).toContain('Interrupted: ');
    expect(stderr).toContain('run the same command again');
    expect({ status, stdout }).toEqual({ status: 130, stdout: '' });
    const found = await count();
    expect(found).toBeLessThan(2_000);
    expect(found).toBeGreaterThanOrEqual(Math.max(Number(written), Number(line) - 1));
  });

  it('gives up on a table that throttles for too long, and says where it was', async () => {
    const file = data.write('some.csv', toStockLines(300));
    at.faulty().fail({ fault: 'throughputExceeded', after: 1 });
    const { status, stdout, stderr } = await load(file, ['--give-up-after', '1s']);
    expect(stderr).toMatch(/^Stopped: .*some\.csv is loaded up to line 0 \(0 written\)/);
    expect(stderr).toContain('ProvisionedThroughputExceededException');
    expect(stderr.trimEnd().split('\n')).toHaveLength(2);
    expect({ status, stdout }).toEqual({ status: 1, stdout: '' });
  });
});

describe('npm run import', () => {
  const emulator = ['--endpoint', 'http://127.0.0.1:9'];
  const stock = data.write('stock.csv', toStockLines(3));
  mkdirSync(data.toPath('folder.csv'));

  it.each([
    [[], 'Name at least one file'],
    [['--inventory', stock, '--stage', 'staging', ...emulator], 'Say which tables'],
    [['--inventory', 'stock.txt', ...emulator], 'ends in .csv or .jsonl; it is "stock.txt"'],
    [['--inventory', '/nowhere/stock.csv', ...emulator], '--inventory cannot be read: ENOENT'],
    [['--inventory', data.toPath('folder.csv'), ...emulator], 'must name a file, since it is'],
    [['--inventory', stock, '--max-wcu', '0', ...emulator], '--max-wcu must be a whole number'],
    [['--inventory', stock, '--give-up-after', '5', ...emulator], '--give-up-after must be'],
    [['--inventory', '-', '--pets', '-', ...emulator], '- but once'],
    [['--inventory', stock, '--pets', '-', '--rejects', 'bad', ...emulator], 'rows of one file'],
    [['--inventory', stock, '--rejects', '-', ...emulator], '--rejects must name a file'],
    [['--inventory', stock, '--rejects', stock, ...emulator], 'another file than --inventory'],
  ])('refuses %j with one clear line and status 2', async (args, message) => {
    const { status, stdout, stderr } = await callOps(runImport, args);
    expect(stderr).toContain(message);
    expect(stderr.trimEnd().split('\n')).toHaveLength(1);
    expect({ status, stdout }).toEqual({ status: 2, stdout: '' });
  });
});

/** For each test an emulator of its own, with empty tables, behind an endpoint that can fail. */
function openImport(start: () => Promise<Engine>) {
  let engine: Engine;
  let client: DynamoDBClient;
  let faulty: FaultyEndpoint;

  beforeEach(async () => {
    engine = await start();
    client = await openStoreTables(engine);
    faulty = await startFaultyEndpoint(engine.endpoint);
  });

  afterEach(async () => {
    client.destroy();
    await faulty.close();
    await engine.close();
  });

  const toArgs = (file: string, options: string[]) => [
    ...['--endpoint', faulty.endpoint, '--inventory', file],
    ...options,
  ];
  const load = (file: string, options: string[] = []) => callOps(runImport, toArgs(file, options));
  /** In a process of its own, which `onStart` is given. */
  const loadApart = (file: string, options: string[], onStart: RunOptions['onStart']) =>
    runOps('infra/ops/data/import.ts', toArgs(file, options), onStart && { onStart });

  async function count(): Promise<number> {
    let sum = 0;
    let ExclusiveStartKey: ScanCommand['input']['ExclusiveStartKey'];
    do {
      const { Count = 0, LastEvaluatedKey } = await client.send(
        new ScanCommand({ TableName: 'inventory', Select: 'COUNT', ExclusiveStartKey }),
      );
      sum += Count;
      ExclusiveStartKey = LastEvaluatedKey;
    } while (ExclusiveStartKey);
    return sum;
  }

  async function quantityOf(petId: string): Promise<string | undefined> {
    const key = { TableName: 'inventory', Key: { p: { N: petId } } };
    return (await client.send(new GetItemCommand(key))).Item?.q?.N;
  }

  return {
    load,
    loadApart,
    count,
    quantityOf,
    engine: () => engine,
    client: () => client,
    faulty: () => faulty,
  };
}
