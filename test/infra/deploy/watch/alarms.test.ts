import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { operationSettings } from '../../../../infra/stages/stages.ts';
import { operationIds } from '../../../../shared/contract/operations.ts';
import {
  changedProduction,
  findProperties,
  watchTemplates,
} from '../../../support/stackTemplates.ts';
import { type Alarm, readAlarms, type Values } from './readAlarms.ts';

const ofProduction = readAlarms(watchTemplates.production);
/** Those that settings add: with a firewall, reserved and known concurrency, and clients at every hour. */
const added = readAlarms(changedProduction().watch).filter(
  ({ name }) => !ofProduction.some((one) => one.name === name),
);
const alarms = [...ofProduction, ...added];

/**
 * Of each alarm, by hand: its severity or incident; how many of how many periods, of how many minutes; the statistic;
 * and the values of a period with which it just fires, and just does not. `OPERATION` and a metric without its owner
 * stand for each operation or table. The scheduled check calls each operation every five minutes.
 */
const expected: Readonly<Record<string, Row>> = {
  'server-errors': row('outage', '2 of 3 × 5', 'Sum')
    .fires({ '5XXError': 5, Count: 500 })
    .not({ '5XXError': 5, Count: 501 }, { '5XXError': 4, Count: 4 }, {}),
  'OPERATION-server-errors': row('outage', '2 of 3 × 5', 'Sum')
    .fires({ Failures: 3, Invocations: 61 }, { Failures: 3 })
    .not({ Failures: 3, Invocations: 62 }, { Failures: 2, Invocations: 3 }, {}),
  'OPERATION-failing': row('degraded', '3 of 16 × 15', 'Sum')
    .fires({ Failures: 1, Invocations: 5 }, { Failures: 1 })
    .not({ Failures: 1, Invocations: 6 }, { Invocations: 4 }, {}),
  // Three times 0.1% of 3,333 requests.
  'error-budget': row('ticket', '1 of 1 × 1440', 'Sum')
    .fires({ Failures: 10, Invocations: 288 + 3_333 })
    .not({ Failures: 10, Invocations: 288 + 3_334 }, { Failures: 9, Invocations: 297 }, {}),
  'client-errors': row('ticket', '1 of 1 × 15', 'Sum')
    .fires({ ClientErrors: 10, Invocations: 23 })
    .not({ ClientErrors: 10, Invocations: 24 }, { ClientErrors: 19, Invocations: 22 }, {}),
  latency: row('degraded', '3 of 3 × 5', 'p99').fires({ Latency: 1 }).not({ Latency: 0.999 }, {}),
  'no-requests': row('outage', '1 of 1 × 15', 'Sum').fires({}).not({ requests: 1 }),
  'throttled-requests': row('ticket', '2 of 3 × 5', 'Sum')
    .fires({ throttled: 20, Count: 400 })
    .not({ throttled: 20, Count: 401 }, { throttled: 19, Count: 19 }, {}),
  'unauthorized-requests': row('ticket', '2 of 3 × 5', 'Sum')
    .fires({ unauthorized: 50, Count: 250 })
    .not({ unauthorized: 50, Count: 251 }, { unauthorized: 49, Count: 49 }, {}),
  'forbidden-requests': row('ticket', '2 of 3 × 5', 'Sum')
    .fires({ forbidden: 50, Count: 500 })
    .not({ forbidden: 50, Count: 501 }, { forbidden: 49, Count: 49 }, {}),
  'access-log-empty': row('ticket', '2 of 2 × 15', 'Sum')
    .fires({ Count: 1 })
    .not({ Count: 9, IncomingLogEvents: 1 }, {}),
  'rate-limited-requests': row('ticket', '3 of 3 × 5', 'Sum')
    .fires(toRefused(40, 30, 20, 10))
    .not(toRefused(40, 30, 20, 9), {}),
  'suspicious-requests': row('ticket', '3 of 3 × 5', 'Sum')
    .fires({
      'AWSManagedRulesCommonRuleSet BlockedRequests': 60,
      'AWSManagedRulesAmazonIpReputationList BlockedRequests': 40,
    })
    .not({ 'AWSManagedRulesCommonRuleSet BlockedRequests': 99 }, {}),
  crashes: row('ticket', '1 of 1 × 5', 'Sum').fires({ Errors: 1 }).not({}),
  // Four fifths of the 120 seconds of a streamed list.
  duration: row('ticket', '2 of 3 × 5', 'Maximum')
    .fires({ Duration: 96_000 })
    .not({ Duration: 95_999 }, {}),
  'lambda-throttles': row('ticket', '1 of 1 × 5', 'Sum')
    .fires({ Throttles: 5 })
    .not({ Throttles: 4 }, {}),
  // Four fifths of the 50 that the settings reserve, and of the account's 1,000.
  'reserved-concurrency': row('ticket', '1 of 1 × 5', 'Maximum')
    .fires({ 'listInventory ConcurrentExecutions': 40 })
    .not({ 'listInventory ConcurrentExecutions': 39 }, {}),
  'account-concurrency': row('ticket', '1 of 1 × 5', 'Maximum')
    .fires({ ConcurrentExecutions: 800 })
    .not({ ConcurrentExecutions: 799 }, {}),
  'table-throttles': row('ticket', '2 of 3 × 5', 'Sum')
    .fires({ ReadThrottleEvents: 1 }, { WriteThrottleEvents: 1 })
    .not({}),
  'transaction-conflicts': row('ticket', '3 of 3 × 5', 'Sum')
    .fires({ 'inventory TransactionConflict': 300 })
    .not({ 'inventory TransactionConflict': 299 }, {}),
  // Without data, it did not run.
  'check-failed': row('outage', '2 of 2 × 5', 'Sum')
    .fires({ 'check Errors': 1 }, {})
    .not({ 'check Errors': 0 }),
  'check-throttled': row('ticket', '1 of 1 × 5', 'Sum').fires({ checkThrottled: 1 }).not({}),
  'certificate-expires-in-30-days': row('ticket', '1 of 1 × 60', 'Minimum')
    .fires({ certificateDays: 30 })
    .not({ certificateDays: 31 }, {}),
  'certificate-expires-in-7-days': row('page', '1 of 1 × 60', 'Minimum')
    .fires({ certificateDays: 7 })
    .not({ certificateDays: 8 }, {}),
  'key-expires-in-7-days': row('page', '1 of 1 × 60', 'Minimum')
    .fires({ keyDays: 7 })
    .not({ keyDays: 8 }, {}),
};

