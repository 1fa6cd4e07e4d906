import { readFileSync } from 'node:fs';
import { describe, expect, onTestFinished, test } from 'vitest';
import { findResponseProblems } from '../../infra/docs/openapi/responseProblems.ts';
import { injectedStatuses } from '../../infra/local/gateway/faultInjection.ts';
import { statusOfCode } from '../../shared/contract/errorBody.ts';
import { parseApiKey } from '../../shared/keys/apiKey.ts';
import { startTestGateway } from '../infra/local/testGateway.ts';
import { testEngine } from '../support/engines.ts';
import { exactFetch } from '../support/exactFetch.ts';
import { skipBackOff } from '../support/faults/clock.ts';
import { keepLogs } from '../support/keepLogs.ts';
import { describeConformance } from './conformance.ts';
import { expectSuccess } from './expectations.ts';
import { openFaultyStage, openLocalTarget } from './localTarget.ts';
import { sendValid } from './operations/suites.ts';

const log = keepLogs();
const secrets: string[] = [];

describeConformance(`the handlers' source on ${testEngine.name}`, async () => {
  const target = await openLocalTarget({ startEngine: () => testEngine.start() });
  for (const apiKey of [target.apiKey, target.readOnlyApiKey]) {
    secrets.push(apiKey, parseApiKey(apiKey)?.secret ?? '');
  }
  return target;
});

describe('the log of the run above', () => {
  test('has a line for each request that reached a function', () => {
    expect(
      log.filter((line) => line.includes("operation: 'updateInventory'")).length,
    ).toBeGreaterThan(50);
    expect(log.filter((line) => line.includes("refused: 'wrong secret'"))).not.toEqual([]);
  });

  test('names keys by their key id, and holds no credential in any header', () => {
    const text = log.join('\n');
    expect(secrets).toHaveLength(4);
    for (const secret of secrets) expect(text).not.toContain(secret);
    // Nor any of the suite's invalid credentials.
    expect(text).not.toMatch(/psk_|bearer [^c]|dXNlcjpwYXNzd29yZA|eyJhbGci/i);
  });
});

test('an adjustment that was applied, and whose entries cannot be read, is 503 and says so', async () => {
  onTestFinished(skipBackOff());
  const target = await openFaultyStage();
  onTestFinished(() => target.close());
  target.store.fail({ fault: 'throttled', action: 'GetItem', table: 'inventory' });
  const { status, headers, text } = await sendValid(target, 'adjustInventory');
  expect([status, headers.get('Retry-After')]).toEqual([503, '5']);
  expect(text).toContain('The adjustment was applied');
  target.store.heal();
  const again = await sendValid(target, 'adjustInventory');
  expectSuccess(again, 'adjustInventory');
  expect(again.headers.get('Idempotent-Replayed')).toBe('true');
});

describe('--fail', () => {
  test('knows each status of the contract', () => {
    expect(injectedStatuses).toEqual([...new Set(Object.values(statusOfCode))]);
  });

  test.each(injectedStatuses)('%i gets a response as in the document', async (status) => {
    const faults = { failures: [{ status, share: 1 }] };
    const { baseUrl, drain } = await startTestGateway({}, 1_000, faults);
    const isOfAll = [400, 401, 404, 405, 429, 500, 503].includes(status);
    const write = [409, 422].includes(status)
      ? ['POST', '/inventory/adjustments']
      : ['PATCH', '/inventory/1'];
    const [method = '', path = ''] = isOfAll ? ['GET', '/inventory/1'] : write;
    const response = await exactFetch(baseUrl + path, { method });
    await drain();
    // Its functions would return 501.
    expect(response.status).toBe(status);
    // The document has no methods that a path does not allow.
    if (status === 405) expect(response.headers.get('Allow')).toBe('GET, OPTIONS');
    else expect(findResponseProblems(method, path, response)).toEqual([]);
  });
});

test('the guide to errors has a section for each code', () => {
  const guide = readFileSync(new URL('../../infra/docs/guides/errors.md', import.meta.url), 'utf8');
  const ofClient = ['connection_failed', 'timeout', 'incomplete_list', 'invalid_response'];
  const sections = [...guide.matchAll(/^## `(\w+)`$/gm)].map(([, code]) => code);
  expect(sections.sort()).toEqual([...Object.keys(statusOfCode), ...ofClient].sort());
});
