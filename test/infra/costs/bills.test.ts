import { describe, expect, test } from 'vitest';
import { findCostChanges } from '../../../infra/costs/bills/costChanges.ts';
import { toFixedDollars } from '../../../infra/costs/bills/fixedCosts.ts';
import { toRequestsBill, toTracedPercent } from '../../../infra/costs/bills/monthlyBill.ts';
import { toMeanDollars } from '../../../infra/costs/bills/requestCosts.ts';
import { toSavings } from '../../../infra/costs/bills/savings.ts';
import { readCommittedTraffic, sumRequests } from '../../../infra/costs/bills/traffic.ts';
import {
  type RequestPricing,
  sumDollars,
  toDollarsPerMillion,
} from '../../../infra/costs/bills/usage.ts';
import { toWorstMonth } from '../../../infra/costs/bills/worstMonth.ts';
import { toTieredDollars } from '../../../infra/costs/prices/priceTable.ts';
import { defaultPrices } from '../../../infra/costs/prices/priceTables.ts';
import type { Answer, AnswerUnits } from '../../../infra/costs/units/answerUnits.ts';
import { findUnits, readRecordedUnits } from '../../../infra/costs/units/recordedUnits.ts';
import { stages } from '../../../infra/stages/stages.ts';
import type { OperationId } from '../../../shared/contract/operations.ts';
import { useTestStages } from './testStages.ts';

useTestStages();

/** What X-Ray does where it is given no rule. */
const defaultSampling = { reservedPerSecond: 1, percent: 5 };

const recorded = readRecordedUnits();

function units(id: OperationId, answer: Answer, entries = 0) {
  const found = findUnits(recorded, id, answer, entries);
  if (!found) throw new Error(`There are no units of ${id} ${answer}.`);
  return found;
}

/** As X-Ray chooses by itself, at so many requests a month. */
function toPricing(requests: number): RequestPricing {
  return {
    prices: defaultPrices,
    tracedPercent: toTracedPercent(defaultSampling, requests),
    hasFirewall: false,
  };
}

function dollars(id: OperationId, answer: Answer, entries = 0) {
  return toDollarsPerMillion(units(id, answer, entries), toPricing(100e6));
}

