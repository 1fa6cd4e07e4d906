import { exec, execFileSync } from 'node:child_process';
import { linkSync, mkdirSync, readdirSync, readFileSync, statSync, symlinkSync } from 'node:fs';
import { setTimeout } from 'node:timers/promises';
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
import { afterEach, beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest';
import type { Item } from '../../../../infra/bulk/resources.ts';
import {
  defineAddingWriter,
  defineReplacingWriter,
  defineWriteRate,
  retry,
  writeAll,
} from '../../../../infra/bulk/tableWriters.ts';
import { defineEmulatorClient } from '../../../../infra/cli/tableOption.ts';
import type { Engine } from '../../../../infra/local/engine/engine.ts';
import { petstore } from '../../../../infra/petstore.ts';
import { toJson } from '../../../../shared/contract/values.ts';
import { defineInventoryUpdates } from '../../../../shared/store/inventoryUpdates.ts';
import { fixtures } from '../../../conformance/target.ts';
import { firstEngine } from '../../../support/engines.ts';
import { skipBackOff } from '../../../support/faults/clock.ts';
import {
  type FaultyEndpoint,
  startFaultyEndpoint,
} from '../../../support/faults/faultyEndpoint.ts';
import { openStoreTables } from '../../../support/storeTables.ts';
import { openTemporaryFolder } from '../../../support/temporaryFolder.ts';
import { AwsError, describeStack, type Responses, useAws } from '../aws.ts';
import { callOps, defineInterrupt, runOps, toScreen } from '../opsProcess.ts';

const folder = openTemporaryFolder();
const toText = (lines: readonly string[]) => lines.map((line) => `${line}\n`).join('');
const write = (name: string, lines: readonly string[]) => folder.write(name, toText(lines));
const data = { ...folder, write };
const header = 'petId,quantity,status';
let engine: Engine;
let client: DynamoDBClient;
let faulty: FaultyEndpoint;

/** Types a command, `@` being the folder; without a stage, on the emulator. */
async function type(line: string, typed?: string) {
  const aws = await useAws(describeStack('petstore-production', outputs));
  const variables = { ...aws.variables, AWS_ENDPOINT_URL_DYNAMODB: engine.endpoint };
  const args = line.split(' ').map((word) => word.replace(/^@/, `${data.folder}/`));
  const place = line.includes('--stage') ? [] : ['--endpoint', faulty.endpoint];
  return callOps(petstore, [...args, ...place], variables, typed);
}

async function count(): Promise<number> {
  const pages = paginateScan({ client }, { TableName: 'inventory', Select: 'COUNT' });
  return (await Array.fromAsync(pages)).reduce((sum, { Count = 0 }) => sum + Count, 0);
}

async function quantityOf(petId: string): Promise<string | undefined> {
  const key = { TableName: 'inventory', Key: { p: { N: petId } } };
  return (await client.send(new GetItemCommand(key))).Item?.q?.N;
}

const stock = data.write('stock.csv', toStockLines(3));
mkdirSync(data.toPath('folder.csv'));
execFileSync('mkfifo', [data.toPath('fifo.csv')]);
symlinkSync('stock.csv', data.toPath('a.jsonl'));
linkSync(stock, data.toPath('b.jsonl'));
symlinkSync('.', data.toPath('c'));

/** A command as typed, `@` being the folder, with its input after ` <`; or what is done or found between commands. */
type Step = string | (() => unknown);
const file =
  (name: string, ...lines: readonly string[]) =>
  () =>
    void write(name, [header, ...lines]);
const updated = { petId: 1n, quantity: 99 };
const quantity = (petId: string) => async () => `Stored: ${petId} has ${await quantityOf(petId)}\n`;
const stored = async () => `Stored: ${await count()} entries\n`;
const fail =
  (...rules: readonly Parameters<FaultyEndpoint['fail']>[0][]) =>
  () => {
    for (const rule of rules) faulty.fail(rule);
  };
const put = (TableName: string, record: object) => () =>
  client.send(new PutItemCommand({ TableName, Item: marshall(record) }));
const stayed = () => `@stock.csv: ${data.read('stock.csv') === toText(toStockLines(3))}\n`;
const outputs = { InventoryTableName: 'inventory', PetsTableName: 'p', OrdersTableName: 'o' };
const some = () => void write('some.csv', toStockLines(300));
const one = 'import --inventory @one.csv --stage production';

/** What is loaded and saved; `transfers.txt` has what is seen of it. */
const stories: Readonly<Record<string, readonly Step[]>> = {
  'existing entries are kept, even changed stock': [
    ...[file('two.csv', '1,10,sold', '2,20,sold'), 'import --inventory @two.csv'],
    () => defineInventoryUpdates(client, 'inventory', 'requests').setQuantity(updated),
    ...['import --inventory @two.csv', quantity('1')],
    ...['import --inventory @two.csv --overwrite', quantity('1')],
  ],
  'throttling, failures and broken connections': [
    fail(
      { fault: 'throughputExceeded', after: 1, times: 3 },
      { fault: 'unavailable', after: 6, times: 2 },
      { fault: 'reset', after: 10, times: 2 },
      { action: 'Scan', fault: 'throughputExceeded', times: 2 },
      { action: 'PutItem', fault: 'transactionConflict', times: 2 },
      { action: 'BatchWriteItem', fault: 'transactionConflict', times: 2 },
    ),
    ...[some, 'import --inventory @some.csv', stored],
    ...['import --inventory @some.csv --overwrite', stored, 'export --inventory @throttled.csv'],
  ],
  'one of twelve batches is refused': [
    fail({ action: 'BatchWriteItem', fault: 'accessDenied', times: 1, after: 1 }),
    ...[some, 'import --inventory @some.csv --overwrite'],
  ],
  'invalid rows': [
    ...[file('zero.csv', '7,1,sold', '07,1,sold'), 'import --inventory @zero.csv'],
    ...[file('twice.csv', '7,1,sold', '7,2,sold'), 'import --inventory @twice.csv'],
    file('many.csv', ...Array.from({ length: 21 }, (_, row) => `${row},-1,sold`)),
    ...['import --inventory @many.csv', file('lost.csv', '7,1,lost')],
    'import --inventory @lost.csv --dry-run',
    'import --pets - <{"id":1,"name":"Rex","status":"sold"}\n{"id":2}\n',
    () => void folder.write('cut.csv.gz', gzipSync(toText(toStockLines(9))).subarray(0, -20)),
    ...['import --inventory @cut.csv.gz', stored],
  ],
  'a dry run': [
    ...[file('good.csv', '7,1,sold'), 'import --inventory @good.csv --dry-run', stored],
    () => client.send(new DeleteTableCommand({ TableName: 'pets' })),
    () => void data.write('dry.jsonl', ['{"id":1,"name":"Rex","status":"sold"}']),
    'import --pets @dry.jsonl --dry-run',
  ],
  'a stage': [
    ...[file('one.csv', '1,10,sold'), one, quantity('1'), `${one} --overwrite`],
    ...[`${one} --overwrite <n\n`, `${one} --overwrite --yes`],
  ],
  'records that are not valid': [
    ...[put('inventory', { p: 7, s: 'a' }), 'export --inventory @never.jsonl'],
    ...[put('inventory', { p: 7, q: 1 }), 'export --inventory @never.jsonl'],
    ...[put('inventory', { p: 7, q: '1', s: 'x' }), 'export --inventory @never.jsonl'],
    ...[put('pets', { id: 7, status: 'sold' }), 'export --pets @never.jsonl'],
    ...[put('pets', { id: 7, name: 'Rex', status: 'lost' }), 'export --pets @never.jsonl'],
    ...[put('orders', { id: 7, ledger: 'o', placed: '1' }), 'export --orders @never.jsonl'],
  ],
  'an earlier file, and a failure': [
    ...[some, 'import --inventory @some.csv'],
    () => {
      write('earlier.jsonl', ['earlier']);
      faulty.pageSize = 200;
      faulty.fail({ action: 'Scan', fault: 'accessDenied', after: 1 });
    },
    'export --inventory @earlier.jsonl',
    () => listFiles(),
  ],
  'a folder that is not there': [
    ...['import --inventory /nowhere/a.csv', 'export --inventory /nowhere/a.csv'],
  ],
  'invalid names of files': [
    ...['import', 'import --inventory @stock.csv --stage staging --endpoint http://127.0.0.1:9'],
    ...['import --inventory stock.txt', 'export --pets pets.csv', 'import --inventory - --pets -'],
    'import --inventory @stock.csv --pets @a.jsonl',
    'import --inventory @stock.csv --pets @./b.jsonl',
    'export --inventory @x.jsonl --pets @./x.jsonl',
    'export --pets @x.jsonl --orders @c/x.jsonl',
    'export --inventory @stock.csv --pets @b.jsonl',
    ...['import --inventory @folder.csv', 'export --inventory @folder.csv'],
    ...['import --inventory @fifo.csv', 'export --inventory @fifo.csv', stayed],
  ],
};

/** The files that commands wrote, and those of a write that is not done. */
function listFiles(): string {
  const names = readdirSync(data.folder).filter((name) => /unfinished|never|earlier/.test(name));
  return names.map((name) => `${name}: ${data.read(name)}`).join('');
}

/** A slow machine gets to see how far it is. */
const onlyProgress = expect.stringMatching(/^(.*%.*\n)*$/);

describe('npx petstore import and export', () => {
  // Each test and story has an emulator with empty tables, behind an endpoint that can fail.
  async function start() {
    engine = await firstEngine.start();
    client = await openStoreTables(engine);
    faulty = await startFaultyEndpoint(engine.endpoint);
  }
  async function close() {
    client.destroy();
    await faulty.close();
    await engine.close();
  }
  beforeEach(start);
  afterEach(close);

  it('finishes current writes on Ctrl-C, and loads the rest in a second run', async () => {
    const many = 1_000;
    data.write('long.csv', toStockLines(many));
    const interrupt = defineInterrupt();
    const loading = type('import --inventory @long.csv --max-wcu 400');
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
    const again = await type('import --inventory @long.csv');
    const [, added, kept] = /: (\d+) added, (\d+) there already/.exec(again.stdout) ?? [];
    expect([Number(added), Number(kept)]).toEqual([many - found, found]);
    expect(await quantityOf('9223372036854775807')).toBe(String(((many - 1) * 7_919) % 2 ** 31));
  });

  it('exports the same bytes after an import in another order, in pages of any size', async () => {
    const [first = '', ...stock] = toStockLines(400);
    const byId = (a: { id: bigint }, b: { id: bigint }) => (a.id < b.id ? -1 : 1);
    const pets = fixtures.pets.toSorted(byId).map(toJson);
    pets[0] = pets[0]?.replace('"name":"', '"name":"\\u202e\\u001b') ?? '';
    // The same id at another time is another order.
    const again = fixtures.orders.map((order) => ({ ...order, placedAt: '2027-01-01T00:00:00Z' }));
    const orders = [...fixtures.orders, ...again].toSorted(byId).map(toJson);
    const toFiles = (name: string) =>
      `--inventory @${name}.csv.gz --pets @${name}.pets.jsonl --orders @${name}.orders.jsonl`;
    folder.write('in.csv.gz', gzipSync(toText([first, ...stock.toReversed()])));
    data.write('in.pets.jsonl', pets.toReversed());
    data.write('in.orders.jsonl', orders.toReversed());
    const done = { status: 0, stderr: '' };
    expect(await type(`import ${toFiles('in')} --overwrite`)).toMatchObject(done);
    faulty.pageSize = 150;
    const saved = await type(`export ${toFiles('out')}`);
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
    const loaded = await type('import --inventory -', stock);
    expect(loaded).toMatchObject({ status: 0, stderr: onlyProgress });
    expect(loaded.stdout).toMatch(/^inventory: 100 rows in -: 100 added/);
    const words = ['export', '--inventory', '-', '--endpoint', faulty.endpoint];
    const saved = await runOps(['infra/petstore.js', ...words]);
    expect(saved).toMatchObject({ status: 0, stdout: stock });
    expect(saved.stderr).toMatch(/^inventory: 100 rows to -; /);
  });

  it('leaves an earlier file as it was on Ctrl-C, and no half one', async () => {
    await type('import --inventory -', toText(toStockLines(9)));
    data.write('earlier.jsonl', ['earlier']);
    faulty.pageSize = 5;
    faulty.fail({ action: 'Scan', fault: 'hang', after: 1 });
    const saving = type('export --inventory @earlier.jsonl');
    await expect.poll(() => faulty.calls.get('Scan')).toBe(2);
    defineInterrupt()();
    await faulty.refuse();
    const stderr = 'Interrupted; inventory is not saved.\n';
    expect(await saving).toEqual({ status: 130, stdout: '', stderr });
    expect(listFiles()).toBe('earlier.jsonl: earlier\n');
  });

  it('says what it wrote, or why it wrote nothing', async () => {
    const screens: string[] = [];
    for (const [name, steps] of Object.entries(stories)) {
      let seen = `# ${name}\n`;
      for (const step of steps) {
        const [line = '', typed] = typeof step === 'string' ? step.split(' <') : [];
        const found = typeof step === 'function' ? await step() : undefined;
        if (line !== '') seen += toScreen(line.split(' '), await type(line, typed));
        else if (typeof found === 'string') seen += found;
      }
      screens.push(seen);
      await close();
      await start();
    }
    const screen = screens
      .join('\n')
      .replaceAll(`${data.folder}/`, '@')
      .replaceAll(/; \d+:\d\d(, [\d,]+ rows\/s)?\.$/gm, '.')
      // A slow machine gets to see how far it is.
      .replaceAll(/^! (Checking|Loading|Reading) .*\n/gm, '');
    await expect(screen).toMatchFileSnapshot('transfers.txt');
  });
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

/** A table with these responses, for the writers alone; emulators never leave part of a batch unprocessed. */
async function openTable(responses: Responses) {
  const { calls, variables } = await useAws(responses);
  const client = defineEmulatorClient(variables.AWS_ENDPOINT_URL, { maxAttempts: 1 });
  const { signal } = new AbortController();
  const table = { client, tableName: 't', signal };
  return { table, calls };
}

const items: Item[] = Array.from({ length: 60 }, (_, p) => ({ p: { N: String(p) } }));

it('the replacing writer resends only the unprocessed items of a batch', async () => {
  const toPuts = (input: object) => (input as { RequestItems: { t: object[] } }).RequestItems.t;
  const { table, calls } = await openTable({
    BatchWriteItem(input) {
      const puts = toPuts(input);
      return { UnprocessedItems: puts.length > 5 ? { t: puts.slice(-5) } : {} };
    },
  });
  let written = 0;
  await writeAll(items, defineReplacingWriter(table), (_, ofBatch) => {
    written += ofBatch;
  });
  expect(written).toBe(60);
  const sizes = calls.map(({ input }) => toPuts(input).length);
  expect(sizes.toSorted((a, b) => a - b)).toEqual([5, 5, 5, 10, 25, 25]);
});

it('a writer fails at an error that retries do not fix, after all writes have ended', async () => {
  onTestFinished(skipBackOff());
  for (const [name, times] of [
    ['AccessDeniedException', 1],
    ['ThrottlingException', 20],
  ] as const) {
    const { table, calls } = await openTable({
      PutItem({ Item }) {
        if ((Item as (typeof items)[0]).p?.N !== '0') return setTimeout(20, {});
        throw new AwsError(name, 'not you');
      },
    });
    const refusal = { name };
    await expect(defineAddingWriter(table, 'p')(items)).rejects.toMatchObject(refusal);
    expect(calls).toHaveLength(59 + times);
  }
});

it('no writer writes after an interrupt', async () => {
  const { table, calls } = await openTable({});
  const interrupted = { ...table, signal: AbortSignal.abort() };
  for (const write of [defineReplacingWriter(interrupted), defineAddingWriter(interrupted, 'p')]) {
    await expect(async () => write(items)).rejects.toThrow('aborted');
  }
  expect(calls).toEqual([]);
});

it('a call is retried for about a minute at most', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'Date'], fakeNodeBuiltins: true });
  onTestFinished(() => void vi.useRealTimers());
  onTestFinished(vi.spyOn(Math, 'random').mockReturnValue(1).mockRestore);
  const started = Date.now();
  const outage = new AwsError('ThrottlingException', 'x');
  const refusal = expect(retry(() => Promise.reject(outage), new AbortController().signal)).rejects;
  await Promise.all([refusal.toBe(outage), vi.runAllTimersAsync()]);
  expect(Date.now() - started).toBe(6_300 + 13 * 5_000);
});

