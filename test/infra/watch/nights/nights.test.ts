import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { operationSettings } from '../../../../infra/stages/stages.ts';
import { type OperationId, operationIds } from '../../../../shared/contract/operations.ts';
import { findProperties, synthesizeProduction } from '../../../support/stackTemplates.ts';
import { type Draw, defineDraw } from '../../../support/testCommand.ts';
import { defineValue, evaluateAlarms, toStates } from './evaluate.ts';
import { type Change, failures, when, whenOf } from './failures.ts';
import {
  type Metrics,
  type Minute,
  type OfOperation,
  toMetrics,
  toOrdinaryMinute,
} from './minutes.ts';

const { watch } = synthesizeProduction({
  accountConcurrency: 1000,
  reservedConcurrency: { listInventory: 50 },
  quietMinutes: 15,
});
const found = Object.entries(watch.findResources('AWS::CloudWatch::Alarm'));
const alarms = found.map(([, { Properties }]) => Properties);
const incidents = findProperties(watch, 'AWS::CloudWatch::CompositeAlarm');

const DAY = 24 * 60;

/** The metrics of ordinary minutes, each with so many calls, after a change. */
function toMinutes(length: number, calls: number, change: Change): Metrics[] {
  return Array.from({ length }, (_, index) => {
    const minute = toOrdinaryMinute(calls);
    change(minute, index);
    return toMetrics(minute);
  });
}

