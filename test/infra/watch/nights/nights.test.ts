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

/** What a failure does to a minute, of 100 calls unless there are others. */
type Failure = [what: string, change: (minute: Minute, index: number) => unknown, calls?: number];

/** A minute that is so in all of it, or in an operation. */
const when = (change: Partial<Minute>) => (minute: Minute) => Object.assign(minute, change);
const whenOf =
  (
    id: OperationId,
    toChange: (minute: OperationMinute, index: number) => Partial<OperationMinute>,
  ) =>
  ({ operations }: Minute, index: number) =>
    Object.assign(operations[id], toChange(operations[id], index));
const endsIn = (days: Partial<Minute['days']>) => (minute: Minute) =>
  Object.assign(minute.days, days);
const silence = ({ operations }: Minute) => {
  for (const id of operationIds) operations[id].calls = 0;
};
/** As many calls of getPet, and of nothing else. */
const only = (minute: Minute, calls: number, failed: number) => {
  silence(minute);
  Object.assign(minute.operations.getPet, { calls, failed });
};

const failures: Failure[] = [
  ['getPet always answers 500', whenOf('getPet', ({ calls }) => ({ failed: calls }))],
  [
    'an operation that is hardly called always answers 500',
    whenOf('listOrders', () => ({ calls: 1, failed: 1 })),
    1_000,
  ],
  [
    '1 in 20 updates fails',
    whenOf('updateInventory', ({ calls }) => ({ failed: calls / 20 })),
    200,
  ],
  [
    'everything fails, at four requests in five minutes',
    (minute, index) => {
      only(minute, index % 5 < 4 ? 1 : 0, index % 5 < 4 ? 1 : 0);
      minute.check = 'failed';
    },
  ],
  [
    'three of four requests fail in a quarter of an hour',
    (minute, index) => index < 15 && only(minute, index < 4 ? 1 : 0, index < 3 ? 1 : 0),
  ],
  ['the name leads nowhere', (minute) => silence(when({ check: 'failed' })(minute))],
  [
    'the gateway reaches no function',
    (minute) => silence(when({ check: 'failed', gatewayErrors: 100 })(minute)),
  ],
  ['a function crashes once', whenOf('getPet', (_, index) => ({ crashed: index === 3 ? 1 : 0 }))],
  ['a function crashes at every call', whenOf('getPet', ({ calls }) => ({ crashed: calls }))],
  ['an update takes four seconds', whenOf('updateInventory', () => ({ slowest: 4_000 }))],
  ['a list begins after six seconds', whenOf('listInventory', () => ({ firstByte: 6_000 }))],
  ['a list comes near its time limit', whenOf('listInventory', () => ({ slowest: 100_000 }))],
  [
    'DynamoDB refuses calls for their rate',
    (minute, index) => {
      minute.throttles.inventory = 30;
      whenOf('updateInventory', ({ calls }) => ({ failed: calls / 2 }))(minute, index);
    },
  ],
  ['DynamoDB fails, and every third attempt helps', when({ systemErrors: { orders: 5 } })],
  ['Lambda refuses calls', whenOf('listOrders', () => ({ refused: 5 }))],
  ['another service takes the account’s calls', when({ accountAtOnce: 850 })],
  [
    'lists take all but a few of the calls that are theirs',
    whenOf('listInventory', () => ({ atOnce: 45 })),
  ],
  ['somebody tries keys', when({ unauthorized: 200 })],
  ['a read key is used to write', when({ forbidden: 60 })],
  ['a client runs away', when({ throttled: 80 })],
  ['the check runs no more', when({ check: 'none' })],
  ['the certificate ends in twenty days', endsIn({ certificate: 20 })],
  ['a key that nobody has replaced ends in six days', endsIn({ key: 6 })],
  ['a deprecated operation may go in twenty days, and is called still', endsIn({ sunset: 20 })],
];

/** What the runbook says of each failure: the alarms that fire, and after how many minutes at most. */
const runbook = new Map(
  [
    ...readFileSync(new URL('../../../../infra/RUNBOOK.md', import.meta.url), 'utf8').matchAll(
      /^\| ([^|]+) \| (`[\w-]+` \d+.*) \|$/gm,
    ),
  ].map(([, what, fires = '']) => [
    what,
    new Map(
      [...fires.matchAll(/`([\w-]+)` (\d+)/g)].map(([, name, within]) => [name, Number(within)]),
    ),
  ]),
);

it('the runbook has these failures', () => {
  expect([...runbook.keys()]).toEqual(failures.map(([what]) => what));
});

it.each(failures)(
  '%s: fires what the runbook says, within its time',
  (what, change, calls = 100) => {
    const fires = runbook.get(what) ?? new Map();
    const length = Math.max(60, ...fires.values());
    const minutes = Array.from({ length }, () => toOrdinaryMinute(calls));
    for (const [index, minute] of minutes.entries()) change(minute, index);
    const fired = evaluateAlarms(alarms, minutes);
    expect(fired.map(({ name }) => name).sort()).toEqual([...fires.keys()].sort());
    for (const { name, minute } of fired) expect(minute, name).toBeLessThanOrEqual(fires.get(name));
  },
);

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
