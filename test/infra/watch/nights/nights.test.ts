import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { type OperationId, operationIds } from '../../../../shared/contract/operations.ts';
import { synthesizeProduction } from '../../../support/stackTemplates.ts';
import { evaluateAlarms, type FiredAlarm } from './evaluateAlarms.ts';
import { type Minute, type OperationMinute, toOrdinaryMinute } from './minutes.ts';

const { watch } = synthesizeProduction({
  accountConcurrency: 1000,
  reservedConcurrency: { listInventory: 50 },
  quietMinutes: 15,
});
const alarms = Object.values(watch.findResources('AWS::CloudWatch::Alarm')).map(
  ({ Properties }) => Properties,
);

/** What a failure does to a minute, and what then fires: names and how many minutes it may take. */
type Failure = [
  what: string,
  change: (minute: Minute, index: number) => unknown,
  fires: Record<string, number>,
  calls?: number,
];

/** A minute that is so in all of it, or in an operation. */
const when = (change: Partial<Minute>) => (minute: Minute) => Object.assign(minute, change);
const whenOf =
  (
    id: OperationId,
    toChange: (minute: OperationMinute, index: number) => Partial<OperationMinute>,
  ) =>
  ({ operations }: Minute, index: number) =>
    Object.assign(operations[id], toChange(operations[id], index));
const silence = ({ operations }: Minute) => {
  for (const id of operationIds) operations[id].calls = 0;
};
/** As many calls of getPet, and of nothing else. */
const only = (minute: Minute, calls: number, failed: number) => {
  silence(minute);
  Object.assign(minute.operations.getPet, { calls, failed });
};

const pages = { 'server-errors': 10 };
/** All that the check needs is gone too. */
const unreachable = { 'check-failed': 10 };

const failures: Failure[] = [
  [
    'getPet always answers 500',
    whenOf('getPet', ({ calls }) => ({ failed: calls })),
    { ...pages, failing: 0, 'getPet-server-errors': 10 },
  ],
  [
    'an operation that is hardly called always answers 500',
    whenOf('listOrders', () => ({ calls: 1, failed: 1 })),
    { 'listOrders-server-errors': 10 },
    1_000,
  ],
  [
    '1 in 20 updates fails',
    whenOf('updateInventory', ({ calls }) => ({ failed: calls / 20 })),
    { ...pages, 'updateInventory-server-errors': 10 },
    200,
  ],
  [
    'everything fails, at four requests in five minutes',
    (minute, index) => {
      only(minute, index % 5 < 4 ? 1 : 0, index % 5 < 4 ? 1 : 0);
      minute.check = 'failed';
    },
    { ...unreachable, failing: 15, 'getPet-server-errors': 10 },
  ],
  [
    'three of four requests fail in a quarter of an hour',
    (minute, index) => index < 15 && only(minute, index < 4 ? 1 : 0, index < 3 ? 1 : 0),
    { failing: 15, 'getPet-server-errors': 0 },
  ],
  [
    'the name leads nowhere',
    (minute) => silence(when({ check: 'failed' })(minute)),
    { ...unreachable, silence: 15 },
  ],
  [
    'the gateway reaches no function',
    (minute) => silence(when({ check: 'failed', gatewayErrors: 100 })(minute)),
    { ...pages, ...unreachable, failing: 15 },
  ],
  [
    'a function crashes once',
    whenOf('getPet', (_, index) => ({ crashed: index === 3 ? 1 : 0 })),
    { 'getPet-errors': 5 },
  ],
  [
    'a function crashes at every call',
    whenOf('getPet', ({ calls }) => ({ crashed: calls })),
    { ...pages, 'getPet-errors': 5 },
  ],
  [
    'an update takes four seconds',
    whenOf('updateInventory', () => ({ slowest: 4_000 })),
    { 'updateInventory-latency': 15 },
  ],
  [
    'a list begins after six seconds',
    whenOf('listInventory', () => ({ firstByte: 6_000 })),
    { 'listInventory-latency': 15 },
  ],
  [
    'a list comes near its time limit',
    whenOf('listInventory', () => ({ slowest: 100_000 })),
    { 'listInventory-duration': 10 },
  ],
  [
    'DynamoDB refuses calls for their rate',
    (minute, index) => {
      minute.throttles.inventory = 30;
      whenOf('updateInventory', ({ calls }) => ({ failed: calls / 2 }))(minute, index);
    },
    { ...pages, 'updateInventory-server-errors': 10, 'inventory-table-throttles': 10 },
  ],
  [
    'DynamoDB fails, and every third attempt helps',
    when({ systemErrors: { orders: 5 } }),
    { 'orders-table-system-errors': 10 },
  ],
  [
    'Lambda refuses calls',
    whenOf('listOrders', () => ({ refused: 5 })),
    { ...pages, 'listOrders-throttles': 5 },
  ],
  [
    'another service takes the account’s calls',
    when({ accountAtOnce: 850 }),
    { 'account-concurrency': 5 },
  ],
  [
    'lists take all but a few of the calls that are theirs',
    whenOf('listInventory', () => ({ atOnce: 45 })),
    { 'listInventory-concurrency': 5 },
  ],
  ['somebody tries keys', when({ unauthorized: 200 }), { 'unauthorized-requests': 10 }],
  ['a read key is used to write', when({ forbidden: 60 }), { 'forbidden-requests': 10 }],
  ['a client runs away', when({ throttled: 80 }), { 'throttled-requests': 10 }],
  ['the check runs no more', when({ check: 'none' }), unreachable],
  [
    'the certificate ends in twenty days',
    ({ days }) => Object.assign(days, { certificate: 20 }),
    { 'certificate-ends-in-30-days': 60 },
  ],
  [
    'a key that nobody has replaced ends in six days',
    ({ days }) => Object.assign(days, { key: 6 }),
    { 'key-ends-in-30-days': 60, 'key-ends-in-7-days': 60 },
  ],
  [
    'a deprecated operation may go in twenty days, and is called still',
    ({ days }) => Object.assign(days, { sunset: 20 }),
    { 'sunset-has-callers': 24 * 60 },
  ],
];

