import { execFile } from 'node:child_process';
import { chmodSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, expect, it, vi } from 'vitest';
import { projectRoot } from '../../../infra/stages/projectRoot.ts';
import { openFaultyStage } from '../../conformance/localTarget.ts';
import { fixtures, send, sendUpdate } from '../../conformance/target.ts';
import { openTemporaryFolder } from '../../support/temporaryFolder.ts';

const { folder, write, toPath } = openTemporaryFolder();
const target = await openFaultyStage();
afterAll(async () => {
  vi.useRealTimers();
  await target.close();
});

/** In place of the AWS CLI: the scan as typed, with the columns of its query. */
const aws = `
  const { createRequire } = require('node:module');
  const { parseArgs } = require('node:util');
  const { DynamoDBClient, ScanCommand } = createRequire(${JSON.stringify(join(projectRoot, 'package.json'))})('@aws-sdk/client-dynamodb');
  const names = ['table-name', 'filter-expression', 'expression-attribute-values', 'query', 'output'];
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: { 'consistent-read': { type: 'boolean' }, ...Object.fromEntries(names.map((name) => [name, { type: 'string' }])) },
  });
  if (positionals.join(' ') !== 'dynamodb scan' || values.output !== 'text') process.exit(252);
  const [, columns] = /^Items\\[\\]\\.\\[(.*)\\]$/.exec(values.query);
  new DynamoDBClient({}).send(new ScanCommand({
    TableName: values['table-name'].replace('petstore-production-', ''),
    ConsistentRead: values['consistent-read'],
    FilterExpression: values['filter-expression'],
    ExpressionAttributeValues: JSON.parse(values['expression-attribute-values']),
  })).then(({ Items }) => {
    for (const item of Items) {
      const cells = columns.split(', ').map((path) => path.split('.').reduce((one, name) => one?.[name], item) ?? 'None');
      console.log(cells.join('\\t'));
    }
  });
`;

/** The first two blocks of commands of the section, as typed. */
const commands = readFileSync(join(projectRoot, 'infra/OPERATIONS.md'), 'utf8')
  .replace(/^.*\n### Writes made since\n/s, '')
  .split(/```(?:sh)?\n/)
  .filter((_, index) => index === 1 || index === 3)
  .join('');

async function play(): Promise<string[]> {
  const { stdout } = await promisify(execFile)('sh', ['-c', commands], {
    cwd: folder,
    env: {
      ...process.env,
      PATH: `${folder}:${process.env.PATH}`,
      AWS_REGION: 'us-east-1',
      AWS_ACCESS_KEY_ID: 'id',
      AWS_SECRET_ACCESS_KEY: 'secret',
      AWS_ENDPOINT_URL_DYNAMODB: target.store.endpoint,
      PETSTORE_API_KEY: target.apiKey,
      BASE_URL: target.baseUrl,
    },
  });
  return stdout.trim().split('\n');
}

const [one = 0n, two = 0n] = fixtures.inventory
  .filter(({ status, quantity }) => status === 'available' && quantity > 2 && quantity < 1_000)
  .map(({ petId }) => petId);

async function readCounts(): Promise<string> {
  const response = await send(target, 'GET', `/inventory?petId=${one},${two}`);
  return response.text;
}

async function adjust(key: string, ...deltas: [petId: bigint, delta: number][]): Promise<number> {
  const list = deltas.map(([petId, delta]) => `{"petId":${petId},"delta":${delta}}`);
  const headers = { 'Content-Type': 'application/json', 'Idempotency-Key': key };
  const body = `{"adjustments":[${list}]}`;
  return (await send(target, 'POST', '/inventory/adjustments', { headers, body })).status;
}

it('the adjustments since a restore are applied again, each once, and retries by their clients change nothing', async () => {
  write('aws.cjs', aws);
  write('aws', `#!/bin/sh\nexec '${process.execPath}' '${toPath('aws.cjs')}' "$@"\n`);
  chmodSync(toPath('aws'), 0o755);

  // The commands name the second after this one.
  vi.useFakeTimers({ toFake: ['Date'], now: Date.parse('2026-12-24T09:58:59Z') });
  expect(await adjust('before', [one, -1])).toBe(200);
  expect(await adjust('refused-before', [one, -1_000_000])).toBe(409);
  const restored = fixtures.inventory
    .filter(({ petId }) => petId === one || petId === two)
    .map(({ petId, quantity }) => ({ petId, quantity: quantity - Number(petId === one) }));

  vi.setSystemTime(Date.parse('2026-12-24T10:05:00Z'));
  expect(await adjust('sale', [one, -1])).toBe(200);
  expect(await adjust('refused', [one, -1_000_000])).toBe(409);
  vi.setSystemTime(Date.parse('2026-12-24T10:06:00Z'));
  expect(await adjust('cart', [one, -1], [two, -2])).toBe(200);
  expect(await adjust('return', [two, 3])).toBe(200);
  const sold = await readCounts();

  for (const { petId, quantity } of restored) {
    await sendUpdate(target, petId, `{"quantity":${quantity}}`);
  }
  expect(await readCounts()).not.toBe(sold);
  vi.setSystemTime(Date.parse('2026-12-24T10:50:00Z'));
  expect(await adjust('later', [one, -1])).toBe(200);
  expect(await adjust('later-return', [one, 1])).toBe(200);
  const lines = await play();
  const [sale, ...others] = lines;
  expect(sale).toBe(`200 1798106700 ${one}:-1`);
  const cart = [`${one}:-1`, `${two}:-2`].sort();
  expect(new Set(others)).toEqual(new Set([`200 1798106760 ${cart}`, `200 1798106760 ${two}:3`]));
  expect(await readCounts()).toBe(sold);

  expect(await play()).toEqual(lines);
  expect(await adjust('cart', [one, -1], [two, -2])).toBe(200);
  expect(await readCounts()).toBe(sold);
});
