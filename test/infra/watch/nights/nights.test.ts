import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { operationIds } from '../../../../shared/contract/operations.ts';
import { synthesizeProduction } from '../../../support/stackTemplates.ts';
import { evaluateAlarms, type FiredAlarm } from './evaluateAlarms.ts';
import { type Minute, toOrdinaryMinute } from './traffic.ts';

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
  change: (minute: Minute, index: number) => void,
  fires: Record<string, number>,
  calls?: number,
];

const pages = { 'server-errors': 10 };
/** All that the check needs is gone too. */
const unreachable = { 'check-failed': 10 };

const failures: Failure[] = [
  [
    'getPet always answers 500',
    ({ operations: { getPet } }) => {
      getPet.failed = getPet.calls;
    },
    { ...pages, failing: 0, 'getPet-server-errors': 10 },
  ],
  [
    'an operation that is hardly called always answers 500',
    ({ operations: { listOrders } }) => {
      Object.assign(listOrders, { calls: 1, failed: 1 });
    },
    { 'listOrders-server-errors': 10 },
    1_000,
  ],
  [
    '1 in 20 updates fails',
    ({ operations: { updateInventory } }) => {
      updateInventory.failed = updateInventory.calls / 20;
    },
    { ...pages, 'updateInventory-server-errors': 10 },
    200,
  ],
  [
    'everything fails, at four requests in five minutes',
    (minute, index) => {
      for (const id of operationIds) minute.operations[id].calls = 0;
      if (index % 5 < 4) Object.assign(minute.operations.getPet, { calls: 1, failed: 1 });
      minute.check = 'failed';
    },
    { ...unreachable, failing: 15, 'getPet-server-errors': 10 },
  ],
  [
    'three of four requests fail in a quarter of an hour',
    ({ operations }, index) => {
      if (index >= 15) return;
      for (const id of operationIds) operations[id].calls = 0;
      if (index < 4) Object.assign(operations.getPet, { calls: 1, failed: index < 3 ? 1 : 0 });
    },
    { failing: 15, 'getPet-server-errors': 0 },
  ],
  [
    'the name leads nowhere',
    (minute) => {
      for (const id of operationIds) minute.operations[id].calls = 0;
      minute.check = 'failed';
    },
    { ...unreachable, silence: 15 },
  ],
  [
    'the gateway reaches no function',
    (minute) => {
      for (const id of operationIds) minute.operations[id].calls = 0;
      minute.gatewayErrors = 100;
      minute.check = 'failed';
    },
    { ...pages, ...unreachable, failing: 15 },
  ],
  [
    'a function crashes once',
    ({ operations: { getPet } }, index) => {
      getPet.crashed = index === 3 ? 1 : 0;
    },
    { 'getPet-errors': 5 },
  ],
  [
    'a function crashes at every call',
    ({ operations: { getPet } }) => {
      getPet.crashed = getPet.calls;
    },
    { ...pages, 'getPet-errors': 5 },
  ],
  [
    'an update takes four seconds',
    ({ operations: { updateInventory } }) => {
      updateInventory.slowest = 4_000;
    },
    { 'updateInventory-latency': 15 },
  ],
  [
    'a list begins after six seconds',
    ({ operations: { listInventory } }) => {
      listInventory.firstByte = 6_000;
    },
    { 'listInventory-latency': 15 },
  ],
  [
    'a list comes near its time limit',
    ({ operations: { listInventory } }) => {
      listInventory.slowest = 100_000;
    },
    { 'listInventory-duration': 10 },
  ],
  [
    'DynamoDB refuses calls for their rate',
    ({ throttles, operations: { updateInventory } }) => {
      throttles.inventory = 30;
      updateInventory.failed = updateInventory.calls / 2;
    },
    { ...pages, 'updateInventory-server-errors': 10, 'inventory-table-throttles': 10 },
  ],
  [
    'DynamoDB fails, and every third attempt helps',
    ({ systemErrors }) => {
      systemErrors.orders = 5;
    },
    { 'orders-table-system-errors': 10 },
  ],
  [
    'Lambda refuses calls',
    ({ operations: { listOrders } }) => {
      listOrders.refused = 5;
    },
    { ...pages, 'listOrders-throttles': 5 },
  ],
  [
    'another service takes the account’s calls',
    (minute) => {
      minute.accountAtOnce = 850;
    },
    { 'account-concurrency': 5 },
  ],
  [
    'lists take all but a few of the calls that are theirs',
    ({ operations: { listInventory } }) => {
      listInventory.atOnce = 45;
    },
    { 'listInventory-concurrency': 5 },
  ],
  [
    'somebody tries keys',
    ({ refusals }) => {
      refusals[401] = 200;
    },
    { 'unauthorized-requests': 10 },
  ],
  [
    'a read key is used to write',
    ({ refusals }) => {
      refusals[403] = 60;
    },
    { 'forbidden-requests': 10 },
  ],
  [
    'a client runs away',
    ({ refusals }) => {
      refusals[429] = 80;
    },
    { 'throttled-requests': 10 },
  ],
  [
    'the check runs no more',
    (minute) => {
      minute.check = 'none';
    },
    unreachable,
  ],
  [
    'the certificate ends in twenty days',
    ({ days }) => {
      days.certificate = 20;
    },
    { 'certificate-ends-in-30-days': 60 },
  ],
  [
    'a key that nobody has replaced ends in six days',
    ({ days }) => {
      days.key = 6;
    },
    { 'key-ends-in-30-days': 60, 'key-ends-in-7-days': 60 },
  ],
  [
    'a deprecated operation may go in twenty days, and is called still',
    ({ days }) => {
      days.sunset = 20;
    },
    { 'sunset-has-callers': 24 * 60 },
  ],
];

describe('of twenty failures and more', () => {
  it('none was left out', () => expect(failures).toHaveLength(24));

  it.each(failures)(
    '%s: fires what it should, within its time',
    (_, change, fires, calls = 100) => {
      const length = Math.max(60, ...Object.values(fires));
      const minutes = Array.from({ length }, (_minute, index) => {
        const minute = toOrdinaryMinute(calls);
        change(minute, index);
        return minute;
      });
      const fired = evaluateAlarms(alarms, minutes);
      const wanted = Object.entries(fires).filter(([, within]) => within > 0);
      expect(fired.map(({ name }) => name).sort()).toEqual(wanted.map(([name]) => name).sort());
      for (const { name, minute } of fired)
        expect(minute, name).toBeLessThanOrEqual(fires[name] ?? 0);
    },
  );
});

it('the runbook says what fires at each failure, and after how many minutes', () => {
  const runbook = readFileSync(new URL('../../../../infra/RUNBOOK.md', import.meta.url), 'utf8');
  const rows = failures.map(([what, , fires]) => {
    const wanted = Object.entries(fires).filter(([, within]) => within > 0);
    const names = wanted.map(([name, within]) => `\`${name}\` ${within}`).sort();
    return `| ${what} | ${names.join(', ')} |`;
  });
  expect(runbook.match(/^\| [^|]+ \| `[\w-]+` \d+.* \|$/gm)).toEqual(rows);
});

describe('in twenty quiet days', () => {
  const minutesOfDay = 24 * 60;
  const days = Array.from({ length: 20 }, (_, day) => day);

  it.each(days)('nobody is paged: day %i', (day) => {
    const draw = defineDraw(day + 1);
    const minutes = Array.from({ length: minutesOfDay }, (_, index) => {
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
    if (index >= 600 && index < 800 && index % 2 === 0) minute.refusals[401] = 1;
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
