import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { operationSettings } from '../../../../infra/stages/stages.ts';
import { type OperationId, operationIds } from '../../../../shared/contract/operations.ts';
import { synthesizeProduction } from '../../../support/stackTemplates.ts';
import { evaluateAlarms } from './evaluate.ts';
import {
  daysBeforeSunset,
  type Minute,
  type OperationMinute,
  toOrdinaryMinute,
} from './minutes.ts';

const { watch } = synthesizeProduction({
  accountConcurrency: 1000,
  reservedConcurrency: { listInventory: 50 },
  quietMinutes: 15,
});
const alarms = Object.values(watch.findResources('AWS::CloudWatch::Alarm')).map(
  ({ Properties }) => Properties,
);

/** What a failure does to a minute of 100 calls, and how the day before it was other than that. */
type Failure = [
  what: string,
  change: (minute: Minute, index: number) => unknown,
  before?: (minute: Minute) => unknown,
];
const DAY = 24 * 60;

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
const withCalls = (id: OperationId, Invocations: number) => (minute: Minute) =>
  Object.assign(minute.operations[id], { Invocations });
const silence = ({ operations }: Minute) => {
  for (const id of operationIds) operations[id].Invocations = 0;
};
/** As many calls of getPet, and of nothing else. */
const only = (minute: Minute, Invocations: number, ServerErrors: number) => {
  silence(minute);
  Object.assign(minute.operations.getPet, { Invocations, ServerErrors });
};

const failures: Failure[] = [
  [
    'getPet always answers 500',
    whenOf('getPet', ({ Invocations }) => ({ ServerErrors: Invocations })),
  ],
  [
    'an operation that is hardly called always answers 500',
    whenOf('listOrders', () => ({ Invocations: 1, ServerErrors: 1 })),
    (minute) => withCalls('listOrders', 1)(Object.assign(minute, toOrdinaryMinute(1_000))),
  ],
  [
    'an update, of 24 a day, always answers 503',
    whenOf('updateInventory', (_, index) => {
      const Invocations = index % 60 === 0 ? 1 : 0;
      return { Invocations, ServerErrors: Invocations };
    }),
    withCalls('updateInventory', 0),
  ],
  [
    '1 in 20 updates fails',
    whenOf('updateInventory', () => ({ Invocations: 50, ServerErrors: 2.5 })),
  ],
  [
    'everything fails, at four requests in five minutes',
    (minute, index) => {
      only(minute, index % 5 < 4 ? 1 : 0, index % 5 < 4 ? 1 : 0);
      minute.check = 'failed';
    },
  ],
  [
    'three of four requests for a pet, the only ones in hours, fail',
    whenOf('getPet', (_, index) => ({
      Invocations: index < 4 ? 1 : 0,
      ServerErrors: index < 3 ? 1 : 0,
    })),
    withCalls('getPet', 0),
  ],
  ['the name leads nowhere', (minute) => silence(when({ check: 'failed' })(minute))],
  [
    'the gateway reaches no function',
    (minute) => silence(when({ check: 'failed', gatewayErrors: 100 })(minute)),
  ],
  ['a function crashes once', whenOf('getPet', (_, index) => ({ Errors: index === 3 ? 1 : 0 }))],
  [
    'a function crashes at every call',
    whenOf('getPet', ({ Invocations }) => ({ Errors: Invocations })),
  ],
  ['an update takes four seconds', whenOf('updateInventory', () => ({ Duration: 4_000 }))],
  ['a list begins after six seconds', whenOf('listInventory', () => ({ FirstByte: 6_000 }))],
  ['a list comes near its time limit', whenOf('listInventory', () => ({ Duration: 100_000 }))],
  [
    'DynamoDB refuses calls for their rate',
    (minute, index) => {
      minute.throttles.inventory = 30;
      whenOf('updateInventory', ({ Invocations }) => ({ ServerErrors: Invocations / 2 }))(
        minute,
        index,
      );
    },
  ],
  ['DynamoDB fails, and every third attempt helps', when({ systemErrors: { orders: 5 } })],
  ['Lambda refuses calls', whenOf('listOrders', () => ({ Throttles: 5 }))],
  [
    'Lambda refuses five calls at once',
    whenOf('getPet', (_, index) => ({ Throttles: index === 3 ? 5 : 0 })),
  ],
  ['another service takes the account’s calls', when({ accountAtOnce: 850 })],
  [
    'lists take all but a few of the calls that are theirs',
    whenOf('listInventory', () => ({ ConcurrentExecutions: 45 })),
  ],
  ['somebody tries keys', when({ unauthorized: 200 })],
  ['a read key is used to write', when({ forbidden: 60 })],
  ['a client runs away', when({ throttled: 80 })],
  ['the check itself gets 429', when({ check: 'throttled' })],
  ['the inventory outgrows what the stage is to bear', when({ surplusEntries: 1 })],
  ['the check runs no more', when({ check: 'none' })],
  ['the certificate ends in twenty days', endsIn({ certificate: 20 })],
  ['a key that nobody has replaced ends in six days', endsIn({ key: 6 })],
  [
    'a deprecated operation may go in twenty days, and is called still',
    when({ now: daysBeforeSunset(20) }),
  ],
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
      [...fires.matchAll(/`([\w-]+)` (\d+)/g)].flatMap(([, name = '', within]) =>
        toNames(name).map((one) => [one, Number(within)]),
      ),
    ),
  ]),
);

