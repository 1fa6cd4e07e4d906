import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { deprecatedOperations } from '../../../../../infra/deploy/watch/logQueries.ts';
import { operationSettings } from '../../../../../infra/stages/stages.ts';
import { type OperationId, operationIds } from '../../../../../shared/contract/operations.ts';
import { findProperties, synthesizeProduction } from '../../../../support/stackTemplates.ts';
import { type Draw, defineDraw } from '../../../../support/testCommand.ts';
import { playScenarios } from '../../../ops/opsProcess.ts';
import {
  defineValue,
  type Minute,
  type OfOperation,
  toOrdinaryMinute,
  toStates,
} from './evaluate.ts';
import { type Change, checkIsGone, scenarios, usual } from './scenarios.ts';

const { watch } = synthesizeProduction({
  accountConcurrency: 1000,
  firewall: true,
  reservedConcurrency: { listInventory: 50 },
  quietMinutes: 15,
});
const found = Object.entries(watch.findResources('AWS::CloudWatch::Alarm'));
const alarms = found.map(([, { Properties }]) => Properties);
const incidents = findProperties(watch, 'AWS::CloudWatch::CompositeAlarm');

const DAY = 24 * 60;

/** Ordinary minutes, each with so many calls of each operation, after a change. */
function toMinutes(length: number, calls: number, change: Change): Minute[] {
  return Array.from({ length }, (_, index) => {
    const minute = toOrdinaryMinute(calls);
    change(minute, index);
    return minute;
  });
}