it('the runbook explains each alarm, under its severity', () => {
  const runbook = readFileSync(new URL('../../../../infra/RUNBOOK.md', import.meta.url), 'utf8');
  const [, pages = '', tickets = ''] = runbook.split(/^### (?:Pages|Tickets)$|^## Roll back$/m);
  const explained = [pages, tickets].map((section) =>
    [...section.matchAll(/^- \*\*(.+?)\*\*/gm)].flatMap(([, names = '']) =>
      [...names.matchAll(/`([\w-]+)`/g)].map(([, name = '']) => name),
    ),
  );
  const toGeneral = (name: string) =>
    name
      .replace('petstore-production-', '')
      .replace(new RegExp(`^(${operationIds.join('|')})-`), 'OPERATION-')
      .replace(/^\w+-table-/, 'TABLE-table-');
  const ofSeverity = (label: string) => {
    const found = [...alarms, ...incidents].filter(({ AlarmDescription }) =>
      AlarmDescription.startsWith(label),
    );
    return [...new Set(found.map(({ AlarmName }) => toGeneral(AlarmName)))].sort();
  };
  const expected = [ofSeverity('Page:'), ofSeverity('Ticket:')];
  expect(explained.map((names) => names.sort())).toEqual(expected);
});

it.each(failures)('%s: fires its alarms within their time', (_, expected, change, before) => {
  const toFires = ([name, within]: [string, number]) =>
    toNames(name).map((one) => [one, within] as const);
  const fires = new Map(Object.entries(expected).flatMap(toFires));
  const length = Math.max(60, ...fires.values());
  const minutes = toMinutes(DAY + length, 100, (minute, index) => {
    before?.(minute);
    if (index >= DAY) change(minute, index - DAY);
  });
  const fired = evaluateAlarms(alarms, minutes, DAY);
  expect(fired.map(({ name }) => name).sort()).toEqual([...fires.keys()].sort());
  for (const { name, minute } of fired) {
    expect(minute, name).toBeLessThanOrEqual(Number(fires.get(name)));
  }
});

it.each<[name: string, within: number, change: Change]>([
  ['transaction-conflicts', 5, when({ 'inventory TransactionConflict': 100 })],
  ['inventory-table-throttles', 10, when({ 'inventory ReadThrottleEvents': 30 })],
  ['check-failed', 5, when({ 'check Errors': undefined })],
  ['key-ends-in-7-days', 60, when({ keyDays: 6 })],
  ['getPet-errors', 5, whenOf('getPet', () => ({ Invocations: 1, Errors: 1 }))],
  ['getPet-latency', 5, whenOf('getPet', () => ({ Invocations: 1, Duration: 9_000 }))],
])('%s ends %i minutes after its cause, without further requests', (name, within, change) => {
  const minutes = toMinutes(
    120 + within,
    0,
    (minute, index) => index < 120 && change(minute, index),
  );
  const find = (some: readonly Metrics[]) =>
    evaluateAlarms(alarms, some).find((one) => one.name === name)?.isFiring;
  expect([find(minutes.slice(0, 120)), find(minutes)]).toEqual([true, false]);
});

/** How often pages begin and end: incidents, and pages that are part of none. */
function countMails(minutes: readonly Metrics[]) {
  const states = new Map(
    found.map(([id, { Properties }]) => [id, toStates(Properties, minutes, 0)]),
  );
  const ofIncidents = incidents.map(({ AlarmRule }) => {
    const rule = JSON.stringify(AlarmRule);
    const parts = found.filter(([id]) => rule.includes(`"${id}"`)).map(([id]) => states.get(id));
    return minutes.map((_, index) => parts.some((one) => one?.[index]));
  });
  const others = found
    .filter(([, { Properties }]) => Properties.AlarmActions?.length > 0)
    .filter(([, { Properties }]) => Properties.AlarmDescription.startsWith('Page:'))
    .map(([id]) => states.get(id) ?? []);
  const count = (state: boolean) =>
    [...ofIncidents, ...others].flatMap((all) =>
      all.filter((one, index) => one === state && (all[index - 1] ?? false) !== state),
    ).length;
  return { pages: count(true), ends: count(false) };
}

it.each<[what: string, change: Change, pages: number]>([
  ['everything returns 503', failAll, 2],
  [
    'every call runs out of time',
    everyOne(({ Invocations }) => ({ Errors: Invocations, Duration: 120_000, FirstByte: 120_000 })),
    2,
  ],
  ['nothing reaches the gateway', everyOne(() => ({ Invocations: 0 })), 1],
  ['everything fails for ten minutes', (minute, index) => index < 10 && failAll(minute, index), 1],
])('%s, and the check fails: few pages, and as many ends', (_, change, pages) => {
  const minutes = toMinutes(10 * 60, 100, (minute, index) => {
    if (index >= 60 && index < 150) change(when({ 'check Errors': 1 })(minute), index - 60);
  });
  expect(countMails(minutes)).toEqual({ pages, ends: pages });
});

it('an outage pages although an operation has failed at few requests before', () => {
  const minutes = toMinutes(4 * 60, 100, (minute, index) => {
    if (index >= 180) return failAll(minute, index);
    const count = index > 30 && index % 20 === 0 ? 1 : 0;
    return whenOf('getPet', () => ({ Invocations: count, ServerErrors: count }))(minute, index);
  });
  expect([countMails(minutes.slice(0, 180)).pages, countMails(minutes).pages]).toEqual([1, 2]);
});

function everyOne(toChange: (minute: OfOperation) => Partial<OfOperation>): Change {
  return (minute, index) => {
    for (const id of operationIds) whenOf(id, toChange)(minute, index);
  };
}

function failAll(minute: Minute, index: number): void {
  everyOne(({ Invocations }) => ({ ServerErrors: Invocations }))(minute, index);
}

it('an alarm always has a value, so that it never looks back at older periods', () => {
  const silent = toMinutes(DAY, 0, when({ 'check Errors': undefined }));
  for (const alarm of alarms) {
    expect(defineValue(alarm, silent)(0, DAY), alarm.AlarmName).toBeGreaterThanOrEqual(0);
  }
});

function toNames(name: string): string[] {
  if (!name.startsWith('OPERATION-')) return [name];
  return operationIds.map((id) => name.replace('OPERATION', id));
}

/** Failed requests to an operation, in each way that they can fail. */
const failingWays: Record<string, (count: number, id: OperationId) => Partial<OfOperation>> = {
  'returns 503': (count) => ({ Invocations: count, ServerErrors: count }),
  crashes: (count) => ({ Invocations: count, Errors: count }),
  'runs out of time': (count, id) => ({
    ...{ Invocations: count, Errors: count },
    Duration: operationSettings[id].timeoutSeconds * 1_000,
  }),
  'is throttled': (count) => ({ Throttles: count }),
};

/** Requests a day, and minutes from the beginning to the page. */
const rates = [
  [24, 322],
  [48, 199],
  [200, 42],
  [1_000, 18],
  [100_000, 9],
] as const;

const failing = operationIds.flatMap((id) =>
  Object.keys(failingWays).flatMap((way) => rates.map((rate) => [id, way, ...rate] as const)),
);
const HISTORY = 5 * 60;

describe.each(failing)('%s %s, at %i requests a day', (id, way, rate, within) => {
  it.each([
    ['alone', 0],
    ['beside healthy traffic', 100],
  ])('pages in time after it worked: %s', (_, calls) => {
    const toCount = (index: number) => Math.floor((index * rate) / DAY);
    const counts = Array.from(
      { length: HISTORY + within },
      (_one, index) => toCount(index + 1) - toCount(index),
    );
    expect(toPageMinute(id, way, counts, calls)).toBeLessThanOrEqual(within);
  });
});

it.each(rates)(
  'at %i requests a day that come by chance, half of the pages come within %i minutes',
  (rate, within) => {
    const times = Array.from({ length: 25 }, (_, seed) => {
      const draw = defineDraw(seed);
      const counts = Array.from({ length: HISTORY + 3 * within }, () =>
        drawCount(draw, rate / DAY),
      );
      return toPageMinute('getPet', 'returns 503', counts, 0);
    });
    expect(times.sort((one, other) => one - other)[12]).toBeLessThanOrEqual(within);
  },
);

/** The minute of the first page, if the requests of each minute fail after the history. */
function toPageMinute(id: OperationId, way: string, counts: readonly number[], calls: number) {
  const minutes = toMinutes(counts.length, calls, ({ operations }, index) => {
    const count = counts[index] ?? 0;
    const change = index < HISTORY ? { Invocations: count } : failingWays[way]?.(count, id);
    Object.assign(operations[id], { Invocations: 0 }, change);
  });
  const pages = evaluateAlarms(ofOperation(id), minutes, HISTORY);
  return Math.min(...pages.map(({ minute }) => minute));
}

/** A number of events by chance (Poisson). */
function drawCount(draw: Draw, mean: number): number {
  let count = -1;
  for (let time = 0; time < mean; count += 1) time -= Math.log(1 - draw());
  return Math.max(count, 0);
}

/** The alarms on the 5xx that clients of an operation get. */
function ofOperation(id: OperationId) {
  const name = new RegExp(`-${id}-(server-errors|failing)$`);
  return alarms.filter(({ AlarmName }) => name.test(AlarmName));
}

/** Some calls of getPet at the beginning of a day, one in every so many minutes, beside its usual ones. */
const first = (count: number, gap: number, calls: Partial<OfOperation>, Invocations: number) =>
  whenOf('getPet', (_, index) =>
    index % gap === 0 && index / gap < count ? calls : { Invocations },
  );
/** One request in some minutes, which fails in some of them. */
const seldom = (id: OperationId, gap: number, ...failed: number[]) =>
  whenOf(id, (_, index) => ({
    Invocations: index % gap === 0 ? 1 : 0,
    ServerErrors: failed.includes(index) ? 1 : 0,
  }));

it.each<[what: string, change: Change, tickets: string[]]>([
  [
    '20 of 40 requests get 404',
    first(20, 1, { Invocations: 2, ClientErrors: 1 }, 0),
    ['getPet-client-errors'],
  ],
  ['20 of 60 requests get 404', first(20, 1, { Invocations: 3, ClientErrors: 1 }, 0), []],
  ['19 of 19 requests get 404', first(1, 1, { Invocations: 19, ClientErrors: 19 }, 0), []],
  [
    '10 of 1,040 requests of a day fail',
    first(10, 100, { Invocations: 4, ServerErrors: 1 }, 1),
    ['getPet-error-budget'],
  ],
  ['9 of 1,040 requests of a day fail', first(9, 100, { Invocations: 4, ServerErrors: 1 }, 1), []],
  ['both requests of an hour fail', seldom('getPet', 30, 600, 630), []],
  ['three of twenty requests of an hour fail', seldom('updateInventory', 3, 600, 618, 642), []],
  [
    'one call is throttled',
    whenOf('getPet', (_, index) => ({ Throttles: index === 600 ? 1 : 0 })),
    [],
  ],
  [
    'the check fails once',
    (minute, index) => index === 600 && when({ 'check Errors': 1 })(minute),
    [],
  ],
])('nobody is paged, and only these tickets are written, when %s', (_, change, tickets) => {
  const fired = evaluateAlarms(alarms, toMinutes(DAY, operationIds.length, change));
  expect(fired.map(({ name }) => name)).toEqual(tickets);
});

describe('in sixty quiet days', () => {
  const pages = alarms.filter(({ AlarmDescription }) => AlarmDescription.startsWith('Page:'));
  it.each(Array.from({ length: 60 }, (_, day) => day + 1))('nobody is paged: day %i', (day) => {
    const draw = defineDraw(day);
    const minutes = Array.from({ length: DAY }, (_, index) => {
      const isNight = index < 6 * 60;
      const minute = toOrdinaryMinute(isNight ? Math.floor(draw() * 4) : 40 + draw() * 160);
      if (isNight && index % 10 === 0) minute.operations.getPet.Invocations += 1;
      addChances(minute, draw, index);
      return minute;
    });
    // Once a night and twice a day, an update fails, and its client retries it four times.
    for (const [from, length] of [
      [0, 340],
      [400, 500],
      [900, 500],
    ] as const) {
      const first = from + Math.floor(draw() * length);
      for (const minute of [0, 0, 1, 3, 7]) {
        const { updateInventory } = minutes[first + minute]?.operations ?? {};
        if (updateInventory) {
          updateInventory.Invocations += 1;
          updateInventory.ServerErrors += 1;
        }
      }
    }
    expect(evaluateAlarms(pages, minutes.map(toMetrics))).toEqual([]);
  });

  /** One long list, a deployment, one client's 401s, a failure here and there. */
  function addChances(minute: Minute, draw: Draw, index: number): void {
    const { listInventory, updateInventory, getPet } = minute.operations;
    if (index === 700) Object.assign(listInventory, { Invocations: 1, Duration: 60_000 });
    // New containers respond to their first calls slowly.
    if (index >= 900 && index < 905) updateInventory.Duration = 1_200;
    if (index >= 600 && index < 800 && index % 2 === 0) minute.unauthorized = 1;
    if (index > 600 && draw() < 0.002) getPet.ServerErrors = 1;
    if (index === 1_000) getPet.Errors = 1;
    if (draw() < 0.005) updateInventory.Duration = 3_500;
  }
});
