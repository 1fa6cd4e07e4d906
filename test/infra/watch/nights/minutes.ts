import { type TableName, tableNames } from '../../../../infra/stages/tables.ts';
import type { Operation } from '../../../../shared/contract/operation.ts';
import {
  mapOperations,
  type OperationId,
  operationIds,
  operations,
} from '../../../../shared/contract/operations.ts';

/**
 * An operation's metrics of a minute, by name. ServerErrors are the handler's own 5xx, ClientErrors some of its 4xx,
 * Errors crashes and timeouts.
 * Throttles are calls that Lambda refused, and the gateway returns 5xx. Times are in milliseconds.
 */
const operationMinute = {
  ...{ Invocations: 0, ServerErrors: 0, ClientErrors: 0, Errors: 0, Throttles: 0 },
  ...{ Duration: 150, FirstByte: 250, ConcurrentExecutions: 2 },
};
export type OfOperation = typeof operationMinute;

const sunsets = Object.values<Operation>(operations).flatMap(({ lifecycle }) =>
  lifecycle.kind === 'deprecated' ? [lifecycle.sunset.getTime()] : [],
);
/** A time this many days before the first deprecated operation may go. */
export const daysBeforeSunset = (days: number) => Math.min(...sunsets) - days * 86_400_000;

/** The values of metrics, by name. If nothing happened, a metric has no value, and not 0. */
export type Metrics = Readonly<Record<string, unknown>>;

/** A minute of a stage. */
export interface Minute {
  operations: Record<OperationId, OfOperation>;
  unauthorized: number;
  forbidden: number;
  throttled: number;
  /** 5xx of the gateway itself, spread evenly over the operations. */
  gatewayErrors: number;
  /** Whether the gateway writes its access log. */
  isLogged: boolean;
  now: number;
  /** Metrics that do not follow from these: of tables, of the scheduled check, and of the account. */
  [metric: `${TableName} ${string}` | `check${string}`]: number | undefined;
  surplusEntries?: number;
  certificateDays?: number;
  keyDays?: number;
  ConcurrentExecutions: number;
}
const ofTable = ['ReadThrottleEvents', 'WriteThrottleEvents', 'TransactionConflict'];
/** The metrics that have no value on an ordinary day. */
const silent = [
  ...tableNames.flatMap((table) => ofTable.map((name) => `${table} ${name}`)),
  ...['checkThrottled', 'surplusEntries', 'certificateDays', 'keyDays'],
];

/** Some calls of each operation, fast and successful. */
export function toOrdinaryMinute(Invocations: number): Minute {
  return {
    ...Object.fromEntries(silent.map((name) => [name, undefined])),
    operations: mapOperations(() => ({ ...operationMinute, Invocations })),
    ...{ unauthorized: 0, forbidden: 0, throttled: 0, gatewayErrors: 0 },
    ...{ isLogged: true, now: daysBeforeSunset(300) },
    ...{ 'check Errors': 0, ConcurrentExecutions: 20 },
  };
}

/** What CloudWatch has of a minute. */
export function toMetrics(minute: Minute): Metrics {
  const { unauthorized, forbidden, throttled, gatewayErrors, isLogged } = minute;
  let [count, errors] = [unauthorized + forbidden + throttled, 0];
  const metrics: Record<string, unknown> = { ...minute };
  const add = (name: string, value: number) => {
    metrics[name] = value || undefined;
  };
  add('refused', unauthorized + 1e10 * throttled);
  add('refused SampleCount', count);
  for (const [place, id] of operationIds.entries()) {
    const { Invocations, ServerErrors, ClientErrors, Errors, Throttles, ...times } =
      minute.operations[id];
    const ofGateway = Math.ceil((gatewayErrors - place) / operationIds.length);
    const requests = Invocations + Throttles + ofGateway;
    const failures = ServerErrors + Errors + Throttles + ofGateway;
    count += requests;
    errors += failures;
    // From the access log, without the check's requests.
    add(`${id}Requests`, isLogged ? requests + 1e10 * failures : 0);
    add(`${id}Requests SampleCount`, isLogged ? requests + failures + ClientErrors : 0);
    add(`${id} Errors`, Errors);
    add(`${id} Throttles`, Throttles);
    // Without calls there are no times and no concurrency.
    add(`${id} Duration`, Invocations && times.Duration);
    add(`${id}FirstByte`, Invocations && times.FirstByte);
    add(`${id} ConcurrentExecutions`, Invocations && times.ConcurrentExecutions);
  }
  const lines = count + (minute['check Errors'] === undefined ? 0 : 1);
  add('Count', count);
  add('5XXError', errors);
  add('IncomingLogEvents', isLogged ? lines : 0);
  return metrics;
}
