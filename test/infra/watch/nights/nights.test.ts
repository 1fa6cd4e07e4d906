import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { operationSettings } from '../../../../infra/stages/stages.ts';
import { type OperationId, operationIds } from '../../../../shared/contract/operations.ts';
import { synthesizeProduction } from '../../../support/stackTemplates.ts';
import { defineValue, evaluateAlarms } from './evaluate.ts';
import { failures, when, whenOf } from './failures.ts';
import { type Minute, type OfOperation, toOrdinaryMinute } from './minutes.ts';

const { watch } = synthesizeProduction({
  accountConcurrency: 1000,
  reservedConcurrency: { listInventory: 50 },
  quietMinutes: 15,
});
const found = Object.values(watch.findResources('AWS::CloudWatch::Alarm'));
const alarms = found.map(({ Properties }) => Properties);

const DAY = 24 * 60;

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
    const found = alarms.filter(({ AlarmDescription }) => AlarmDescription.startsWith(label));
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
  const minutes = Array.from({ length: DAY + length }, () => toOrdinaryMinute(100));
  for (const [index, minute] of minutes.entries()) {
    before?.(minute);
    if (index >= DAY) change(minute, index - DAY);
  }
  const fired = evaluateAlarms(alarms, minutes, DAY);
  expect(fired.map(({ name }) => name).sort()).toEqual([...fires.keys()].sort());
  for (const { name, minute } of fired) {
    expect(minute, name).toBeLessThanOrEqual(Number(fires.get(name)));
  }
});

it.each<[name: string, within: number, change: (minute: Minute, index: number) => unknown]>([
  ['transaction-conflicts', 5, when({ conflicts: 100 })],
  ['inventory-table-throttles', 10, when({ throttles: { inventory: 30 } })],
  ['check-failed', 5, when({ check: 'none' })],
  ['key-ends-in-7-days', 60, when({ days: { certificate: 200, key: 6 } })],
  ['getPet-errors', 5, whenOf('getPet', () => ({ Invocations: 1, Errors: 1 }))],
  ['getPet-latency', 5, whenOf('getPet', () => ({ Invocations: 1, Duration: 9_000 }))],
])('%s ends %i minutes after its cause, without further requests', (name, within, change) => {
  const minutes = Array.from({ length: 120 + within }, () => toOrdinaryMinute(0));
  for (const [index, minute] of minutes.slice(0, 120).entries()) change(minute, index);
  const find = (some: readonly Minute[]) =>
    evaluateAlarms(alarms, some).find((one) => one.name === name)?.isFiring;
  expect([find(minutes.slice(0, 120)), find(minutes)]).toEqual([true, false]);
});

it('an alarm always has a value, so that it never looks back at older periods', () => {
  const silent = Array.from({ length: DAY }, () => when({ check: 'none' })(toOrdinaryMinute(0)));
  for (const alarm of alarms) {
    expect(defineValue(alarm, silent)(0, DAY), alarm.AlarmName).toBeGreaterThanOrEqual(0);
  }
});

function toNames(name: string): string[] {
  if (!name.startsWith('OPERATION-')) return [name];
  return operationIds.map((id) => name.replace('OPERATION', id));
}

/** A failed request to an operation, in each way that it can fail. */
const failingWays: Record<string, (id: OperationId) => Partial<OfOperation>> = {
  'returns 503': () => ({ Invocations: 1, ServerErrors: 1 }),
  crashes: () => ({ Invocations: 1, Errors: 1 }),
  'runs out of time': (id) => ({
    ...{ Invocations: 1, Errors: 1 },
    Duration: operationSettings[id].timeoutSeconds * 1_000,
  }),
  'is throttled': () => ({ Throttles: 1 }),
};

/** Requests a day, and minutes from the third failure to the page if the operation worked until then. */
const rates = [
  [24, 15],
  // Four are half of the eight requests of four hours.
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
    ['alone, after working until then', 0, true, wellWithin],
    ['beside healthy traffic, after working until then', 100, true, wellWithin],
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

/** The alarms on the 5xx that clients of an operation get. */
function ofOperation(id: OperationId) {
  const name = new RegExp(`-${id}-(server-errors|failing-\\dh)$`);
  return alarms.filter(({ AlarmName }) => name.test(AlarmName));
}

/** Nights on which something went wrong, without an outage. */
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
    // New containers response their first calls slowly.
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
