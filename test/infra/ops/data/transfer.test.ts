import { execFileSync } from 'node:child_process';
import { linkSync, mkdirSync, readdirSync, readFileSync, statSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { gzipSync, zstdCompressSync } from 'node:zlib';
import {
  type DynamoDBClient,
  GetItemCommand,
  PutItemCommand,
  paginateScan,
} from '@aws-sdk/client-dynamodb';
import { marshall } from '@aws-sdk/util-dynamodb';
import { expect, it, onTestFinished, vi } from 'vitest';
import type { Item } from '../../../../infra/cli/bulk/resources.ts';
import {
  defineAddingWriter,
  defineReplacingWriter,
  defineWriteRate,
  retry,
  workThrough,
} from '../../../../infra/cli/bulk/tableWriters.ts';
import { defineEmulatorClient } from '../../../../infra/cli/tableOption.ts';
import type { Engine } from '../../../../infra/local/engine/engine.ts';
import { petstore } from '../../../../infra/petstore.ts';
import { projectRoot } from '../../../../infra/stages/projectRoot.ts';
import { toJson } from '../../../../shared/contract/json.ts';
import { defineInventoryUpdates } from '../../../../shared/store/inventoryUpdates.ts';
import { fixtures } from '../../../conformance/target.ts';
import { testEngine } from '../../../support/engines.ts';
import { skipBackOff } from '../../../support/faults/clock.ts';
import {
  type FaultyEndpoint,
  startFaultyEndpoint,
} from '../../../support/faults/faultyEndpoint.ts';
import { openStoreTables } from '../../../support/storeTables.ts';
import { openTemporaryFolder } from '../../../support/temporaryFolder.ts';
import { AwsError, describeStack, type Responses, useAws } from '../aws.ts';
import {
  callOps,
  defineInterrupt,
  type Outcome,
  playScenarios,
  toRow,
  toScreen,
} from '../opsProcess.ts';

const data = openTemporaryFolder();
const toText = (lines: readonly string[]) => lines.map((line) => `${line}\n`).join('');
const write = (name: string, lines: readonly string[]) => data.write(name, toText(lines));
let engine: Engine;
let client: DynamoDBClient;
let faulty: FaultyEndpoint;

/** What imports call on the emulator. */
const called = new Set<string>();

/** Types a command, `@` being the folder; without a stage, on the emulator. */
async function type(line: string, typed?: string) {
  const aws = await useAws(describeStack('petstore-production', outputs));
  const variables = { ...aws.variables, AWS_ENDPOINT_URL_DYNAMODB: engine.endpoint };
  const args = line.split(' ').map((word) => word.replace(/^@/, `${data.folder}/`));
  const place = line.includes('--stage') ? [] : ['--endpoint', faulty.endpoint];
  const before = faulty.requests.length;
  const outcome = await callOps(petstore, [...args, ...place], variables, typed);
  const requests = faulty.requests.slice(before);
  for (const { action } of requests) if (args[0] === 'import') called.add(`dynamodb:${action}`);
  return outcome;
}

const stock = write('stock.csv', toStockLines(3));
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
    void write(name, ['petId,quantity,status', ...lines]);
const updated = { petId: 1n, quantity: 99 };
/** Expects the stock of pet 1. */
const holds = (count: number) => async () => {
  const key = { TableName: 'inventory', Key: { p: { N: '1' } } };
  expect((await client.send(new GetItemCommand(key))).Item?.q?.N).toBe(`${count}`);
};
const stored = async () => {
  const pages = paginateScan({ client }, { TableName: 'inventory', Select: 'COUNT' });
  const counts = (await Array.fromAsync(pages)).map(({ Count = 0 }) => Count);
  return `Stored: ${counts.reduce((sum, count) => sum + count)} entries\n`;
};
const fail =
  (...rules: readonly Parameters<FaultyEndpoint['fail']>[0][]) =>
  () => {
    for (const rule of rules) faulty.fail(rule);
  };
/** Presses Ctrl-C at the first call that fails. */
const interruptAt = (rule: Parameters<FaultyEndpoint['fail']>[0]) => () => {
  const interrupt = defineInterrupt();
  faulty.fail({
    ...rule,
    get until() {
      return Promise.resolve(interrupt());
    },
  });
};
const setQuantity = (update: typeof updated) =>
  defineInventoryUpdates(client, 'inventory').setQuantity(update);
const sell = () => setQuantity(updated);
/** Sells after an entry was read or written, and before it is put under a condition. */
const sellBeforePut = () =>
  faulty.fail({
    action: 'PutItem',
    fault: 'resetAfterwards',
    times: 1,
    get until() {
      return sell();
    },
  });
const put =
  (TableName: string, record: object, others: Item = {}) =>
  () =>
    client.send(new PutItemCommand({ TableName, Item: { ...marshall(record), ...others } }));
/** Attributes of any type, with numbers that no double holds. */
const others: Item = {
  weight: { N: `4.${'5'.repeat(37)}` },
  total: { NS: ['19.99', '-0.5'] },
  born: { M: { a: { L: [{ N: '9'.repeat(38) }, { B: Uint8Array.of(255) }] } } },
  note: { NULL: true },
};
const order = {
  ledger: 'orders',
  placed: '1',
  id: 7,
  petId: 8,
  quantity: 1,
  status: 'placed',
  placedAt: '2026-12-24T09:59:00Z',
};
const stayed = () => `@stock.csv: ${data.read('stock.csv') === toText(toStockLines(3))}\n`;
const outputs = { InventoryTableName: 'inventory', PetsTableName: 'p', OrdersTableName: 'o' };
const rows = (count: number) => () => void write('some.csv', toStockLines(count));
const some = rows(100);
const toLargePet = (id: number, length = 30_000) =>
  `{"id":${id},"name":"${'x'.repeat(length)}","status":"sold"}`;
const rounded = { id: 1, petId: 9223372036854770000n, quantity: 1, status: 'placed' };
const columns = 'petId,quantity,status';
const firstLines = [
  'petId;quantity;status\n1;2;sold\n',
  'petId\n1\n',
  '1,2,sold\n',
  'petId,quantity\n',
  `${columns},price\n`,
  'quantity,petId,status\n',
  '{"petId":1}\n',
  '\n1,2,sold\n',
  Buffer.from(`\uFEFF${columns}\n`, 'utf16le'),
  Buffer.from(`${columns}\n`, 'utf16le'),
  gzipSync(`${columns}\n`),
  Buffer.from('PK\x03\x04\x14\x00'),
  Buffer.from([0xd0, 0xcf, 0x11, 0xe0, 0xa1]),
  zstdCompressSync(`${columns}\n`),
  Buffer.from('PAR1\x15\x00'),
  `${columns}\r1,2,sold\r`,
];
const inPages = () => {
  write('earlier.csv', ['earlier']);
  faulty.pageSize = 40;
};
const one = 'import --inventory @one.csv --stage production';

/** An import, a sale, and what follows from it; `transfers.txt` begins with what an operator sees. */
const usual: readonly Step[] = [
  ...[file('two.csv', '1,10,sold', '2,20,sold'), 'import --inventory @two.csv', sell],
  ...['import --inventory @two.csv', 'import --inventory @two.csv --overwrite'],
  'export --inventory -',
];

/** What else is loaded and saved; `transfers.txt` has a line of each command, and what was found after it. */
const scenarios: Readonly<Record<string, readonly Step[]>> = {
  'an entry with the same stock has another version after an update': [
    ...[file('two.csv', '1,10,sold', '2,20,sold'), 'import --inventory @two.csv', sell],
    () => setQuantity({ petId: 1n, quantity: 10 }),
    ...['import --inventory @two.csv', 'import --inventory @two.csv --overwrite'],
    'import --inventory @two.csv --overwrite',
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
    ...[rows(150), 'import --inventory @some.csv', stored],
    ...['import --inventory @some.csv --overwrite', stored, 'export --inventory @throttled.csv'],
  ],
  'one of four batches is refused': [
    fail({ action: 'BatchWriteItem', fault: 'accessDenied', times: 1, after: 1 }),
    ...[some, 'import --inventory @some.csv --overwrite', stored],
  ],
  'nothing of a file is written that has an invalid row, a large one or a rounded id': [
    ...[file('zero.csv', '7,1,sold', '07,1,sold'), 'import --inventory @zero.csv'],
    'import --inventory @zero.csv --dry-run',
    ...[file('twice.csv', '7,1,sold', '7,2,sold'), 'import --inventory @twice.csv'],
    () => void write('pets.jsonl', ['{"id":1,"name":"Rex","status":"sold"}', '{"id":2}']),
    'import --pets @pets.jsonl',
    () => void write('huge.jsonl', [1, 2, 3].map(toLargePet).concat(toLargePet(4, 500_000))),
    ...['import --pets @huge.jsonl', 'export --pets @none.jsonl'],
    file('rounded.csv', '9223372036854770000,1,sold', '9223372036854775807,1,sold'),
    ...['import --inventory @rounded.csv', 'import --inventory @rounded.csv <n\n'],
    'import --inventory @rounded.csv --dry-run',
    () => void write('order.jsonl', [toJson({ ...rounded, placedAt: order.placedAt })]),
    ...['import --orders @order.jsonl', file('exponent.csv', '9.22E+18,1,sold')],
    ...['import --inventory @exponent.csv', stored],
    ...['import --inventory @rounded.csv --yes', stored],
    () => void write('limit.jsonl', [toLargePet(5, 409_000)]),
    'import --pets @limit.jsonl',
  ],
  'a stage': [
    ...[file('one.csv', '1,10,sold'), one, holds(10), `${one} --overwrite`],
    ...[`${one} --overwrite <n\n`, `${one} --overwrite --yes`],
  ],
  'a dry run': [
    ...[file('two.csv', '1,10,sold', '2,20,sold'), 'import --inventory @two.csv --dry-run', stored],
    ...['import --inventory @two.csv', file('next.csv', '1,10,sold', '2,21,sold', '3,30,sold')],
    'import --inventory @next.csv --dry-run --overwrite',
    'import --inventory @next.csv --dry-run --overwrite-if-unchanged @two.csv',
    stored,
  ],
  'what was sold since an export is kept': [
    ...[file('three.csv', '1,10,sold', '2,20,sold', '3,30,sold'), 'import --inventory @three.csv'],
    ...['export --inventory @before.csv', sell],
    file('prices.csv', '1,11,sold', '2,21,sold', '3,30,sold', '4,40,sold'),
    'import --inventory @prices.csv --overwrite-if-unchanged @before.csv',
    holds(99),
    'export --inventory -',
    'import --inventory @prices.csv --overwrite --overwrite-if-unchanged @before.csv',
    'import --inventory @prices.csv --pets @b.jsonl --overwrite-if-unchanged @before.csv',
    ...[file('odd.csv', '1'), 'import --inventory @prices.csv --overwrite-if-unchanged @odd.csv'],
  ],
  'what is sold while it is imported is kept': [
    ...[file('two.csv', '1,10,sold', '2,20,sold'), 'import --inventory @two.csv'],
    ...[file('next.csv', '1,11,sold', '2,21,sold'), sellBeforePut],
    ...['import --inventory @next.csv --overwrite-if-unchanged @two.csv', holds(99)],
  ],
  'what is sold while an empty table is filled is kept': [
    file('two.csv', '1,10,sold', '2,20,sold'),
    fail({ action: 'BatchWriteItem', fault: 'lostResponse', times: 1 }),
    ...[sellBeforePut, 'import --inventory @two.csv', holds(99)],
  ],
  'a first line that is none': [
    ...firstLines.flatMap((content) => [
      () => void data.write('first.csv', content),
      'import --inventory @first.csv',
    ]),
    ...[() => void data.write('first.jsonl', '[{"id":1}]'), 'import --pets @first.jsonl'],
    'import --pets @stock.csv',
    () => void data.write('first.jsonl.gz', gzipSync('{"id":1}')),
    'import --pets @first.jsonl.gz',
  ],
  'a pipe': ['export --inventory - --orders @orders.jsonl', 'export --inventory - --pets -'],
  'a record that is not valid, among others': [
    ...[file('one.csv', '1,10,sold'), 'import --inventory @one.csv'],
    put('inventory', { p: 7, s: 'a' }),
    ...['export --inventory @others.csv', () => data.read('others.csv')],
    ...[file('seven.csv', '7,1,sold'), 'import --inventory @seven.csv'],
    ...['import --inventory @seven.csv --overwrite', 'export --inventory -'],
  ],
  'records that are not valid': [
    ...[put('inventory', { p: 7, s: 'a' }), 'export --inventory @never.csv'],
    put('pets', { id: 7, name: 'Rex', status: 'sold', tags: [{ id: 0.5 }] }),
    'export --pets @never.jsonl',
    ...[put('orders', { ...order, quantity: 1.5 }), 'export --orders @never.jsonl'],
  ],
  'attributes that the contract does not name': [
    put('inventory', { p: 7, q: 1, s: 's' }, others),
    put('pets', { id: 7, name: 'Rex', status: 'sold' }, others),
    put('orders', order, others),
    'export --inventory @odd.csv --pets @odd.pets.jsonl --orders @odd.orders.jsonl',
    () => ['odd.csv', 'odd.pets.jsonl', 'odd.orders.jsonl'].map((name) => data.read(name)).join(''),
  ],
  'a pet with an address that an import refuses': [
    put('pets', { id: 7, name: 'Rex', status: 'sold', photoUrls: ['data:image/png,x', 'Rex'] }),
    'export --pets @kept.jsonl',
    () => data.read('kept.jsonl'),
    'import --pets @kept.jsonl',
  ],
  'an earlier file, and a failure': [
    ...[rows(60), 'import --inventory @some.csv', inPages],
    fail({ action: 'Scan', fault: 'accessDenied', after: 1 }),
    ...['export --inventory @earlier.csv', listFiles],
  ],
  // The current writes are finished, and a second run loads the rest.
  'Ctrl-C': [
    ...[rows(60), interruptAt({ action: 'BatchWriteItem', fault: 'resetAfterwards', times: 1 })],
    ...['import --inventory @some.csv --max-wcu 1 --overwrite', 'import --inventory @some.csv'],
    ...[inPages, interruptAt({ action: 'Scan', fault: 'reset', after: 1, times: 1 })],
    ...['export --inventory @earlier.csv', listFiles],
    () => void write('large.jsonl', [1, 2].map(toLargePet)),
    put('pets', { id: 9, name: 'Rex', status: 'sold' }),
    interruptAt({ action: 'PutItem', fault: 'resetAfterwards', times: 1 }),
    ...['import --pets @large.jsonl --max-wcu 1', 'import --pets @large.jsonl'],
  ],
  'a folder that is not there': [
    ...['import --inventory /nowhere/a.csv', 'export --inventory /nowhere/a.csv'],
  ],
  'invalid names of files': [
    ...['import', 'import --inventory -', 'export --pets pets.csv'],
    'import --inventory @stock.csv --pets @a.jsonl',
    'export --pets @x.jsonl --orders @c/x.jsonl',
    'export --inventory @stock.csv --pets @b.jsonl',
    ...['import --inventory @folder.csv', 'export --inventory @fifo.csv', stayed],
  ],
};

/** The files that commands wrote, and those of a write that is not done. */
function listFiles(): string {
  const names = readdirSync(data.folder).filter((name) => /unfinished|never|earlier/.test(name));
  return names.map((name) => `${name}: ${data.read(name)}`).join('');
}

/** An emulator with empty tables, behind an endpoint that can fail. */
async function open(): Promise<AsyncDisposable> {
  engine = await testEngine.start();
  client = await openStoreTables(engine);
  faulty = await startFaultyEndpoint(engine.endpoint);
  return {
    async [Symbol.asyncDispose]() {
      client.destroy();
      await faulty.close();
      await engine.close();
    },
  };
}

/** What a row leaves out, as the screen and other tests have it. */
const usualLines = /^Sales since [^?]+$|^Nothing was written, because of \d+ invalid row/;

async function follow(steps: readonly Step[], show: typeof toScreen = toLine): Promise<string> {
  await using _opened = await open();
  let seen = '';
  for (const step of steps) {
    const [line = '', typed] = typeof step === 'string' ? step.split(' <') : [];
    const found = typeof step === 'function' ? await step() : undefined;
    if (line !== '') seen += show(line.split(' '), await type(line, typed));
    else if (typeof found === 'string') seen += found;
  }
  return seen;
}

function toLine(typed: readonly string[], outcome: Outcome): string {
  const join = (text: string) => {
    const lines = text.trimEnd().split('\n');
    return lines.filter((line) => !usualLines.test(line)).join(' | ');
  };
  const { status, stdout, stderr } = outcome;
  return toRow(typed, { status, stdout: join(stdout), stderr: join(stderr) });
}

it('npx petstore import and export say what they wrote, or why they wrote nothing', async () => {
  onTestFinished(skipBackOff());
  const screens = [await follow(usual, toScreen), await playScenarios(scenarios, follow)];
  const screen = screens
    .join('\n')
    .replaceAll(`${data.folder}/`, '@')
    // A slow machine takes more than ten seconds over a file.
    .replaceAll(/ \| \w+ \S+: \d+ %, [^|]* rows?\./g, '');
  await expect(screen).toMatchFileSnapshot('transfers.txt');
  // `policies.test.ts` has those of an export.
  const readme = readFileSync(join(projectRoot, 'infra/ops/README.md'), 'utf8');
  const [, ofImport = ''] = readme.split('- **`import`**: ');
  const actions = ofImport.split('\n- ')[0]?.match(/dynamodb:[A-Z]\w+/g) ?? [];
  expect([...called].sort()).toEqual(actions.toSorted());
});

it('an import names the first 20 entries that have changed since an export, and counts the rest', async () => {
  await using _opened = await open();
  const toRows = (quantity: number) =>
    Array.from({ length: 22 }, (_, row) => `${row + 1},${quantity},sold`);
  for (const quantity of [1, 2, 3]) file(`${quantity}.csv`, ...toRows(quantity))();
  await type('import --inventory @1.csv');
  const { stderr } = await type('import --inventory @2.csv --overwrite-if-unchanged @3.csv');
  const lines = stderr.trimEnd().split('\n');
  expect(lines).toHaveLength(21);
  expect(lines[20]).toBe('… and 2 more kept rows.');
});

it('an import names the first 20 invalid rows, and writes nothing', async () => {
  await using _opened = await open();
  file('many.csv', '1,1,sold', ...Array.from({ length: 22 }, (_, row) => `${row + 2},-1,sold`))();
  const { status, stderr } = await type('import --inventory @many.csv');
  const lines = stderr.trimEnd().split('\n');
  expect(status).toBe(1);
  expect(lines).toHaveLength(22);
  expect(lines[19]).toMatch(/many\.csv:22: quantity must be an integer from 0 to \d+, and is -1$/);
  expect(lines[20]).toBe('… and 2 more invalid rows.');
  expect(lines[21]).toBe('Nothing was written, because of 22 invalid rows.');
  expect(await stored()).toBe('Stored: 0 entries\n');
});

it('export writes the same bytes after an import in another order, in pages of any size', async () => {
  await using _opened = await open();
  const [first = '', ...stock] = toStockLines(160);
  const byId = (a: { id: bigint }, b: { id: bigint }) => (a.id < b.id ? -1 : 1);
  const pets = fixtures.pets.toSorted(byId).map(toJson);
  pets[0] = pets[0]?.replace('"name":"', '"name":"\\u202e\\u001b') ?? '';
  // The same id at another time is another order.
  const again = fixtures.orders.map((order) => ({ ...order, placedAt: '2027-01-01T00:00:00Z' }));
  const orders = [...fixtures.orders, ...again].toSorted(byId).map(toJson);
  const toFiles = (name: string) =>
    `--inventory @${name}.csv --pets @${name}.pets.jsonl --orders @${name}.orders.jsonl`;
  write('in.csv', [first, ...stock.toReversed()]);
  write('in.pets.jsonl', pets.toReversed());
  write('in.orders.jsonl', orders.toReversed());
  await type(`import ${toFiles('in')} --overwrite`);
  faulty.pageSize = 60;
  write('linked.jsonl', []);
  symlinkSync('linked.jsonl', data.toPath('out.pets.jsonl'));
  expect(await type(`export ${toFiles('out')}`)).toMatchObject({ status: 0, stderr: '' });
  const scans = faulty.requests.filter(({ action }) => action === 'Scan');
  expect(scans.every(({ input }) => input.ConsistentRead)).toBe(true);
  expect(statSync(data.toPath('out.csv')).mode & 0o777).toBe(0o600);
  expect(data.read('out.csv')).toBe(toText([first, ...stock]));
  expect(data.read('linked.jsonl')).toBe(toText(pets));
  expect(data.read('out.orders.jsonl')).toBe(toText(orders));
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
  const write = defineReplacingWriter(table);
  await workThrough([items.slice(0, 25), items.slice(25, 50), items.slice(50)], async (batch) => {
    expect(await write(batch)).toEqual([]);
  });
  const sizes = calls.map(({ input }) => toPuts(input).length);
  expect(sizes.toSorted((a, b) => a - b)).toEqual([5, 5, 5, 10, 25, 25]);
});

it('no batch is taken after one fails, and those under way are waited for', async () => {
  const [taken, ended]: [number[], number[]] = [[], []];
  const failing = workThrough(Array(100).keys(), async (batch) => {
    taken.push(batch);
    await setTimeout(batch === 3 ? 1 : 20);
    if (batch === 3) throw new Error('not written');
    ended.push(batch);
  });
  await expect(failing).rejects.toThrow('not written');
  expect(taken.length).toBeLessThan(25);
  expect(ended.length).toBe(taken.length - 1);
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

it('the write rate is never above its bound, with any number of writers', async () => {
  const toFake = ['setTimeout', 'clearTimeout', 'performance'] as const;
  vi.useFakeTimers({ toFake: [...toFake], fakeNodeBuiltins: true });
  onTestFinished(() => void vi.useRealTimers());
  const rate = defineWriteRate(1_000, new AbortController().signal);
  // Time without writes adds nothing to the bound.
  vi.advanceTimersByTime(100);
  const started = performance.now();
  await Promise.all([...Array.from({ length: 12 }, () => rate(25)), vi.runAllTimersAsync()]);
  // The first does not wait; each of the others waits for those before it.
  expect(performance.now() - started).toBe(11 * 25);
});

/** Lines of an inventory's CSV file, sorted by ids from all of int64. */
function toStockLines(rows: number): string[] {
  const statuses = ['available', 'pending', 'sold'];
  const step = 2n ** 64n / BigInt(rows);
  const lines = Array.from({ length: rows }, (_, row) => {
    const id = 2n ** 63n - 1n - BigInt(rows - 1 - row) * step;
    return `${id},${(row * 7_919) % 2_147_483_648},${statuses[row % 3]}`;
  });
  return ['petId,quantity,status', ...lines];
}
