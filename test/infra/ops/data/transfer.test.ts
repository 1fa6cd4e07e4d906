import { exec, execFileSync } from 'node:child_process';
import {
  existsSync,
  linkSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  symlinkSync,
} from 'node:fs';
import { promisify } from 'node:util';
import { gunzipSync, gzipSync } from 'node:zlib';
import {
  DeleteTableCommand,
  type DynamoDBClient,
  GetItemCommand,
  PutItemCommand,
  paginateScan,
} from '@aws-sdk/client-dynamodb';
import { marshall } from '@aws-sdk/util-dynamodb';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { Command } from '../../../../infra/cli/usage.ts';
import type { Engine } from '../../../../infra/local/engine/engine.ts';
import { toJson } from '../../../../shared/contract/values.ts';
import { defineInventoryUpdates } from '../../../../shared/store/inventoryUpdates.ts';
import { fixtures } from '../../../conformance/target.ts';
import { firstEngine } from '../../../support/engines.ts';
import {
  type FaultyEndpoint,
  startFaultyEndpoint,
} from '../../../support/faults/faultyEndpoint.ts';
import { openStoreTables } from '../../../support/storeTables.ts';
import { openTemporaryFolder } from '../../../support/temporaryFolder.ts';
import { describeStack, useAws } from '../aws.ts';
import { callOps, defineCommand, defineInterrupt, expectRefusal, runOps } from '../opsProcess.ts';

const [runImport, runExport] = [defineCommand('import'), defineCommand('export')];
const folder = openTemporaryFolder();
const toText = (lines: readonly string[]) => lines.map((line) => `${line}\n`).join('');
const write = (name: string, lines: readonly string[]) => folder.write(name, toText(lines));
const data = { ...folder, write };
const header = 'petId,quantity,status';
let engine: Engine;
let client: DynamoDBClient;
let faulty: FaultyEndpoint;
let at: string[];

const transfer = (command: Command, ...args: string[]) => callOps(command, [...at, ...args]);
const load = (file: string, ...options: string[]) =>
  transfer(runImport, '--inventory', file, ...options);
const save = (file: string, ...options: string[]) =>
  transfer(runExport, '--inventory', file, ...options);

async function count(): Promise<number> {
  const pages = paginateScan({ client }, { TableName: 'inventory', Select: 'COUNT' });
  return (await Array.fromAsync(pages)).reduce((sum, { Count = 0 }) => sum + Count, 0);
}

async function quantityOf(petId: string): Promise<string | undefined> {
  const key = { TableName: 'inventory', Key: { p: { N: petId } } };
  return (await client.send(new GetItemCommand(key))).Item?.q?.N;
}

/** A slow machine gets to see how far it is. */
const onlyProgress = expect.stringMatching(/^(.*%.*\n)*$/);

