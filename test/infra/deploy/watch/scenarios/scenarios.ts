import { type OperationId, operationIds } from '../../../../../shared/contract/operations.ts';
import { daysBeforeSunset, type Minute, type OfOperation } from './evaluate.ts';

/** What happens to production with a firewall, `accountConcurrency`, `quietMinutes` and reserved lists. */
type Scenario = [change: Change, course?: Partial<typeof usual>];
export type Change = (minute: Minute, index: number) => unknown;

const DAY = 24 * 60;
export const usual = {
  /** The calls of each operation in a minute. */
  calls: 20,
  /** The ordinary minutes before, and how they differ from others. */
  history: DAY,
  before: (_: Minute): unknown => undefined,
  /** The minutes of the change, and those after it. */
  lasts: 60,
  after: 0,
};
const aDay = { calls: 1, history: 0, lasts: DAY };
/** No request shows that the cause is gone. */
const noRequests = { calls: 0, history: 0, lasts: 120, after: 75 };
const anOutage = { history: 60, lasts: 90, after: 450 };

const when = (change: Partial<Minute>) => (minute: Minute) => Object.assign(minute, change);
export const checkFails = when({ 'check Errors': 1 });
export const checkIsGone = when({ 'check Errors': undefined });
const whenOf =
  (id: OperationId, toChange: (minute: OfOperation, index: number) => Partial<OfOperation>) =>
  ({ operations }: Minute, index: number) =>
    Object.assign(operations[id], toChange(operations[id], index));
const everyOne =
  (toChange: (minute: OfOperation) => Partial<OfOperation>): Change =>
  (minute, index) => {
    for (const id of operationIds) whenOf(id, toChange)(minute, index);
  };
const failAll = everyOne(({ Invocations }) => ({ ServerErrors: Invocations }));
const noCalls = everyOne(() => ({ Invocations: 0 }));
const both =
  (...changes: Change[]): Change =>
  (minute, index) =>
    changes.map((change) => change(minute, index));
/** In one minute alone. */
const once = (id: OperationId, at: number, change: Partial<OfOperation>) =>
  whenOf(id, (_, index) => (index === at ? change : {}));
const withCalls = (id: OperationId, Invocations: number) => (minute: Minute) =>
  Object.assign(minute.operations[id], { Invocations });
/** Some calls of getInventoryEntry at the beginning of a day, one in every so many minutes, beside its usual ones. */
const first = (count: number, gap: number, calls: Partial<OfOperation>, Invocations: number) =>
  whenOf('getInventoryEntry', (_, index) =>
    index % gap === 0 && index / gap < count ? calls : { Invocations },
  );
/** One request in some minutes, which fails in some of them. */
const seldom = (id: OperationId, gap: number, ...failed: number[]) =>
  whenOf(id, (_, index) => ({
    Invocations: index % gap === 0 ? 1 : 0,
    ServerErrors: failed.includes(index) ? 1 : 0,
  }));