describe('worked by hand', () => {
  test('an update is one write unit of $0.625 a million, and no read', () => {
    expect(units('updateInventory', '200')).toMatchObject({ readUnits: 0, writeUnits: 1 });
    expect(dollars('updateInventory', '200').writeUnits).toBeCloseTo(0.625, 6);
  });

  test('an update with an Idempotency-Key is a transaction of two items, which doubles their units: 4 × $0.625', () => {
    expect(dollars('updateInventory', '200 Idempotency-Key').writeUnits).toBeCloseTo(2.5, 6);
  });

  test('it reads the entry before: half a read unit, $0.0625', () => {
    expect(dollars('updateInventory', '200 Idempotency-Key').readUnits).toBeCloseTo(0.0625, 6);
  });

  test('a lookup of a pet is half a read unit: 0.5 × $0.125 = $0.0625', () => {
    expect(units('getPet', '200').readUnits).toBe(0.5);
    expect(dollars('getPet', '200').readUnits).toBeCloseTo(0.0625, 6);
  });

  // An entry takes 1 + 11 bytes for p and an id of 19 digits, one more where it is negative, 1 + 2 or 3 for
  // q and 1 + 1 for s: 1,000 of them take 18,111 bytes.
  test('a list of 1,000 entries of 18,111 bytes is 5 blocks of 4 KB: 2.5 read units', () => {
    expect(Math.ceil(18_111 / 4_096) / 2).toBe(2.5);
    expect(units('listInventory', '200', 1_000).readUnits).toBe(2.5);
  });

  // 100,000 entries take 1,810,748 bytes. A page ends with the entry that reaches 1,048,576: 1,048,586 bytes,
  // 257 blocks of 4 KB; the second page has the other 762,162, 187 blocks: 444 halves.
  test('a list of 100,000 entries is 222 read units: 222 × $0.125 = $27.75', () => {
    expect(units('listInventory', '200', 100_000).readUnits).toBe(222);
    expect(dollars('listInventory', '200', 100_000).readUnits).toBeCloseTo(27.75, 6);
  });

  test('a 412 is billed the write that failed, and one consistent read: $0.625 + $0.125', () => {
    const { readUnits, writeUnits } = dollars('updateInventory', '412');
    expect(writeUnits).toBeCloseTo(0.625, 6);
    expect(readUnits).toBeCloseTo(0.125, 6);
  });

  test('a 404 of an update is billed the write that failed', () => {
    expect(dollars('updateInventory', '404').writeUnits).toBeCloseTo(0.625, 6);
  });

  test('a call of 10 ms at 512 MB: $0.20 + 1e6 × 0.5 GB × 0.01 s × $0.0000133334 = $0.2667', () => {
    expect(dollars('getPet', '200').lambda).toBeCloseTo(0.2667, 4);
  });

  // 6,394,208 bytes: 102,752 past 6 MiB, at $0.008 a GB: 1e6 × 102,752 / 2^30 × 0.008 = $0.766;
  // 1 GB × 0.7 s × $0.0000133334 × 1e6 = $9.333; and $0.20.
  test('a list of 100,000 entries runs 700 ms at 1,024 MB, and streams 0.1 MB past the first 6', () => {
    const { responseBytes } = units('listInventory', '200', 100_000);
    const streamed = (1e6 * (responseBytes - 6 * 2 ** 20) * 0.008) / 2 ** 30;
    expect(dollars('listInventory', '200', 100_000).lambda).toBeCloseTo(0.2 + 9.3334 + streamed, 3);
    expect(streamed).toBeCloseTo(0.76, 1);
  });

  test('6.39 MB to the internet at $0.09 a GB: 6,394,000 / 2^30 × 0.09 × 1e6 = $535.9', () => {
    expect(dollars('listInventory', '200', 100_000).transfer).toBeCloseTo(535.9, 0);
  });

  test('a list of 500,000 entries is 32 MB, four steps of 10 MB at the gateway: 4 × $3.50', () => {
    expect(units('listInventory', '200', 500_000).responseBytes).toBeGreaterThan(30 * 2 ** 20);
    expect(dollars('listInventory', '200', 500_000).gateway).toBeCloseTo(14, 6);
  });

  test('what the gateway refuses for its rate costs its log line and its answer alone', () => {
    const { gateway, lambda, tracing, logs, transfer } = dollars('getPet', '429');
    expect([gateway, lambda, tracing]).toEqual([0, 0, 0]);
    // Some 375 bytes at $0.50 a GB, and 800 at $0.09.
    expect(logs).toBeCloseTo(0.175, 2);
    expect(transfer).toBeCloseTo(0.067, 2);
  });

  test('X-Ray without a rule traces all of 1 M requests, and 7.5 % of 100 M', () => {
    // 2,628,000 seconds a month: more than 1 M requests; of 100 M, 2.628 M + 5 % of 97.372 M.
    expect(toTracedPercent(defaultSampling, 1e6)).toBe(100);
    expect(toTracedPercent(defaultSampling, 100e6)).toBeCloseTo(2.628 + 0.05 * 97.372, 6);
  });

  test('production traces 1 %: 0.01 × $5', () => {
    expect(toTracedPercent(stages.production.settings.tracing, 1e6)).toBe(1);
  });

  test('500 M requests at the gateway: 333 × $3.50 + 167 × $2.80 = $1,633.10', () => {
    expect(toTieredDollars(defaultPrices.gatewayRequests, 500e6)).toBeCloseTo(1_633.1, 6);
  });

  test('60 TB out: 10,240 × $0.09 + 40,960 × $0.085 + 10,240 × $0.07 = $5,120', () => {
    expect(toTieredDollars(defaultPrices.transferBytes, 60 * 2 ** 40)).toBeCloseTo(5_120, 6);
  });

  test('a key is read anew each minute: 43,800 minutes × $0.125 a million, for each operation called', () => {
    const shares = [
      { operationId: 'getPet', answer: '200', requests: 1e6 },
      { operationId: 'listOrders', answer: '200', requests: 1_000 },
      { operationId: 'listOrders', answer: '401', requests: 1_000 },
    ] as const;
    const { keyReads } = toRequestsBill({ entries: 0, shares }, recorded, toPricing(1e6));
    expect(keyReads).toBeCloseTo((44_800 * 0.125) / 1e6, 9);
  });

  test('74 alarm metrics, 4 metrics and a key: 74 × $0.10 + 4 × $0.30 + $1', () => {
    const counted = { alarmMetrics: 74, customMetrics: 4, encryptionKeys: 1 };
    const others = { checks: 0, firewallRules: 3, isBackedUp: true };
    const fixed = toFixedDollars({ ...counted, ...others }, defaultPrices, 0);
    expect(fixed).toMatchObject({ alarms: 7.4, metrics: 1.2, encryptionKeys: 1, firewall: 8 });
  });

  // 26.28 M × 6,394,208 bytes = 152.83 TB: 10,240 × $0.09 + 40,960 × $0.085 + 102,400 × $0.07 + 2,898 × $0.05.
  test('10 whole lists a second for 2,628,000 seconds fill three steps of the transfer price', () => {
    const shares = [{ operationId: 'listInventory', answer: '200', requests: 26.28e6 }] as const;
    const { dollars } = toRequestsBill({ entries: 100_000, shares }, recorded, toPricing(100e6));
    expect(dollars.transfer).toBeCloseTo(921.6 + 3_481.6 + 7_168 + 145, -1);
  });

  test('the worst month of lists is their throttle, around the clock, and no more than run at once', () => {
    const { settings } = stages.production;
    const throttles = { ...settings.throttles, listInventory: { rate: 10, burst: 20 } };
    const countLists = (changes: Partial<typeof settings>) => {
      const changed = { ...settings, throttles, ...changes };
      return toWorstMonth(changed, recorded, defaultPrices, 100_000).requests.shares[0];
    };
    const expected = { operationId: 'listInventory', answer: '200' };
    expect(countLists({})).toMatchObject({ ...expected, requests: 10 * 2_628_000 });
    // Two at once, of 0.7 s each: 2.857 a second.
    const reserved = { accountConcurrency: 1_000, reservedConcurrency: { listInventory: 2 } };
    expect(countLists(reserved)?.requests).toBeCloseTo((2 / 0.7) * 2_628_000, 0);
  });
});