describe('npx petstore import and export', () => {
  // Each test has an emulator with empty tables, behind an endpoint that can fail.
  beforeEach(async () => {
    engine = await firstEngine.start();
    client = await openStoreTables(engine);
    faulty = await startFaultyEndpoint(engine.endpoint);
    at = ['--endpoint', faulty.endpoint];
  });
  afterEach(async () => {
    client.destroy();
    await faulty.close();
    await engine.close();
  });

  it('keeps existing entries, even changed stock, without --overwrite', async () => {
    const file = data.write('two.csv', [header, '1,10,sold', '2,20,sold']);
    await load(file);
    const updates = defineInventoryUpdates(client, 'inventory', 'requests');
    await updates.setQuantity({ petId: 1n, quantity: 99 });
    expect((await load(file)).stdout).toContain(': 0 added, 2 there already and kept;');
    expect(await quantityOf('1')).toBe('99');
    expect((await load(file, '--overwrite')).stdout).toContain(': 2 written;');
    expect(await quantityOf('1')).toBe('10');
  });

  it('finishes current writes on Ctrl-C, and loads the rest in a second run', async () => {
    const many = 1_000;
    const file = data.write('long.csv', toStockLines(many));
    const interrupt = defineInterrupt();
    const loading = load(file, '--max-wcu', '400');
    await expect.poll(() => faulty.calls.get('PutItem')).toBeGreaterThan(100);
    interrupt();
    const { status, stdout, stderr } = await loading;
    expect(stderr).toMatch(
      /^(.*%.*\n)*\d+ rows of .* were written; run the same command again to load the rest\.\nInterrupted\.\n$/,
    );
    expect({ status, stdout }).toEqual({ status: 130, stdout: '' });
    const found = await count();
    expect(found).toBeLessThan(many);
    expect(found).toBeGreaterThanOrEqual(100);
    const again = await load(file);
    const [, added, kept] = /: (\d+) added, (\d+) there already/.exec(again.stdout) ?? [];
    expect([Number(added), Number(kept)]).toEqual([many - found, found]);
    expect(await quantityOf('9223372036854775807')).toBe(String(((many - 1) * 7_919) % 2 ** 31));
  });

  it('gets past throttling, failures and broken connections', async () => {
    faulty.fail({ fault: 'throughputExceeded', after: 1, times: 3 });
    faulty.fail({ fault: 'unavailable', after: 6, times: 2 });
    faulty.fail({ fault: 'reset', after: 10, times: 2 });
    faulty.fail({ action: 'Scan', fault: 'throughputExceeded', times: 2 });
    for (const action of ['PutItem', 'BatchWriteItem']) {
      faulty.fail({ action, fault: 'transactionConflict', times: 2 });
    }
    for (const options of [[], ['--overwrite']]) {
      const outcome = await load(data.write('some.csv', toStockLines(300)), ...options);
      expect(outcome).toMatchObject({ status: 0, stderr: onlyProgress });
      expect(await count()).toBe(300);
    }
    const saved = await save(data.toPath('throttled.csv'));
    expect(saved).toMatchObject({ status: 0, stderr: onlyProgress });
  });

  it('ends at an error that no retry helps, and says how much was written', async () => {
    // One of twelve batches alone is refused, and the others are written.
    faulty.fail({ action: 'BatchWriteItem', fault: 'accessDenied', times: 1, after: 1 });
    const file = data.write('some.csv', toStockLines(300));
    const { status, stdout, stderr } = await load(file, '--overwrite');
    expect(stderr).toMatch(
      /^275 rows of .*some\.csv were written; run the same .*\nAccessDeniedException: [^\n]+\n$/,
    );
    expect({ status, stdout }).toEqual({ status: 1, stdout: '' });
  });

  const bad = Array.from({ length: 21 }, (_, row) => `${row},-1,sold`);
  it.each([
    [['7,1,sold', '07,1,sold'], [], 1, [':3: petId must be an integer']],
    [['7,1,sold', '7,2,sold'], [], 1, [':3: petId 7 is already in line 2']],
    [bad, [], 1, ['', '\n… and 1 more invalid row.\n', '; not valid: 21 of 21 rows in ']],
    [['7,1,lost'], ['--dry-run'], 1, [':2: status must be']],
    [['7,1,sold'], ['--dry-run'], 0, []],
  ])('writes nothing of %j with %j', async (lines, options, expected, told) => {
    const file = data.write('rows.csv', [header, ...lines]);
    const { status, stdout, stderr } = await load(file, ...options);
    const [first = '', ...more] = told;
    if (told.length > 0) expect(stderr.startsWith(`${file}${first}`)).toBe(true);
    for (const text of more) expect(stderr).toContain(text);
    // Twenty are shown.
    expect(stderr).not.toContain(`${file}:22:`);
    const dry = `inventory: 1 valid row in ${file}; nothing was written.\n`;
    expect({ status, stdout }).toEqual({ status: expected, stdout: expected === 1 ? '' : dry });
    expect(await count()).toBe(0);
  });

  it('looks for the tables in a dry run too', async () => {
    await client.send(new DeleteTableCommand({ TableName: 'pets' }));
    const file = data.write('dry.jsonl', ['{"id":1,"name":"Rex","status":"sold"}']);
    const absent = await transfer(runImport, '--pets', file, '--dry-run');
    expect(absent).toMatchObject({ status: 1, stdout: '' });
    expect(absent.stderr).toContain('ResourceNotFoundException');
  });

  it('finds a stage’s tables through its stack, and asks before it overwrites entries', async () => {
    const names = { InventoryTableName: 'inventory', PetsTableName: 'p', OrdersTableName: 'o' };
    const aws = await useAws(describeStack('petstore-production', names));
    const file = data.write('one.csv', [header, '1,10,sold']);
    const variables = { ...aws.variables, AWS_ENDPOINT_URL_DYNAMODB: engine.endpoint };
    const call = (typed: string | undefined, ...options: string[]) => {
      const args = ['--stage', 'production', '--inventory', file, ...options];
      return callOps(runImport, args, variables, typed);
    };
    expect(await call(undefined)).toMatchObject({ status: 0, stderr: '' });
    expect(await quantityOf('1')).toBe('10');
    const unasked = await call(undefined, '--overwrite');
    expect(unasked).toMatchObject({ status: 2, stderr: expect.stringContaining('add --yes') });
    const no = await call('n\n', '--overwrite');
    expect(no).toMatchObject({ status: 0, stdout: 'Nothing was changed.\n' });
    expect(no.stderr).toContain('Replace what the production stage has of inventory, for good?');
    expect((await call(undefined, '--overwrite', '--yes')).stdout).toContain(': 1 written;');
  });

  it('exports the same bytes after an import in another order, in pages of any size', async () => {
    const [first = '', ...stock] = toStockLines(400);
    const byId = (a: { id: bigint }, b: { id: bigint }) => (a.id < b.id ? -1 : 1);
    const pets = fixtures.pets.toSorted(byId).map(toJson);
    pets[0] = pets[0]?.replace('"name":"', '"name":"\\u202e\\u001b') ?? '';
    // The same id at another time is another order.
    const again = fixtures.orders.map((order) => ({ ...order, placedAt: '2027-01-01T00:00:00Z' }));
    const orders = [...fixtures.orders, ...again].toSorted(byId).map(toJson);
    const toArgs = (suffix: string) => [
      ...['--inventory', data.toPath(`${suffix}.csv.gz`)],
      ...['--pets', data.toPath(`${suffix}.pets.jsonl`)],
      ...['--orders', data.toPath(`${suffix}.orders.jsonl`)],
    ];
    folder.write('in.csv.gz', gzipSync(toText([first, ...stock.toReversed()])));
    data.write('in.pets.jsonl', pets.toReversed());
    data.write('in.orders.jsonl', orders.toReversed());
    const done = { status: 0, stderr: '' };
    expect(await transfer(runImport, ...toArgs('in'), '--overwrite')).toMatchObject(done);
    faulty.pageSize = 150;
    const saved = await transfer(runExport, ...toArgs('out'));
    expect(saved).toMatchObject(done);
    expect(saved.stdout).toMatch(/^inventory: 400 rows to /);
    const scans = faulty.requests.filter(({ action }) => action === 'Scan');
    expect(scans.every(({ input }) => input.ConsistentRead)).toBe(true);
    expect(statSync(data.toPath('out.csv.gz')).mode & 0o777).toBe(0o600);
    const packed = readFileSync(data.toPath('out.csv.gz'));
    expect(gunzipSync(packed).toString()).toBe(toText([first, ...stock]));
    expect(data.read('out.pets.jsonl')).toBe(toText(pets));
    expect(data.read('out.orders.jsonl')).toBe(toText(orders));
  });

  it('uses - for standard input and output, with nothing else on it', async () => {
    const stock = toText(toStockLines(100));
    const loaded = await callOps(runImport, [...at, '--inventory', '-'], {}, stock);
    expect(loaded).toMatchObject({ status: 0, stderr: onlyProgress });
    expect(loaded.stdout).toMatch(/^inventory: 100 rows in -: 100 added/);
    const saved = await runOps(['infra/petstore.js', 'export', ...at, '--inventory', '-']);
    expect(saved).toMatchObject({ status: 0, stdout: stock });
    expect(saved.stderr).toMatch(/^inventory: 100 rows to -; /);
    const pets = '{"id":1,"name":"Rex","status":"sold"}\n{"id":2}\n';
    const refused = await callOps(runImport, [...at, '--pets', '-'], {}, pets);
    expect(refused).toMatchObject({ status: 1, stdout: '' });
    expect(refused.stderr).toContain('-:2: name is missing');
    expect(refused.stderr).toContain('Nothing was written; not valid: 1 of 2 rows in -. Correct');
  });

  it('names a truncated gzip file before it writes anything', async () => {
    const file = folder.write('bad.csv.gz', gzipSync(toText(toStockLines(9))).subarray(0, -20));
    const stderr = `${file} cannot be read: unexpected end of file.\n`;
    expect(await load(file)).toEqual({ status: 1, stdout: '', stderr });
    expect(await count()).toBe(0);
  });

  it.each([
    ['accessDenied', 1, 'AWS refuses'],
    ['hang', 130, 'Interrupted; inventory is not saved.\n'],
  ] as const)('leaves an earlier file as it was, and no half one: %s', async (...row) => {
    const [fault, status, told] = row;
    await load(data.write('rows.csv', toStockLines(9)));
    const file = data.write('kept.jsonl', ['earlier']);
    faulty.pageSize = 5;
    faulty.fail({ action: 'Scan', fault, after: 1 });
    const saving = save(file);
    if (fault === 'hang') {
      await expect.poll(() => faulty.calls.get('Scan')).toBe(2);
      defineInterrupt()();
      await faulty.refuse();
    }
    const outcome = await saving;
    expect(outcome).toMatchObject({ status, stdout: '', stderr: expect.stringContaining(told) });
    expect(data.read('kept.jsonl')).toBe('earlier\n');
    expect(readdirSync(data.folder).filter((name) => name.includes('unfinished'))).toEqual([]);
  });

  it.each([
    ['inventory', { p: 7, s: 'a' }, '{"petId":7,"status":"available"}', 'quantity is missing'],
    ['inventory', { p: 7, q: 1 }, '{"petId":7,"quantity":1}', 'status is missing'],
    ['inventory', { p: 7, q: '1', s: 'x' }, '{"petId":7,', 'is "1"; status must be "available"'],
    ['pets', { id: 7, status: 'sold' }, '"id":7', 'name is missing'],
    ['pets', { id: 7, name: 'Rex', status: 'lost' }, '"id":7', 'and is "lost"'],
    ['orders', { id: 7, ledger: 'o', placed: '1' }, '"id":7', 'petId is missing; quantity'],
  ] as const)('exports no record of %s that is %j', async (table, record, named, wrong) => {
    await client.send(new PutItemCommand({ TableName: table, Item: marshall(record) }));
    const file = data.toPath('never.jsonl');
    const { status, stderr } = await transfer(runExport, `--${table}`, file);
    expect(stderr).toMatch(/^The record {.*} is not valid: [^\n]+\.\n$/);
    expect(stderr).toContain(named);
    expect(stderr).toContain(wrong);
    expect(status).toBe(1);
    expect(existsSync(file)).toBe(false);
  });
});