it('the runbook explains each alarm, under its severity', () => {
  const runbook = readFileSync(new URL('../../../../../infra/RUNBOOK.md', import.meta.url), 'utf8');
  const [, pages = '', tickets = ''] = runbook.split(/^### (?:Pages|Tickets)$|^## Roll back$/m);
  const explained = [pages, tickets].map((section) =>
    [...section.matchAll(/^- \*\*(.+?)\*\*/gm)].flatMap(([, names = '']) =>
      [...names.matchAll(/`([\w-]+)`/g)].map(([, name = '']) => name),
    ),
  );
  const toGeneral = (name: string) =>
    withoutNumber(name)
      .replace('petstore-production-', '')
      .replace(new RegExp(`^(${operationIds.join('|')})-`), 'OPERATION-');
  const ofSeverity = (label: string) => {
    const found = [...alarms, ...incidents].filter(({ AlarmDescription }) =>
      AlarmDescription.startsWith(label),
    );
    return [...new Set(found.map(({ AlarmName }) => toGeneral(AlarmName)))].sort();
  };
  // Without a deprecated operation, that alarm is missing.
  const ofDeprecated = deprecatedOperations.length > 0 ? [] : ['sunset-has-callers'];
  const expected = [ofSeverity('Page:'), [...ofSeverity('Ticket:'), ...ofDeprecated].sort()];
  expect(explained.map((names) => names.sort())).toEqual(expected);
});

/** The further alarms of many operations are named like the first, and ask for the same. */
function withoutNumber(name: string): string {
  return name.replace(/-(error-budget|client-errors)-\d$/, '-$1');
}

/** Operations that come later behave like these. */
const shown = ['listInventory', 'getInventoryEntry', 'updateInventory', 'listOrders'];
const later = operationIds.filter((id) => !shown.includes(id));

/** When each alarm and each incident fires, from the beginning of a scenario; those alike in one line. */
function toLines(minutes: readonly Minute[], start: number): string[] {
  const states = new Map(
    found.map(([id, { Properties }]) => [id, toStates(Properties, minutes, start)]),
  );
  const ofAlarms = found.map(([id, { Properties }]) => {
    const { AlarmName, AlarmDescription, AlarmActions } = Properties;
    const severity = AlarmActions ? AlarmDescription.split(':')[0].toLowerCase() : 'part';
    return [`${severity} ${withoutNumber(AlarmName)}`, states.get(id) ?? []] as const;
  });
  const ofIncidents = incidents.map(({ AlarmName, AlarmRule }) => {
    const rule = JSON.stringify(AlarmRule);
    const parts = [...states].filter(([id]) => rule.includes(`"${id}"`)).map(([, one]) => one);
    const isOpen = minutes.slice(start).map((_, index) => parts.some((one) => one[index]));
    return [`page ${AlarmName}`, isOpen] as const;
  });
  const fired = [...ofIncidents, ...ofAlarms].filter(
    ([name, state]) => state.includes(true) && !later.some((id) => name.includes(`-${id}-`)),
  );
  const byTime = Map.groupBy(fired, ([, state]) => toTimes(state));
  return [...byTime].map(
    ([times, all]) =>
      `  ${times}: ${[...new Set(all.map(([name]) => name.replace('petstore-production-', '')))].join(', ')}\n`,
  );
}

/** From which minute an alarm fires, and to which, if it ends. */
function toTimes(state: readonly boolean[]): string {
  const begins = state.flatMap((one, index) => (one && !state[index - 1] ? [index] : []));
  const times = begins.map((from) => {
    const end = state.indexOf(false, from);
    return end === -1 ? `from ${from + 1}` : `${from + 1} to ${end}`;
  });
  return times.join(', ');
}

it('fires the alarms of each scenario in time, and no others', async () => {
  const screens = await playScenarios(scenarios, async ([change, course]) => {
    const { calls, history, before, lasts, after } = { ...usual, ...course };
    const minutes = toMinutes(history + lasts + after, calls, (minute, index) => {
      if (index < history) before(minute);
      else if (index < history + lasts) change(minute, index - history);
    });
    return toLines(minutes, history).join('');
  });
  await expect(screens).toMatchFileSnapshot('alarms.txt');
});

it('an alarm always has a value, so that it never looks back at older periods', () => {
  const empty = toMinutes(DAY, 0, checkIsGone);
  for (const alarm of alarms) {
    expect(defineValue(alarm, empty)(0, DAY), alarm.AlarmName).toBeGreaterThanOrEqual(0);
  }
});

/** Failed requests to an operation, in each way that they can fail. */
const failingWays: Record<string, (count: number, id: OperationId) => Partial<OfOperation>> = {
  'returns 503': (count) => ({ Invocations: count, ServerErrors: count }),
  crashes: (count) => ({ Invocations: count, Errors: count }),
  'runs out of time': (count, id) => ({
    Invocations: count,
    Errors: count,
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

const HISTORY = 5 * 60;

describe.each(operationIds)('%s', (id) => {
  it.each(Object.keys(failingWays))('pages in time after it worked: it %s', (way) => {
    for (const [rate, within] of rates) {
      const toCount = (index: number) => Math.floor((index * rate) / DAY);
      const counts = Array.from(
        { length: HISTORY + within },
        (_, index) => toCount(index + 1) - toCount(index),
      );
      // Alone, and beside healthy traffic.
      for (const calls of [0, 20]) {
        const message = `${rate} requests a day beside ${calls} a minute`;
        expect(toPageMinute(id, way, counts, calls), message).toBeLessThanOrEqual(within);
      }
    }
  });
});

it.each(rates)(
  'at %i requests a day that come by chance, half of the pages come within %i minutes',
  (rate, within) => {
    const times = Array.from({ length: 25 }, (_, seed) => {
      const draw = defineDraw(seed);
      const counts = Array.from({ length: HISTORY + 3 * within }, () =>
        randomCount(draw, rate / DAY),
      );
      return toPageMinute('getInventoryEntry', 'returns 503', counts, 0);
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
  const pages = ofOperation(id).map((alarm) => toStates(alarm, minutes, HISTORY).indexOf(true));
  return 1 + Math.min(...pages.filter((index) => index >= 0));
}

/** A number of events by chance (Poisson). */
function randomCount(draw: Draw, mean: number): number {
  let count = -1;
  for (let time = 0; time < mean; count += 1) time -= Math.log(1 - draw());
  return Math.max(count, 0);
}

/** The alarms on the 5xx that clients of an operation get. */
function ofOperation(id: OperationId) {
  const name = new RegExp(`-${id}-(server-errors|failing)$`);
  return alarms.filter(({ AlarmName }) => name.test(AlarmName));
}

describe('in sixty quiet days', () => {
  const pages = alarms.filter(({ AlarmDescription }) => AlarmDescription.startsWith('Page:'));
  it.each(Array.from({ length: 60 }, (_, day) => day + 1))('nobody is paged: day %i', (day) => {
    const draw = defineDraw(day);
    const minutes = Array.from({ length: DAY }, (_, index) => {
      const isNight = index < 6 * 60;
      const calls = isNight ? Math.floor(draw() * 4) : 40 + draw() * 160;
      const minute = toOrdinaryMinute(Math.round(calls / operationIds.length));
      if (isNight && index % 10 === 0) minute.operations.getInventoryEntry.Invocations += 1;
      addChances(minute, draw, index);
      return minute;
    });
    // Once in the night and twice in the day, an update fails, and its client retries it four times.
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
    expect(pages.filter((alarm) => toStates(alarm, minutes).includes(true))).toEqual([]);
  });

  /** One long list, a deployment, one client's 401s, a failure here and there. */
  function addChances(minute: Minute, draw: Draw, index: number): void {
    const { listInventory, updateInventory, getInventoryEntry } = minute.operations;
    if (index === 700) Object.assign(listInventory, { Invocations: 1, Duration: 60_000 });
    // New containers respond to their first calls slowly.
    if (index >= 900 && index < 905) updateInventory.Duration = 1_200;
    if (index >= 600 && index < 800 && index % 2 === 0) minute.unauthorized = 1;
    if (index > 600 && draw() < 0.002) getInventoryEntry.ServerErrors = 1;
    if (index === 1_000) getInventoryEntry.Errors = 1;
    if (draw() < 0.005) updateInventory.Duration = 3_500;
  }
});