describe('what one request of an operation costs on average', () => {
  const settings = { tracing: { reservedPerSecond: 0, percent: 1 }, firewall: false } as const;

  test('is that of the answers which the committed traffic has of it', () => {
    const plain = sumDollars(
      toDollarsPerMillion(units('getPet', '200'), {
        prices: defaultPrices,
        tracedPercent: 1,
        hasFirewall: false,
      }),
    );
    const mean = Number(toMeanDollars('getPet', settings)) * 1e6;
    // 2,000,000 of 200 and 20,000 of 401, and 43,800 lookups of the key.
    const refused = sumDollars(dollars('getPet', '401')) - sumDollars(dollars('getPet', '200'));
    expect(mean).toBeCloseTo(plain + (refused * 0.02 + 0.0438 * 0.125) / 2.02, 6);
  });

  test('has the prices of traces and of the firewall in it', () => {
    const tracing = { reservedPerSecond: 0, percent: 100 };
    const [usual, more] = [settings, { tracing, firewall: true }].map((changed) =>
      Number(toMeanDollars('listOrders', changed)),
    );
    expect((Number(more) - Number(usual)) * 1e6).toBeCloseTo(0.99 * 5 + 0.6, 9);
  });
});

test('a stage that traces the first request of each second shares the traces among all operations', () => {
  const staging = { tracing: { reservedPerSecond: 1, percent: 0 }, firewall: false } as const;
  const untraced = { ...staging, tracing: { reservedPerSecond: 0, percent: 0 } };
  const added =
    Number(toMeanDollars('getPet', staging)) - Number(toMeanDollars('getPet', untraced));
  // 2,628,000 of the 4,670,000 requests of the committed traffic.
  expect(added * 1e6).toBeCloseTo((2_628_000 / sumRequests(readCommittedTraffic())) * 5, 9);
});

describe('what would save in a month of 2,000,000 lists of 1,000 entries', () => {
  const shares = [{ operationId: 'listInventory', answer: '200', requests: 2e6 }] as const;
  const pricing = { prices: defaultPrices, tracedPercent: 10, hasFirewall: false };
  const savings = toSavings({ entries: 1_000, shares }, recorded, pricing);
  const { request, start, report } = units('listInventory', '200', 1_000).logBytes;
  const toTotal = (answer: Answer) =>
    sumDollars(toDollarsPerMillion(units('listInventory', answer, 1_000), pricing));

  test.each([
    ['with zstd', 2 * (toTotal('200') - toTotal('200 zstd'))],
    ['by petId=', 2 * (toTotal('200') - toTotal('200 petId'))],
    // A tenth of two million, at $5 a million.
    ['X-Ray', 0.2 * 5],
    // Half of $0.50 a GB, of the lines that are the function's and Lambda's own.
    ['Infrequent Access', ((2e6 * (request + start + report)) / 2 ** 30) * 0.25],
    ["Lambda's own lines", ((2e6 * (start + report)) / 2 ** 30) * 0.5],
    // Half a GB less for 25 ms of each call.
    ['half the memory', 2e6 * 0.5 * 0.025 * 0.0000133334],
    ['HTTP API', 2 * (3.5 - 1)],
  ])('%s is worked out by hand', (name, dollars) => {
    expect(savings.find((saving) => saving.name.includes(name))?.dollars).toBeCloseTo(dollars, 6);
  });

  test('is all that is told', () => {
    expect(savings).toHaveLength(7);
  });
});

