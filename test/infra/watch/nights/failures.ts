import { type OperationId, operationIds } from '../../../../shared/contract/operations.ts';
import { daysBeforeSunset, type Minute, type OfOperation, toOrdinaryMinute } from './minutes.ts';

/** A failure of production with `accountConcurrency`, `quietMinutes` and a reserved concurrency for lists. */
type Failure = [
  what: string,
  /** The alarms that fire, and after how many minutes at most. `OPERATION-` stands for each operation. */
  fires: Readonly<Record<string, number>>,
  /** What it does to a minute of 100 calls. */
  change: Change,
  /** How the day before differs from that. */
  before?: (minute: Minute) => unknown,
];
export type Change = (minute: Minute, index: number) => unknown;

export const when = (change: Partial<Minute>) => (minute: Minute) => Object.assign(minute, change);
export const whenOf =
  (id: OperationId, toChange: (minute: OfOperation, index: number) => Partial<OfOperation>) =>
  ({ operations }: Minute, index: number) =>
    Object.assign(operations[id], toChange(operations[id], index));
const slowUpdate = whenOf('updateInventory', () => ({ Duration: 4_000 }));
const lateList = whenOf('listInventory', () => ({ FirstByte: 6_000 }));
const longList = whenOf('listInventory', () => ({ Duration: 100_000 }));
/** In the fourth minute alone. */
const once = (id: OperationId, change: Partial<OfOperation>) =>
  whenOf(id, (_, index) => (index === 3 ? change : {}));
const withCalls = (id: OperationId, Invocations: number) => (minute: Minute) =>
  Object.assign(minute.operations[id], { Invocations });
const silence = ({ operations }: Minute) => {
  for (const id of operationIds) operations[id].Invocations = 0;
};
/** What fires when every request to an operation fails. */
const toServerErrors = (id: OperationId | 'OPERATION') => ({
  [`${id}-server-errors`]: 10,
  [`${id}-failing`]: 45,
  [`${id}-error-budget`]: 30,
  'server-errors': 10,
});

export const failures: Failure[] = [
  [
    'getPet always returns 500',
    toServerErrors('getPet'),
    whenOf('getPet', ({ Invocations }) => ({ ServerErrors: Invocations })),
  ],
  [
    'an update, of 24 a day, always returns 503',
    { 'updateInventory-failing': 125 },
    whenOf('updateInventory', (_, index) => {
      const Invocations = index % 60 === 0 ? 1 : 0;
      return { Invocations, ServerErrors: Invocations };
    }),
    withCalls('updateInventory', 0),
  ],
  [
    '1 in 20 updates fails',
    {
      ...{ 'server-errors': 10, 'updateInventory-server-errors': 10 },
      'updateInventory-error-budget': 60,
    },
    whenOf('updateInventory', () => ({ Invocations: 40, ServerErrors: 2 })),
  ],
  [
    '2 % of all updates fail, at 500 a minute',
    { 'updateInventory-error-budget': 220 },
    whenOf('updateInventory', () => ({ Invocations: 500, ServerErrors: 10 })),
    (minute) => withCalls('updateInventory', 500)(Object.assign(minute, toOrdinaryMinute(7_500))),
  ],
  [
    'every pet is 404',
    { 'getPet-client-errors': 15 },
    whenOf('getPet', ({ Invocations }) => ({ ClientErrors: Invocations })),
  ],
  [
    'every update is 412, at 80 an hour',
    { 'updateInventory-client-errors': 20 },
    whenOf('updateInventory', (_, index) => {
      const Invocations = index % 3 === 0 ? 4 : 0;
      return { Invocations, ClientErrors: Invocations };
    }),
  ],
  ['the access log stops', { 'access-log-silent': 30, silence: 15 }, when({ isLogged: false })],
  [
    'the DNS name leads nowhere',
    { 'check-failed': 10, silence: 15 },
    (minute) => silence(when({ 'check Errors': 1 })(minute)),
  ],
  [
    'the gateway reaches no function',
    { ...toServerErrors('OPERATION'), 'check-failed': 10 },
    (minute) => silence(when({ 'check Errors': 1, gatewayErrors: 100 })(minute)),
  ],
  ['a function crashes once', { 'getPet-errors': 5 }, once('getPet', { Errors: 1 })],
  ['an update takes four seconds', { 'updateInventory-latency': 15 }, slowUpdate],
  ['a list begins after six seconds', { 'listInventory-latency': 15 }, lateList],
  ['a list comes near its time limit', { 'listInventory-duration': 10 }, longList],
  [
    'DynamoDB throttles calls',
    {
      'inventory-table-throttles': 10,
      'server-errors': 10,
      'updateInventory-server-errors': 10,
      'updateInventory-failing': 60,
      'updateInventory-error-budget': 15,
    },
    (minute, index) => {
      minute['inventory ReadThrottleEvents'] = 30;
      whenOf('updateInventory', ({ Invocations }) => ({ ServerErrors: Invocations / 2 }))(
        minute,
        index,
      );
    },
  ],
  [
    'updates of one entry collide',
    { 'transaction-conflicts': 15 },
    when({ 'inventory TransactionConflict': 100 }),
  ],
  [
    'Lambda throttles calls',
    {
      ...{ 'listOrders-throttles': 5, 'listOrders-server-errors': 10, 'server-errors': 10 },
      'listOrders-error-budget': 60,
    },
    whenOf('listOrders', () => ({ Throttles: 5 })),
  ],
  ['Lambda throttles five calls', { 'getPet-throttles': 5 }, once('getPet', { Throttles: 5 })],
  ['others use the concurrency', { 'account-concurrency': 5 }, when({ ConcurrentExecutions: 850 })],
  [
    'lists use nine tenths of their reserved concurrency',
    { 'listInventory-concurrency': 5 },
    whenOf('listInventory', () => ({ ConcurrentExecutions: 45 })),
  ],
  ['someone tries keys', { 'unauthorized-requests': 10 }, when({ unauthorized: 200 })],
  ['a read key is used to write', { 'forbidden-requests': 10 }, when({ forbidden: 60 })],
  ['a client sends too many requests', { 'throttled-requests': 10 }, when({ throttled: 80 })],
  ['the check itself gets 429', { 'check-throttled': 10 }, when({ checkThrottled: 1 })],
  ['there are too many entries', { 'inventory-entries': 10 }, when({ surplusEntries: 1 })],
  ['the check no longer runs', { 'check-failed': 10 }, when({ 'check Errors': undefined })],
  [
    'the certificate ends soon',
    { 'certificate-ends-in-30-days': 60 },
    when({ certificateDays: 20 }),
  ],
  [
    'a key that nobody has replaced ends in six days',
    { 'key-ends-in-30-days': 60, 'key-ends-in-7-days': 60 },
    when({ keyDays: 6 }),
  ],
  [
    'a deprecated operation that is still called may go in twenty days',
    { 'sunset-has-callers': 1440 },
    when({ now: daysBeforeSunset(20) }),
  ],
];