interface Row {
  readonly summary: readonly string[];
  readonly firing: readonly Values[];
  readonly silent: readonly Values[];
}

function row(...summary: [severity: string, periods: string, statistic: string]) {
  const fires = (...firing: Values[]) => ({
    not: (...silent: Values[]): Row => ({ summary, firing, silent }),
  });
  return { fires };
}

function toRefused(flood: number, keyless: number, ofKey: number, ofAddress: number): Values {
  const counts = { flood, keyless, 'lists-of-key': ofKey, 'lists-of-address': ofAddress };
  return Object.fromEntries(
    Object.entries(counts).map(([rule, count]) => [`${rule} BlockedRequests`, count]),
  );
}

/** The further alarms of many operations are named like the first, and ask for the same. */
const toGeneral = (name: string) =>
  name
    .replace(/^(error-budget|client-errors)-\d$/, '$1')
    .replace(new RegExp(`^(${operationIds.join('|')})-`), 'OPERATION-');

it('each alarm has its row', () => {
  const names = new Set(alarms.map(({ name }) => toGeneral(name)));
  expect([...names].sort()).toEqual(Object.keys(expected).sort());
});

it.each(alarms.map((alarm) => [alarm.name, alarm] as const))(
  '%s fires at its threshold, and not just below',
  (name, alarm) => {
    const { summary, firing, silent } = expected[toGeneral(name)] as Row;
    const [breaching, of] = alarm.periods;
    const periods = `${breaching} of ${of} × ${alarm.minutes}`;
    expect([alarm.severity, periods, ...alarm.statistics]).toEqual(summary);
    expect(alarm.missingData).toBe('notBreaching');
    // CloudWatch's limit for one with an expression.
    expect(Object.keys(alarm.metrics).length).toBeLessThanOrEqual(10);
    // It never lacks a value, since CloudWatch would then look at older periods.
    expect(alarm.toValue({})).toBeGreaterThanOrEqual(0);
    const fires = (values: Values) => alarm.isBreaching(alarm.toValue(values));
    for (const values of firing.flatMap((one) => forEachOwner(alarm, one))) {
      expect([values, fires(values)]).toEqual([values, true]);
    }
    for (const values of silent.flatMap((one) => forEachOwner(alarm, one))) {
      expect([values, fires(values)]).toEqual([values, false]);
    }
  },
);

/** The values as those of each operation or table that the alarm reads, one at a time. */
function forEachOwner({ metrics }: Alarm, values: Values): Values[] {
  const names = Object.keys(values);
  if (names.every((name) => name in metrics)) return [values];
  if (names.includes('Latency')) {
    return operationIds.map((id) => {
      const [name = ''] = Object.keys(metrics).filter((one) => one.startsWith(`${id} `));
      return { [name]: operationSettings[id].latencyMilliseconds * Number(values.Latency) };
    });
  }
  const owners = Object.keys(metrics).flatMap((name) =>
    name.endsWith(` ${names[0]}`) ? [name.split(' ')[0]] : [],
  );
  expect(owners.length, names[0]).toBeGreaterThan(0);
  return owners.map((owner) => {
    const own = names.map((name) => [`${owner} ${name}`, values[name] as number] as const);
    for (const [name] of own) expect(metrics).toHaveProperty([name]);
    return Object.fromEntries(own);
  });
}