/** `alarms.txt` has the alarms of each. */
export const scenarios: Readonly<Record<string, Scenario>> = {
  'getInventoryEntry always returns 500': [
    whenOf('getInventoryEntry', ({ Invocations }) => ({ ServerErrors: Invocations })),
  ],
  'an update, of 24 a day, always returns 503': [
    whenOf('updateInventory', (_, index) => {
      const Invocations = index % 60 === 0 ? 1 : 0;
      return { Invocations, ServerErrors: Invocations };
    }),
    { before: withCalls('updateInventory', 0), lasts: 125 },
  ],
  '1 in 20 updates fails': [
    whenOf('updateInventory', () => ({ Invocations: 400, ServerErrors: 20 })),
  ],
  '2 % of all updates fail, at 500 a minute': [
    whenOf('updateInventory', () => ({ Invocations: 500, ServerErrors: 10 })),
    { calls: 1_500, before: withCalls('updateInventory', 500), lasts: 220 },
  ],
  'every entry is 404': [
    whenOf('getInventoryEntry', ({ Invocations }) => ({ ClientErrors: Invocations })),
  ],
  'every update is 412, at 80 an hour': [
    whenOf('updateInventory', (_, index) => {
      const Invocations = index % 3 === 0 ? 4 : 0;
      return { Invocations, ClientErrors: Invocations };
    }),
  ],
  'the access log stops': [when({ isLogged: false })],
  'the DNS name leads nowhere': [both(noCalls, checkFails)],
  'the gateway reaches no function': [
    both(noCalls, checkFails, when({ gatewayErrors: 20 * operationIds.length })),
  ],
  'a function crashes once': [once('getInventoryEntry', 3, { Errors: 1 })],
  'an update takes four seconds': [whenOf('updateInventory', () => ({ Duration: 4_000 }))],
  'a list begins after six seconds': [whenOf('listInventory', () => ({ FirstByte: 6_000 }))],
  'a list comes near its time limit': [whenOf('listInventory', () => ({ Duration: 100_000 }))],
  'DynamoDB throttles calls': [
    both(
      when({ 'inventory ReadThrottleEvents': 30 }),
      whenOf('updateInventory', ({ Invocations }) => ({ ServerErrors: Invocations / 2 })),
    ),
  ],
  'updates of one entry collide': [when({ 'inventory TransactionConflict': 100 })],
  'Lambda throttles calls': [whenOf('listOrders', () => ({ Throttles: 5 }))],
  'Lambda throttles five calls': [once('getInventoryEntry', 3, { Throttles: 5 })],
  'others use the concurrency': [when({ ConcurrentExecutions: 850 })],
  'lists use nine tenths of their reserved concurrency': [
    whenOf('listInventory', () => ({ ConcurrentExecutions: 45 })),
  ],
  'someone tries keys': [when({ unauthorized: 200 })],
  'a read key is used to write': [when({ forbidden: 100 })],
  'a client sends too many requests': [when({ throttled: 80 })],
  'the check itself gets 429': [when({ checkThrottled: 1 })],
  'there are too many entries': [when({ surplusEntries: 1 })],
  'the check no longer runs': [checkIsGone],
  'the certificate expires soon': [when({ certificateDays: 20 })],
  'a key without a successor expires in six days': [when({ keyDays: 6 })],
  'a deprecated operation that is still called may go in twenty days': [
    when({ now: daysBeforeSunset(20) }),
    { lasts: DAY },
  ],
  'updates of one entry collide, then nothing comes': [
    when({ 'inventory TransactionConflict': 100 }),
    noRequests,
  ],
  'DynamoDB throttles calls, then nothing comes': [
    when({ 'inventory ReadThrottleEvents': 30 }),
    noRequests,
  ],
  'the check does not run, then it does': [checkIsGone, noRequests],
  'a key is replaced': [when({ keyDays: 6 }), noRequests],
  'a function crashes, then nothing comes': [
    whenOf('getInventoryEntry', () => ({ Invocations: 1, Errors: 1 })),
    noRequests,
  ],
  'a function is slow, then nothing comes': [
    whenOf('getInventoryEntry', () => ({ Invocations: 1, Duration: 9_000 })),
    noRequests,
  ],
  'everything returns 503, and the check fails': [both(failAll, checkFails), anOutage],
  'every call runs out of time, and the check fails': [
    both(
      everyOne(({ Invocations }) => ({
        Errors: Invocations,
        Duration: 120_000,
        FirstByte: 120_000,
      })),
      checkFails,
    ),
    anOutage,
  ],
  'nothing reaches the gateway, and the check fails': [both(noCalls, checkFails), anOutage],
  'everything fails for ten minutes, and the check for ninety': [
    both((minute, index) => index < 10 && failAll(minute, index), checkFails),
    anOutage,
  ],
  'one of a few requests has failed in each twenty minutes, then everything fails': [
    (minute, index) => {
      if (index >= 180) return failAll(minute, index);
      const count = index > 30 && index % 20 === 0 ? 1 : 0;
      return whenOf('getInventoryEntry', () => ({ Invocations: count, ServerErrors: count }))(
        minute,
        index,
      );
    },
    { history: 0, lasts: 240 },
  ],
  '20 of 40 requests get 404': [first(20, 1, { Invocations: 2, ClientErrors: 1 }, 0), aDay],
  '20 of 60 requests get 404': [first(20, 1, { Invocations: 3, ClientErrors: 1 }, 0), aDay],
  '19 of 19 requests get 404': [first(1, 1, { Invocations: 19, ClientErrors: 19 }, 0), aDay],
  '10 of 1,040 requests of a day fail': [
    first(10, 100, { Invocations: 4, ServerErrors: 1 }, 1),
    aDay,
  ],
  '9 of 1,040 requests of a day fail': [
    first(9, 100, { Invocations: 4, ServerErrors: 1 }, 1),
    aDay,
  ],
  'both requests of an hour fail': [seldom('getInventoryEntry', 30, 600, 630), aDay],
  'three of twenty requests of an hour fail': [seldom('updateInventory', 3, 600, 618, 642), aDay],
  'one call is throttled': [once('getInventoryEntry', 600, { Throttles: 1 }), aDay],
  'the firewall refuses ten requests a second without a key': [
    when({ 'keyless BlockedRequests': 600 }),
    { after: 15 },
  ],
  'the firewall refuses nineteen lists a minute': [
    when({ 'lists-of-key BlockedRequests': 10, 'lists-of-address BlockedRequests': 9 }),
  ],
  'the check fails once': [(minute, index) => index === 600 && checkFails(minute), aDay],
};