const toWanted = (fires: Record<string, number>) =>
  Object.entries(fires).filter(([, within]) => within > 0);

it.each(failures)('%s: fires what it should, within its time', (_, change, fires, calls = 100) => {
  const length = Math.max(60, ...Object.values(fires));
  const minutes = Array.from({ length }, () => toOrdinaryMinute(calls));
  for (const [index, minute] of minutes.entries()) change(minute, index);
  const fired = evaluateAlarms(alarms, minutes);
  const names = toWanted(fires).map(([name]) => name);
  expect(fired.map(({ name }) => name).sort()).toEqual(names.sort());
  for (const { name, minute } of fired) expect(minute, name).toBeLessThanOrEqual(fires[name] ?? 0);
});

it('the runbook says what fires at each failure, and after how many minutes', () => {
  const runbook = readFileSync(new URL('../../../../infra/RUNBOOK.md', import.meta.url), 'utf8');
  const rows = failures.map(([what, , fires]) => {
    const names = toWanted(fires)
      .map(([name, within]) => `\`${name}\` ${within}`)
      .sort();
    return `| ${what} | ${names.join(', ')} |`;
  });
  expect(runbook.match(/^\| [^|]+ \| `[\w-]+` \d+.* \|$/gm)).toEqual(rows);
});

describe('in twenty quiet days', () => {
  it.each(Array.from({ length: 20 }, (_, day) => day + 1))('nobody is paged: day %i', (day) => {
    const draw = defineDraw(day);
    const minutes = Array.from({ length: 24 * 60 }, (_, index) => {
      const isNight = index < 6 * 60;
      // Nights have a request now and then.
      const minute = toOrdinaryMinute(isNight ? Math.floor(draw() * 4) : 40 + draw() * 160);
      if (isNight && index % 10 === 0) minute.operations.getPet.calls += 1;
      addChances(minute, draw, index);
      return minute;
    });
    const paged = evaluateAlarms(alarms, minutes).filter(
      ({ severity }: FiredAlarm) => severity === 'Page',
    );
    expect(paged).toEqual([]);
  });

  /** One long list, a deployment, one client's 401s, a failure here and there. */
  function addChances(minute: Minute, draw: () => number, index: number): void {
    const { listInventory, updateInventory, getPet } = minute.operations;
    if (index === 700) Object.assign(listInventory, { calls: 1, slowest: 60_000 });
    // New containers answer their first calls late.
    if (index >= 900 && index < 905) updateInventory.slowest = 1_200;
    if (index >= 600 && index < 800 && index % 2 === 0) minute.unauthorized = 1;
    if (index > 600 && draw() < 0.002) getPet.failed = 1;
    if (index === 1_000) getPet.crashed = 1;
    if (draw() < 0.01) updateInventory.slowest = 3_500;
  }
});

/** Numbers from 0 to below 1, the same for the same seed (mulberry32). */
function defineDraw(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
}