/** Dollars per million at 100 M and at 1 M requests a month, reckoned apart from the model. */
describe('the table that finance worked out', () => {
  test.each<[string, OperationId, Answer, number, at100M: number, at1M: number]>([
    ['getPet', 'getPet', '200', 0, 4.8, 9.48],
    ['updateInventory', 'updateInventory', '200', 0, 5.35, 10.04],
    ['a list of 1,000', 'listInventory', '200', 1_000, 10.66, 15.35],
    ['a list of 1,000 with gzip', 'listInventory', '200 gzip', 1_000, 6.6, 11.29],
    ['a list of 100,000', 'listInventory', '200', 100_000, 578, 582],
    ['a list of 100,000 with gzip', 'listInventory', '200 gzip', 100_000, 166, 171],
    ['a refused key', 'getPet', '401', 0, 4.68, 9.37],
  ])('%s is within 2 %%', (_, id, answer, entries, at100M, at1M) => {
    for (const [requests, expected] of [
      [100e6, at100M],
      [1e6, at1M],
    ] as const) {
      const total = sumDollars(
        toDollarsPerMillion(units(id, answer, entries), toPricing(requests)),
      );
      expect(Math.abs(total / expected - 1), `$${total}`).toBeLessThan(0.02);
    }
  });
});

const petTraffic = {
  entries: 1_000,
  shares: [{ operationId: 'getPet', answer: '200', requests: 2_000_000 }],
} as const;

/** What is said once the units of some answers are others. */
function toChanges(
  isMeant: (units: AnswerUnits) => boolean,
  changed: (units: AnswerUnits) => Partial<AnswerUnits>,
): string[] {
  const after = recorded.map((units) => (isMeant(units) ? { ...units, ...changed(units) } : units));
  return findCostChanges(recorded, after, petTraffic);
}

const isPet = ({ operationId, answer }: AnswerUnits) =>
  operationId === 'getPet' && answer === '200';

describe('a change of what a request costs', () => {
  test('is none while nothing has changed', () => {
    expect(toChanges(isPet, () => ({}))).toEqual([]);
  });

  test('is told by the million and by the month of the committed traffic, with its reason', () => {
    expect(toChanges(isPet, ({ readUnits }) => ({ readUnits: readUnits + 1 }))).toEqual([
      'A month of 2,000,000 requests costs $0.25 more: $9.06 → $9.31.',
      'getPet 200 costs $0.1250 more per million requests, $0.25 a month at 2,000,000 requests (read units 0.5 → 1.5).',
    ]);
  });

  test('is told of a longer log line, and of more memory', () => {
    const changed = toChanges(isPet, ({ logBytes }) => ({
      memoryMegabytes: 1_024,
      logBytes: { ...logBytes, request: logBytes.request + 200 },
    }));
    expect(changed).toEqual([
      expect.stringMatching(/costs \$0\.32 more/),
      expect.stringMatching(
        /^getPet 200 costs \$0\.1598 more per .* \(MB × ms of Lambda 512 × 10 → 1024 × 10; bytes logged \d+ → \d+\)\.$/,
      ),
    ]);
  });

  test('is told when it is for the better', () => {
    expect(toChanges(isPet, () => ({ responseBytes: 10 })).join()).toMatch(
      /getPet 200 costs \$0\.06\d+ less per/,
    );
  });

  test('is told of answers without committed traffic too, the most expensive first', () => {
    const changed = toChanges(
      ({ answer }) => answer === '401',
      ({ responseBytes }) => ({ responseBytes: responseBytes * 2 }),
    );
    expect(changed).toHaveLength(4);
    expect(changed[0]).toMatch(/^getPet 401 costs \$0\.0\d+ more per million requests \(bytes/);
  });

  test('is told of answers that came and went', () => {
    const [first, ...others] = recorded as [AnswerUnits, ...AnswerUnits[]];
    expect(findCostChanges(others, recorded, petTraffic)).toEqual([
      'listInventory 200 of 1,000 entries is new.',
    ]);
    expect(findCostChanges([first], [], petTraffic)).toEqual([
      'listInventory 200 of 1,000 entries is no longer there.',
    ]);
  });
});

test('the committed traffic names answers that there are', () => {
  const { entries, shares } = readCommittedTraffic();
  expect(entries).toBeGreaterThan(0);
  expect(shares.length).toBeGreaterThan(4);
});
