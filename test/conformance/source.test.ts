import { describe, expect, test } from 'vitest';
import { parseApiKey } from '../../shared/keys/apiKey.ts';
import { firstEngine } from '../support/engines.ts';
import { keepLogs } from '../support/keepLogs.ts';
import { describeConformance } from './conformance.ts';
import { openLocalTarget } from './localTarget.ts';

const log = keepLogs();
const secrets: string[] = [];

describeConformance(`the handlers' source on ${firstEngine.name}`, async () => {
  const target = await openLocalTarget({ startEngine: () => firstEngine.start() });
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