it('a writer takes one write unit for each started KB of each item', async () => {
  const taken: number[] = [];
  const takeUnits = async (units: number) => void taken.push(units);
  const { table } = await openTable({ BatchWriteItem: () => ({}), PutItem: () => ({}) });
  const large = { p: { N: '99' }, name: { S: 'x'.repeat(1_024) } };
  await defineReplacingWriter({ ...table, takeUnits })([...items.slice(0, 2), large]);
  expect(taken.splice(0)).toEqual([4]);
  const medium = { p: { N: '98' }, name: { S: 'x'.repeat(980) } };
  await defineAddingWriter({ ...table, takeUnits }, 'p')([...items.slice(0, 1), medium, large]);
  expect(taken).toEqual([1, 1, 2]);
});

describe('the write rate', () => {
  it('is never above its bound, with any number of writers', async () => {
    const { signal } = new AbortController();
    const rate = defineWriteRate(1_000, signal);
    // Time without writes adds nothing to the bound.
    await setTimeout(100);
    const started = performance.now();
    await Promise.all(Array.from({ length: 12 }, () => rate(25)));
    // The first does not wait; each of the others waits for those before it.
    expect(performance.now() - started).toBeGreaterThanOrEqual(11 * 25 - 5);
  });

  it('delays nothing after an interrupt', async () => {
    const controller = new AbortController();
    const rate = defineWriteRate(1, controller.signal);
    await rate(100);
    const waiting = rate(1);
    controller.abort();
    await expect(waiting).rejects.toThrow();
    await expect(rate(1)).rejects.toThrow();
  });
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
