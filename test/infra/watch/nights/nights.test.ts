import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { type OperationId, operationIds } from '../../../../shared/contract/operations.ts';
import { synthesizeProduction } from '../../../support/stackTemplates.ts';
import {
  type Minute,
  type OperationMinute,
  readMetric,
  type TemplateMetric,
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
    1_000,
  ],
  [
    '1 in 20 updates fails',
    whenOf('updateInventory', ({ Invocations }) => ({ ServerErrors: Invocations / 20 })),
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
  ['another service takes the account’s calls', when({ accountAtOnce: 850 })],
  [
    'lists take all but a few of the calls that are theirs',
    whenOf('listInventory', () => ({ ConcurrentExecutions: 45 })),
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

// biome-ignore lint/suspicious/noExplicitAny: a template is read as the JSON that it is
type AlarmProperties = any;

/** After how many minutes each alarm fires for the first time, as CloudWatch evaluates it at each period's end. */
function evaluateAlarms(alarms: readonly AlarmProperties[], minutes: readonly Minute[]) {
  return alarms.flatMap((alarm) => {
    const minute = findFiring(alarm, minutes);
    const name: string = alarm.AlarmName.replace('petstore-production-', '');
    const isPage: boolean = alarm.AlarmDescription.startsWith('Page:');
    return minute === undefined ? [] : [{ name, isPage, minute }];
  });
}

function findFiring(alarm: AlarmProperties, minutes: readonly Minute[]): number | undefined {
  const { EvaluationPeriods, DatapointsToAlarm = EvaluationPeriods, Threshold } = alarm;
  const length = toPeriod(alarm) / 60;
  const isBreaching = comparisons[alarm.ComparisonOperator];
  if (!isBreaching) throw new Error(`There is no comparison ${alarm.ComparisonOperator}.`);
  const breaches: boolean[] = [];
  for (let start = 0; start + length <= minutes.length; start += length) {
    const value = toValue(alarm, minutes.slice(start, start + length));
    const isMissing = value === undefined || Number.isNaN(value);
    if (isMissing) breaches.push(alarm.TreatMissingData === 'breaching');
    else breaches.push(isBreaching(value, Threshold));
    const last = breaches.slice(-EvaluationPeriods);
    if (last.filter(Boolean).length >= DatapointsToAlarm) return start + length;
  }
  return undefined;
}

const comparisons: Record<string, (value: number, threshold: number) => boolean> = {
  GreaterThanOrEqualToThreshold: (value, threshold) => value >= threshold,
  LessThanOrEqualToThreshold: (value, threshold) => value <= threshold,
  LessThanThreshold: (value, threshold) => value < threshold,
};

function toPeriod({ Period, Metrics = [] }: AlarmProperties): number {
  const stats = Metrics.flatMap(({ MetricStat }: AlarmProperties) => MetricStat?.Period ?? []);
  return Period ?? stats[0];
}

function toValue(alarm: AlarmProperties, period: readonly Minute[]): number | undefined {
  if (!alarm.Metrics) {
    return readMetric(alarm as TemplateMetric, alarm.Statistic ?? alarm.ExtendedStatistic, period);
  }
  const [{ Id: returned, Expression = returned }] = alarm.Metrics.filter(
    ({ ReturnData = true }) => ReturnData,
  );
  const stats = alarm.Metrics.filter(({ MetricStat }: AlarmProperties) => MetricStat);
  const values = stats.map(({ MetricStat: { Metric, Stat } }: AlarmProperties) =>
    readMetric(Metric, Stat, period),
  );
  const ids = stats.map(({ Id }: AlarmProperties) => Id);
  return compile(`${ids}`, Expression)(...values.map((value = Number.NaN) => value), IF, FILL);
}

type Calculation = (...values: unknown[]) => number;
const compiled = new Map<string, Calculation>();

/**
 * The part of CloudWatch's metric math that the alarms use. What is calculated with a value that is
 * missing is missing too.
 * https://docs.aws.amazon.com/AmazonCloudWatch/latest/monitoring/using-metric-math.html
 */
function compile(ids: string, expression: string): Calculation {
  const calculation =
    compiled.get(ids + expression) ??
    (new Function(...ids.split(','), 'IF', 'FILL', `return ${expression};`) as Calculation);
  compiled.set(ids + expression, calculation);
  return calculation;
}

const IF = (condition: boolean | number, one: number, other: number) => (condition ? one : other);
const FILL = (value: number, otherwise: number) => (Number.isNaN(value) ? otherwise : value);
