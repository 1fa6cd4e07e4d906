import { expect, it } from 'vitest';
import { type OperationId, operationIds } from '../../../../shared/contract/operations.ts';
import { watchTemplates } from '../../../support/stackTemplates.ts';
import { defineDraw } from '../../../support/testCommand.ts';
import { type Alarm, readAlarms } from './readAlarms.ts';

// When the alarms on 5xx page, by their formulas over the counts of each minute. `alarms.test.ts` has their thresholds.

const pages = readAlarms(watchTemplates.production).filter(({ name, severity }) => {
  return /server-errors$|-failing$/.test(name) && severity !== 'ticket';
});
const DAY = 24 * 60;
const HISTORY = 5 * 60;

/** The requests of an operation in a minute. Lambda counts no call that it refused. */
interface Minute {
  readonly calls: number;
  readonly failed: number;
  readonly refused?: number;
}
/** Of each metric, the sum of the minutes before each. */
type Totals = Readonly<Record<string, readonly number[]>>;

function toTotals(length: number, toMinute: (id: OperationId, index: number) => Minute): Totals {
  const all = ['Count', '5XXError'];
  const ofOperation = operationIds.flatMap((id) => [`${id} Invocations`, `${id} Failures`]);
  const names = [...all, ...ofOperation];
  const totals = names.map(() => [0]);
  for (let index = 0; index < length; index += 1) {
    const minutes = operationIds.map((id) => toMinute(id, index));
    const failures = minutes.map(({ failed, refused = 0 }) => failed + refused);
    const sum = (counts: readonly number[]) => counts.reduce((one, other) => one + other, 0);
    const counts = [
      sum(minutes.map(({ calls, refused = 0 }) => calls + refused)),
      sum(failures),
      // The scheduled check calls each operation.
      ...minutes.flatMap(({ calls }, place) => [
        calls + (index % 5 === 0 ? 1 : 0),
        failures[place] ?? 0,
      ]),
    ];
    for (const [place, count] of counts.entries()) {
      totals[place]?.push((totals[place][index] ?? 0) + count);
    }
  }
  return Object.fromEntries(names.map((name, place) => [name, totals[place] ?? []]));
}

/** Whether the alarm fires after each minute: its periods slide along, and end with that minute. */
function toStates(alarm: Alarm, totals: Totals): boolean[] {
  const { periods, minutes: length, metrics, toValue, isBreaching } = alarm;
  const [breaching, of] = periods;
  const names = Object.keys(metrics);
  const breaches: boolean[] = [];
  const states = (totals.Count ?? []).slice(length).map((_, begin) => {
    const values: Record<string, number> = {};
    for (const name of names) {
      const sum = Number(totals[name]?.[begin + length]) - Number(totals[name]?.[begin]);
      // Where nothing happened, CloudWatch has no value, and not 0.
      if (sum !== 0) values[name] = sum;
    }
    breaches.push(isBreaching(toValue(values)));
    let count = 0;
    for (let ago = 0; ago < of; ago += 1) if (breaches[begin - ago * length]) count += 1;
    return count >= breaching;
  });
  return [...Array<boolean>(length - 1).fill(false), ...states];
}

const failingWays = {
  'returns 503, crashes or runs out of time': (calls: number) => ({ calls, failed: calls }),
  'is throttled': (refused: number) => ({ calls: 0, failed: 0, refused }),
};

/** The minutes until the first page, if all requests fail after the history. */
function toPageMinute(
  way: (count: number) => Minute,
  counts: readonly number[],
  others: number,
): number {
  const id = 'getInventoryEntry';
  const totals = toTotals(counts.length, (one, index) => {
    if (one !== id) return { calls: others, failed: 0 };
    const calls = counts[index] ?? 0;
    return index < HISTORY ? { calls, failed: 0 } : way(calls);
  });
  const own = pages.filter(({ name }) => name.startsWith(`${id}-`));
  expect(own).toHaveLength(2);
  const firsts = own.map((alarm) => toStates(alarm, totals).indexOf(true));
  return 1 - HISTORY + Math.min(...firsts.filter((index) => index >= 0));
}

/** Requests a day, and minutes from the beginning to the page. */
const rates = [
  [24, 322],
  [48, 199],
  [200, 42],
  [1_000, 18],
  [100_000, 9],
] as const;

it.each(rates)(
  'at %i requests a day that all fail, the page comes within %i minutes',
  (rate, within) => {
    const toCount = (index: number) => Math.floor((index * rate) / DAY);
    const counts = Array.from(
      { length: HISTORY + within },
      (_, index) => toCount(index + 1) - toCount(index),
    );
    for (const [what, way] of Object.entries(failingWays)) {
      // Alone, and beside healthy traffic.
      for (const others of [0, 20]) {
        expect(toPageMinute(way, counts, others), `${what}, beside ${others}`).toBeLessThanOrEqual(
          within,
        );
      }
    }
  },
);

it('nobody is paged on twenty quiet days', () => {
  for (let day = 1; day <= 20; day += 1) {
    const draw = defineDraw(day);
    // Once in the night and twice in the day, an update fails, and its client retries it four times.
    const failures = [0, 400, 900].flatMap((from) => {
      const first = from + Math.floor(draw() * 340);
      return [0, 0, 1, 3, 7].map((minute) => first + minute);
    });
    const totals = toTotals(DAY, (id, index) => {
      const isNight = index < 6 * 60;
      const all = isNight ? Math.floor(draw() * 4) : 40 + draw() * 160;
      const calls = Math.round(all / operationIds.length) + (isNight && index % 10 === 0 ? 1 : 0);
      const retries = failures.filter((minute) => minute === index).length;
      if (id === 'updateInventory') return { calls: calls + retries, failed: retries };
      return { calls, failed: index > 600 && calls > 0 && draw() < 0.002 ? 1 : 0 };
    });
    const paged = pages.filter((alarm) => toStates(alarm, totals).includes(true));
    expect(paged.map(({ name }) => [day, name])).toEqual([]);
  }
});