/** `OPERATION-` stands for those of all operations. */
function toNames(name: string): string[] {
  if (!name.startsWith('OPERATION-')) return [name];
  return operationIds.map((id) => name.replace('OPERATION', id));
}

it('the runbook has these failures', () => {
  expect([...runbook.keys()]).toEqual(failures.map(([what]) => what));
});

it.each(failures)('%s: fires what the runbook says, within its time', (what, change, before) => {
  const fires = runbook.get(what) ?? new Map();
  const length = Math.max(60, ...fires.values());
  const minutes = Array.from({ length: DAY + length }, () => toOrdinaryMinute(100));
  for (const [index, minute] of minutes.entries()) {
    before?.(minute);
    if (index >= DAY) change(minute, index - DAY);
  }
  const fired = evaluateAlarms(alarms, minutes, DAY);
  expect(fired.map(({ name }) => name).sort()).toEqual([...fires.keys()].sort());
  for (const { name, minute } of fired) expect(minute, name).toBeLessThanOrEqual(fires.get(name));
});

/** What a request to an operation that fails is, in each way that one can. */
const failingWays: Record<string, (id: OperationId) => Partial<OperationMinute>> = {
  'answers 503': () => ({ Invocations: 1, ServerErrors: 1 }),
  crashes: () => ({ Invocations: 1, Errors: 1 }),
  'runs out of time': (id) => ({
    ...{ Invocations: 1, Errors: 1 },
    Duration: operationSettings[id].timeoutSeconds * 1_000,
  }),
  'is throttled': () => ({ Throttles: 1 }),
};

/** Requests a day, and the minutes from the third failure to the page, where the operation was well until then. */
const rates = [
  [24, 15],
  // Four of the eight requests of four hours are half of them.
  [48, 31],
  [1_000, 15],
] as const;

const failing = operationIds.flatMap((id) =>
  Object.keys(failingWays).flatMap((way) => rates.map((rate) => [id, way, ...rate] as const)),
);

