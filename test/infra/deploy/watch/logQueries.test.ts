import { afterEach, expect, it, vi } from 'vitest';
import { logQueries } from '../../../../infra/deploy/watch/logQueries.ts';
import {
  accessQuery,
  addressQuery,
  callerQuery,
  errorQuery,
} from '../../../../infra/ops/status/readRequests.ts';
import { StoreUnavailable } from '../../../../shared/contract/errors.ts';
import { adjustInventory } from '../../../../shared/contract/operations/adjustInventory.ts';
import { getInventoryEntry } from '../../../../shared/contract/operations/getInventoryEntry.ts';
import { defineHandler } from '../../../../shared/http/defineHandler.ts';
import { mintApiKey } from '../../../../shared/keys/apiKey.ts';
import { countFailedWrite } from '../../../../shared/runtime/requestUnits.ts';
import { call, defineHandlerSettings, withKey } from '../../../shared/http/callHandler.ts';
import { fillAccessLog, findProperties, watchTemplates } from '../../../support/stackTemplates.ts';

afterEach(() => vi.restoreAllMocks());

const queries = [
  ...logQueries,
  { lines: errorQuery },
  { lines: callerQuery },
  { log: 'access', lines: accessQuery },
  { log: 'access', lines: addressQuery },
];

/** What Lambda and its platform put beside `message`, and what Logs Insights adds. */
const platformFields = [
  ...['level', 'type', 'record.status', 'record.requestId', 'requestId'],
  // Of an error that nobody caught.
  ...['message.errorType', 'message.errorMessage'],
];

it('queries only fields that the functions log', async () => {
  const logged = new Set((await logLines()).flatMap((line) => toPaths(line, 'message')));
  const ofGateway = Object.keys(fillAccessLog('staging'));
  const asked = queries.flatMap((query) => {
    if (query.log === 'access') return [];
    return toFields(query).filter((field) => query.log !== 'all' || !ofGateway.includes(field));
  });
  expect(asked.length).toBeGreaterThan(20);
  const unknown = asked.filter((field) => !platformFields.includes(field) && !logged.has(field));
  expect(unknown).toEqual([]);
  for (const field of ['keyName', 'refused', 'error.cause.name'])
    expect(logged).toContain(`message.${field}`);
});

it('queries only fields that the access log has', () => {
  const logged = Object.keys(fillAccessLog('staging'));
  const asked = queries.filter(({ log }) => log === 'access').flatMap(toFields);
  expect(asked).toEqual(expect.arrayContaining(['sourceIp', 'status']));
  expect(asked.filter((field) => !logged.includes(field))).toEqual([]);
});

it('gives each query a unique name, to which the alarms refer', () => {
  const names = logQueries.map(({ name }) => name);
  expect(new Set(names).size).toBe(names.length);
  const alarms = findProperties(watchTemplates.production, 'AWS::CloudWatch::Alarm');
  const named = alarms.flatMap(({ AlarmDescription }) =>
    [...AlarmDescription.matchAll(/"([^"]+)"/g)].map(([, name]) => name),
  );
  expect(named.length).toBeGreaterThan(5);
  for (const name of named) expect(names).toContain(name);
});

/** A function's log lines of a success, an error of its own, one of the store, and a refusal. */
async function logLines(): Promise<unknown[]> {
  const info = vi.spyOn(console, 'info').mockImplementation(() => {});
  const error = vi.spyOn(console, 'error').mockImplementation(() => {});
  const { apiKey, settings } = defineHandlerSettings('read', mintApiKey(), 1);
  const fail = async () => {
    countFailedWrite(1);
    throw new Error('outer', { cause: new Error('inner') });
  };
  for (const [key, response] of [
    [apiKey, async () => ({ body: {} })],
    [apiKey, fail],
    [apiKey, () => Promise.reject(new StoreUnavailable(new Error('outer')))],
    [mintApiKey().apiKey, fail],
  ] as const) {
    const handler = defineHandler(getInventoryEntry, settings, response as never);
    await call(handler, { headers: withKey(key) });
  }
  const seller = defineHandlerSettings('write');
  const busy = () => Promise.reject(new StoreUnavailable(new Error('outer')));
  await call(defineHandler(adjustInventory, seller.settings, busy), {
    headers: { ...withKey(seller.apiKey), 'Idempotency-Key': ['order-1'] },
    event: { pathParameters: null, body: '{"adjustments":[{"petId":7,"delta":-1}]}' },
  });
  return [...info.mock.calls, ...error.mock.calls].map(([line]) => line);
}

function toPaths(value: unknown, path: string): string[] {
  if (typeof value !== 'object' || value === null) return [path];
  const parts = Object.entries(value).flatMap(([name, part]) => toPaths(part, `${path}.${name}`));
  return [path, ...parts];
}

/** The log's fields in a query, without those of Logs Insights, its keywords and the query's own results. */
function toFields({ lines }: { readonly lines: readonly string[] }): string[] {
  const text = lines.map((line) => line.replace(/"[^"]*"|\/.*\/| # .*/g, '')).join('\n');
  const results = [...text.matchAll(/ as (\w+)/g)].map(([, name]) => name);
  const words =
    /^(fields|filter|stats|sort|limit|count|sum|min|max|latest|ispresent|coalesce|strcontains|like|as|by|in|and|or|asc|desc)$/;
  return [...text.matchAll(/@?[A-Za-z][\w.]*/g)]
    .map(([name]) => name)
    .filter((name) => !name.startsWith('@') && !words.test(name) && !results.includes(name));
}