const stock = data.write('stock.csv', toStockLines(3));
const noFile = data.toPath('folder.csv');
mkdirSync(noFile);
const fifo = data.toPath('fifo.csv');
execFileSync('mkfifo', [fifo]);
symlinkSync('stock.csv', data.toPath('a.jsonl'));
const hard = data.toPath('b.jsonl');
linkSync(stock, hard);
symlinkSync('.', data.toPath('c'));

type Refusal = readonly [line: string, message: string];
/** A command whose last two options name the same file. */
const same = (line: string): Refusal => {
  const [, first, , second, file] = line.split(' ');
  return [line, `${second} and ${first} must name different files; "${file}" is the same file.`];
};
/** A command whose last option names a folder or a pipe. */
const irregular = (line: string): Refusal => {
  const [option, file] = line.split(' ').slice(-2);
  return [line, `${option} must name a regular file; "${file}" is not one.`];
};
const toPath = (name: string) => `${data.folder}/${name}`;

it.each<Refusal>([
  ['import', 'Name at least one file'],
  [`import --inventory ${stock} --stage staging`, 'Say which table'],
  ['import --inventory stock.txt', 'ends in .csv or .jsonl; it is "stock.txt"'],
  ['export --pets pets.csv', 'ends in .jsonl'],
  same('import --inventory - --pets -'),
  ...['a.jsonl', './b.jsonl'].map((name) =>
    same(`import --inventory ${stock} --pets ${toPath(name)}`),
  ),
  same(`export --inventory ${toPath('x.jsonl')} --pets ${toPath('./x.jsonl')}`),
  same(`export --pets ${toPath('x.jsonl')} --orders ${toPath('c/x.jsonl')}`),
  same(`export --inventory ${stock} --pets ${hard}`),
  ...[noFile, fifo].flatMap((file) => [
    irregular(`import --inventory ${file}`),
    irregular(`export --inventory ${file}`),
  ]),
])('%s is refused', async (line, message) => {
  const [name, ...args] = line.split(' ');
  const command = name === 'import' ? runImport : runExport;
  await expectRefusal(command, [...args, '--endpoint', 'http://127.0.0.1:9'], message);
  expect(data.read('stock.csv')).toBe(toText(toStockLines(3)));
});