describe.each(failing)('%s %s, at %i requests a day', (id, way, rate, wellWithin) => {
  it.each([
    ['alone', 0, false, 15],
    ['beside healthy traffic', 100, false, 15],
    ['alone, and well until then', 0, true, wellWithin],
    ['beside healthy traffic, and well until then', 100, true, wellWithin],
  ])('pages soon after the third failure: %s', (_, calls, wasWell, within) => {
    const history = 4 * 60;
    const isAsked = (index: number) =>
      Math.floor((index * rate) / DAY) < Math.floor(((index + 1) * rate) / DAY);
    const minutes = Array.from({ length: history + 180 }, () => toOrdinaryMinute(calls));
    const asked: number[] = [];
    for (const [index, { operations }] of minutes.entries()) {
      const now = isAsked(index) && (index >= history || wasWell);
      const change = index < history ? { Invocations: 1 } : failingWays[way]?.(id);
      Object.assign(operations[id], { Invocations: 0 }, now && change);
      if (now && index >= history) asked.push(index - history);
    }
    const third = Number(asked[2]);
    expect(third).toBeLessThan(history);
    const pages = evaluateAlarms(ofOperation(id), minutes, history).filter(({ isPage }) => isPage);
    const first = Math.min(...pages.map(({ minute }) => minute));
    expect(first).toBeGreaterThan(third);
    expect(first - third).toBeLessThanOrEqual(within);
  });
});

/** The alarms on what clients of an operation get. */
function ofOperation(id: OperationId) {
  const name = new RegExp(`-${id}-(server-errors|failing-\\dh)$`);
  return alarms.filter(({ AlarmName }) => name.test(AlarmName));
}

/** Nights on which something went wrong, and that are no outage. */
it.each<[what: string, change: (minute: Minute, index: number) => unknown]>([
  [
    'both requests of an hour fail',
    whenOf('getPet', (_, index) => {
      const Invocations = index % 30 === 0 ? 1 : 0;
      return { Invocations, ServerErrors: index === 600 || index === 630 ? 1 : 0 };
    }),
  ],
  [
    'three of twenty requests of an hour fail',
    whenOf('updateInventory', (_, index) => {
      const Invocations = index % 3 === 0 ? 1 : 0;
      return { Invocations, ServerErrors: [600, 618, 642].includes(index) ? 1 : 0 };
    }),
  ],
  ['one call is throttled', whenOf('getPet', (_, index) => ({ Throttles: index === 600 ? 1 : 0 }))],
  ['the check fails once', (minute, index) => index === 600 && when({ check: 'failed' })(minute)],
  ['the check gets 429 all day', when({ check: 'throttled' })],
])('nobody is paged when %s', (_, change) => {
  const minutes = Array.from({ length: DAY }, () => toOrdinaryMinute(4));
  for (const [index, minute] of minutes.entries()) change(minute, index);
  expect(evaluateAlarms(alarms, minutes).filter(({ isPage }) => isPage)).toEqual([]);
});

describe('in twenty quiet days', () => {
  it.each(Array.from({ length: 20 }, (_, day) => day + 1))('nobody is paged: day %i', (day) => {
    const draw = defineDraw(day);
    const minutes = Array.from({ length: 24 * 60 }, (_, index) => {
      const isNight = index < 6 * 60;
      // Nights have a request now and then.
      const minute = toOrdinaryMinute(isNight ? Math.floor(draw() * 4) : 40 + draw() * 160);
      if (isNight && index % 10 === 0) minute.operations.getPet.Invocations += 1;
      addChances(minute, draw, index);
      return minute;
    });
    const paged = evaluateAlarms(alarms, minutes).filter(({ isPage }) => isPage);
    expect(paged).toEqual([]);
  });

  /** One long list, a deployment, one client's 401s, a failure here and there. */
  function addChances(minute: Minute, draw: () => number, index: number): void {
    const { listInventory, updateInventory, getPet } = minute.operations;
    if (index === 700) Object.assign(listInventory, { Invocations: 1, Duration: 60_000 });
    // New containers answer their first calls late.
    if (index >= 900 && index < 905) updateInventory.Duration = 1_200;
    if (index >= 600 && index < 800 && index % 2 === 0) minute.unauthorized = 1;
    if (index > 600 && draw() < 0.002) getPet.ServerErrors = 1;
    if (index === 1_000) getPet.Errors = 1;
    if (draw() < 0.01) updateInventory.Duration = 3_500;
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