/** The first minute in which an alarm of an operation pages, by the calls that succeed and fail in each minute. */
function findPage(toCounts: (minute: number) => readonly [succeeded: number, failed: number]) {
  const own = alarms.filter(({ name }) => /^getInventoryEntry-(server-errors|failing)$/.test(name));
  expect(own).toHaveLength(2);
  const isBreaching = ({ minutes, toValue, isBreaching }: Alarm, end: number) => {
    const period = Array.from({ length: minutes }, (_, index) => end - index);
    const sum = (toCount: (minute: number) => number) =>
      period.reduce((all, minute) => all + toCount(minute), 0);
    // The scheduled check calls each operation too.
    const calls = sum((minute) => toCounts(minute)[0] + toCounts(minute)[1]) + minutes / 5;
    const failures = sum((minute) => toCounts(minute)[1]);
    const counts = {
      'getInventoryEntry Invocations': calls,
      'getInventoryEntry Failures': failures,
    };
    // Where nothing happened, CloudWatch has no value, and not 0.
    return isBreaching(toValue(failures > 0 ? counts : { 'getInventoryEntry Invocations': calls }));
  };
  const pages = (alarm: Alarm, now: number) => {
    const ends = Array.from(
      { length: alarm.periods[1] },
      (_, index) => now - index * alarm.minutes,
    );
    return ends.filter((end) => isBreaching(alarm, end)).length >= alarm.periods[0];
  };
  return Array.from({ length: 400 }, (_, minute) => minute).find((minute) =>
    own.some((alarm) => pages(alarm, minute)),
  );
}

it.each([
  [24, 180],
  [48, 90],
  [200, 38],
  [1_000, 10],
  [100_000, 6],
])('at %i requests a day that all fail, a page comes within %i minutes', (rate, within) => {
  const toCount = (minute: number) =>
    Math.floor(((minute + 1) * rate) / 1_440) - Math.floor((minute * rate) / 1_440);
  const page = findPage((minute) => (minute < 0 ? [toCount(minute), 0] : [0, toCount(minute)]));
  expect(page).toBeLessThan(within);
});

it('one failed call and its retries send no page', () => {
  const failed = [0, 0, 1, 3, 7];
  expect(findPage((minute) => [0, failed.filter((one) => one === minute).length])).toBeUndefined();
});

it('reads each metric where it is written', () => {
  const written = Map.groupBy(
    alarms.flatMap(({ metrics }) => Object.entries(metrics)),
    ([, namespace]) => namespace,
  );
  const names = [...written].map(([namespace, own]) => {
    const found = own.map(([name]) => name.replace(/^.* /, ''));
    return [namespace, [...new Set(found)].sort()];
  });
  expect(Object.fromEntries(names)).toEqual({
    'AWS/ApiGateway': ['5XXError', 'Count'],
    'AWS/DynamoDB': ['ReadThrottleEvents', 'TransactionConflict', 'WriteThrottleEvents'],
    'AWS/Lambda': ['ConcurrentExecutions', 'Duration', 'Errors', 'Invocations', 'Throttles'],
    'AWS/Logs': ['IncomingLogEvents'],
    'AWS/WAFV2': ['BlockedRequests'],
    'petstore-production': [
      ...['ClientErrors', 'Failures', 'FirstByte', 'certificateDays', 'checkThrottled'],
      ...['forbidden', 'keyDays', 'requests', 'throttled', 'unauthorized'],
    ],
  });
});

it('the runbook explains each alarm, under its severity', () => {
  const runbook = readFileSync(new URL('../../../../infra/RUNBOOK.md', import.meta.url), 'utf8');
  const [, pages = '', tickets = ''] = runbook.split(/^### (?:Pages|Tickets)$|^## Roll back$/m);
  const explained = [pages, tickets].map((section) =>
    [...section.matchAll(/^- \*\*(.+?)\*\*/gm)].flatMap(([, names = '']) =>
      [...names.matchAll(/`([\w-]+)`/g)].map(([, name = '']) => name),
    ),
  );
  const incidents = findProperties(watchTemplates.production, 'AWS::CloudWatch::CompositeAlarm');
  const all = [
    ...alarms.map(({ name, description }) => [toGeneral(name), description]),
    ...incidents.map(({ AlarmName, AlarmDescription }) => [
      AlarmName.replace('petstore-production-', ''),
      AlarmDescription,
    ]),
  ];
  const ofSeverity = (label: string) => [
    ...new Set(all.filter(([, text]) => text.startsWith(label)).map(([name]) => name)),
  ];
  const named = [ofSeverity('Page:'), ofSeverity('Ticket:')];
  expect(explained.map((names) => names.sort())).toEqual(named.map((names) => names.sort()));
});