it('export refuses the file that is its standard output', async () => {
  const file = data.write('redirected.jsonl', ['kept']);
  const typed = `infra/petstore.js export --inventory - --pets ${file} --endpoint http://127.0.0.1:9`;
  await expect(promisify(exec)(`${process.execPath} ${typed} >> ${file}`)).rejects.toMatchObject({
    code: 2,
    stderr: expect.stringMatching(/^--pets and --inventory must name different files; [^\n]+\n$/),
  });
  expect(data.read('redirected.jsonl')).toBe('kept\n');
});

it.each([
  [runImport, '/nowhere/a.csv', /^ENOENT: .* '\/nowhere\/a\.csv'\n$/],
  [runExport, '/nowhere/a.csv', /^ENOENT: .* '\/nowhere'\n$/],
])('a folder that is not there is told of in one line: %#', async (command, file, told) => {
  const args = ['--inventory', file, '--endpoint', 'http://127.0.0.1:9'];
  const stderr = expect.stringMatching(told);
  expect(await callOps(command, args)).toEqual({ status: 1, stdout: '', stderr });
});

/** Lines of an inventory's CSV file, sorted by ids from all of int64. */
function toStockLines(rows: number): string[] {
  const statuses = ['available', 'pending', 'sold'];
  const step = (2n ** 64n - 1n) / BigInt(Math.max(rows - 1, 1));
  const lines = Array.from({ length: rows }, (_, row) => {
    const id = row === rows - 1 ? 2n ** 63n - 1n : -(2n ** 63n) + BigInt(row) * step;
    return `${id},${(row * 7_919) % 2_147_483_648},${statuses[row % 3]}`;
  });
  return ['petId,quantity,status', ...lines];
}
