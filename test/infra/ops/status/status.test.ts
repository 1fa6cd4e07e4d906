import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it, onTestFinished, vi } from 'vitest';
import { logQueries } from '../../../../infra/deploy/watch/logQueries.ts';
import { symptoms } from '../../../../infra/ops/status/symptoms.ts';
import { petstore } from '../../../../infra/petstore.ts';
import type { Release } from '../../../../infra/stages/commit.ts';
import { projectRoot } from '../../../../infra/stages/projectRoot.ts';
import { stages } from '../../../../infra/stages/stages.ts';
import {
  mapOperations,
  type OperationId,
  operationIds,
  operations,
} from '../../../../shared/contract/operations.ts';
import { skipBackOff } from '../../../support/faults/clock.ts';
import { watchTemplates } from '../../../support/stackTemplates.ts';
import { AwsError, describeReleases, describeStack, type Responses, useAws } from '../aws.ts';
import { callOps, changeSettings, playScenarios } from '../opsProcess.ts';

const now = Date.parse('2026-12-24T03:04:00Z');
beforeEach(() => void vi.useFakeTimers({ now, toFake: ['Date'] }));
afterEach(() => void vi.useRealTimers());

type Row = Record<string, string>;

/** What AWS returns about a stage; by default, while nothing is wrong. */
interface Recorded {
  readonly stage?: 'staging' | 'production';
  readonly columns?: number;
  /** Milliseconds until what AWS has not returned is left out. */
  readonly deadline?: number;
  /** The firing alarms, with the minutes since each began. */
  readonly firing?: Readonly<Record<string, number>>;
  /** How many minutes ago the live version was published. */
  readonly published?: number;
  readonly versions?: readonly string[];
  /** By default, each version has one, whose commit is its digest. */
  readonly releases?: readonly Release[];
  /** The numbers of the versions that were rolled back. */
  readonly left?: Partial<Record<OperationId, readonly number[]>>;
  readonly live?: { FunctionVersion: string; RoutingConfig?: object };
  /** Requests, and those with a 5xx, by operation; some 1,000 and none by default. */
  readonly requests?: Partial<Record<OperationId, readonly [all: number, failed: number]>>;
  /** What Logs Insights finds. */
  readonly access?: readonly Row[];
  readonly errors?: readonly Row[];
  /** What the hook said of versions that it stopped. */
  readonly hook?: readonly Row[];
  readonly callers?: readonly Row[];
  readonly addresses?: readonly Row[];
  /** Events and consumed units by the labels of their metrics, such as `pets ReadThrottleEvents`. */
  readonly metrics?: Readonly<Record<string, readonly number[]>>;
  /** The operations that may not run at all. */
  readonly stopped?: readonly OperationId[];
  /** The name of the inventory's table in use. */
  readonly restored?: string;
  /** Of the settings. */
  readonly firewall?: boolean;
  /** That of updateInventory by the settings. */
  readonly concurrency?: number;
  /** The table that somebody deleted. */
  readonly lost?: string;
  readonly withoutData?: number;
  /** Whether the alarms' actions are off. */
  readonly muted?: boolean;
  readonly status?: string;
  /** That of the stack that watches the stage; none if it does not exist. */
  readonly watch?: string;
  readonly deployments?: readonly string[];
  readonly responses?: Responses;
}

const findProperties = (type: string) =>
  Object.values(watchTemplates.production.findResources(type)).map(({ Properties }) => Properties);
const known = findProperties('AWS::CloudWatch::Alarm');
const incidents = findProperties('AWS::CloudWatch::CompositeAlarm');

function record(recorded: Recorded): Responses {
  const { stage = 'production', firing = {}, published = 3 * 24 * 60, deployments = [] } = recorded;
  const { versions = ['aaaaaaaaaaa1', 'bbbbbbbbbbb2'], requests = {}, metrics = {} } = recorded;
  const { access = [], errors = [], hook = [], callers = [], addresses = [] } = recorded;
  const toTime = (minutes: number) => new Date(now - minutes * 60_000).toISOString();
  const ofTemplate = stage === 'production' ? known : [];
  const ofRollback = Object.keys(firing)
    .map((name) => ({
      AlarmName: `petstore-production-${name}`,
      Period: 300,
      AlarmDescription: `${name} looks at the newest version.`,
    }))
    .filter(({ AlarmName }) => ofTemplate.every((one) => one.AlarmName !== AlarmName));
  const counted = operationIds.flatMap((id) => {
    const { method, path: route } = operations[id];
    const [all, failed] = requests[id] ?? [1_000 + id.length, 0];
    const row = { isCheck: '0', method, route, gatewayError: '-' };
    return [
      { ...row, status: '200', lines: String(all - failed) },
      { ...row, status: '503', lines: String(failed) },
      { ...row, isCheck: '1', status: '403', lines: '12' },
    ];
  });
  const rows = { errors, hook, callers, addresses, access: [...counted, ...access] };
  const { status: ofService = 'UPDATE_COMPLETE', watch = 'UPDATE_COMPLETE' } = recorded;
  return {
    DescribeStacks(input) {
      const isWatch = String(input.StackName).endsWith('-watch') && watch !== '';
      const name = `petstore-${stage}${isWatch ? '-watch' : ''}`;
      const described = describeStack(name, {}, () => (isWatch ? watch : ofService));
      return described.DescribeStacks?.(input);
    },
    DescribeAlarms: ({ AlarmTypes }) => ({
      MetricAlarms: [...ofTemplate, ...ofRollback].map((alarm, index) => {
        const since = firing[alarm.AlarmName.replace('petstore-production-', '')];
        const quiet = index < (recorded.withoutData ?? 0) ? 'INSUFFICIENT_DATA' : 'OK';
        return {
          ...alarm,
          StateValue: since === undefined ? quiet : 'ALARM',
          ActionsEnabled: recorded.muted !== true,
          AlarmActions: undefined,
          StateTransitionedTimestamp: Date.parse(toTime(since ?? 9_999)) / 1_000,
        };
      }),
      // As AWS does, only if the request asks for them.
      ...(stage === 'production' &&
        String(AlarmTypes).includes('CompositeAlarm') && {
          CompositeAlarms: incidents.map((incident) => ({
            ...incident,
            StateValue: Object.keys(firing).length > 0 ? 'ALARM' : 'OK',
            ActionsEnabled: recorded.muted !== true,
            AlarmActions: ['arn:aws:sns:x:1:Pages'],
          })),
        }),
    }),
    GetAlias: () => recorded.live ?? { FunctionVersion: String(versions.length) },
    ListVersionsByFunction: () => ({
      Versions: versions.map((Description, index) => ({
        Version: String(index + 1),
        Description,
        LastModified: toTime(published + 1_440 * (versions.length - 1 - index)).replace(
          'Z',
          '+0000',
        ),
      })),
    }),
    ...describeReleases(
      () =>
        recorded.releases ??
        versions.map((digest) => ({ commit: digest, digests: mapOperations(() => digest) })),
    ),
    ListDeployments: () => ({ deployments }),
    ListDeploymentTargets: () => ({ targetIds: ['petstore-production-getInventoryEntry'] }),
    GetParameter: () => ({ Parameter: { Value: JSON.stringify(recorded.left ?? {}) } }),
    GetTopicAttributes: () => ({ Attributes: new Map([['SubscriptionsConfirmed', '1']]) }),
    DescribeTable: ({ TableName }) =>
      recorded.lost === String(TableName)
        ? refuse('ResourceNotFoundException', 'Requested resource not found')
        : { Table: { TableStatus: 'ACTIVE' } },
    GetFunctionConcurrency: ({ FunctionName }) =>
      recorded.stopped?.some((id) => String(FunctionName).endsWith(`-${id}`))
        ? { ReservedConcurrentExecutions: 0 }
        : {},
    StartQuery({ logGroupNames, queryString }) {
      const isAsked = (field: RegExp) => field.test(String(queryString));
      if (String(logGroupNames).endsWith('-hook')) return { queryId: 'hook' };
      if (String(logGroupNames).includes('apigateway')) {
        return { queryId: isAsked(/sourceIp/) ? 'addresses' : 'access' };
      }
      return { queryId: isAsked(/message\.keyName/) ? 'callers' : 'errors' };
    },
    GetQueryResults: ({ queryId }) => ({
      status: 'Complete',
      results: rows[queryId as 'access'].map((row) =>
        Object.entries(row).map(([field, value]) => ({ field, value })),
      ),
    }),
    GetMetricData: () => ({
      MetricDataResults: Object.entries(metrics).map(([Label, Values]) => ({ Label, Values })),
    }),
    ...recorded.responses,
  };
}

// biome-ignore lint/suspicious/noControlCharactersInRegex: a terminal's hyperlink begins and ends with them.
const hyperlink = /\u001b\]8;;(.+?)\u001b\\(.+?)\u001b\]8;;\u001b\\/g;

/** Runs the command on a terminal, and expects no wider line. */
async function look(recorded: Recorded, ...options: string[]) {
  const { stage = 'production', columns = 60, deadline = 30_000, concurrency } = recorded;
  if (concurrency !== undefined) {
    const reservedConcurrency = { updateInventory: concurrency };
    changeSettings(stages.production, { accountConcurrency: 1_000, reservedConcurrency });
  }
  const { restored, firewall = false } = recorded;
  const { settings } = stages.production;
  const restoredTables = restored && { restoredTables: { inventory: restored } };
  Object.assign(stages.production, {
    settings: { ...settings, firewall, ...restoredTables },
  });
  const aws = await useAws(record(recorded));
  const { columns: before, isTTY } = process.stdout;
  const timeout = vi.spyOn(AbortSignal, 'timeout').mockReturnValue(AbortSignal.timeout(deadline));
  Object.assign(process.stdout, { columns, isTTY: true });
  const outcome = await callOps(petstore, ['status', '--stage', stage, ...options], aws.variables);
  Object.assign(process.stdout, { columns: before, isTTY });
  Object.assign(stages.production, { settings });
  timeout.mockRestore();
  expect(outcome.stderr).toBe('');
  const stdout = outcome.stdout.replace(hyperlink, '$2');
  // A command is one line, to be pasted.
  const lines = stdout.split('\n').filter((one) => !/^ {4}(#|aws|npm|npx|set|restored=)/.test(one));
  const longest = Math.max(...lines.map((one) => one.length));
  if (options.length === 0) expect(longest).toBeLessThanOrEqual(columns);
  return { ...outcome, stdout, aws, links: [...outcome.stdout.matchAll(hyperlink)] };
}

const toLine = (text: string) => text.replaceAll(/\s+/g, ' ').trim();

const requestId = '8f2c1e0a-6a6b-4c9a-9a51-0d3e8f7b2c44';
const ofFunction = (id: string) => ({
  '@log': `123456789012:/aws/lambda/petstore-production-${id}`,
});
const storeError = (id: string, request = requestId): Row => ({
  ...ofFunction(id),
  lines: '117',
  request,
  error: 'StoreError',
  text: 'no response',
  cause: 'TimeoutError',
  causeText: 'socket hang up',
});
const canary = {
  published: 4,
  live: { FunctionVersion: '1', RoutingConfig: { AdditionalVersionWeights: { 2: 0.1 } } },
  status: 'UPDATE_IN_PROGRESS',
  deployments: ['d-1'],
};
const badDeployment = {
  published: 17,
  firing: { 'server-errors': 12, 'getInventoryEntry-server-errors': 13, crashes: 9_000 },
  requests: { getInventoryEntry: [1_204, 122] },
  errors: [storeError('getInventoryEntry')],
} as const;

const shown = [
  'listInventory',
  'getInventoryEntry',
  'updateInventory',
  'adjustInventory',
  'listOrders',
];

/** Leaves out the other operations without failures, and what grows with the contract: alarms, and later operations. */
function withoutOthers(text: string): string {
  const later = operationIds.filter((id) => !shown.includes(id));
  const others = operationIds
    .filter((id) => id !== 'getInventoryEntry')
    .map((id) => `${id} +1,0${`${id.length}`.padStart(2, '0')} +0 +0.0%`);
  return text
    .replace(/\nQUERIES .*?(?=\nROWS )/s, '')
    .split(/^(?! {4})/m)
    .filter((part) => !later.some((id) => new RegExp(`^ +(\\d+ x )?${id}\\b`).test(part)))
    .join('')
    .replaceAll(new RegExp(`^ +(${others.join('|')})\n`, 'gm'), '')
    .replaceAll(/(?<=\S) {2,}/g, '  ')
    .replace(`${known.length + incidents.length} alarms`, 'all alarms and incidents')
    .replace(`${known.length} alarms`, 'all alarms');
}

const petRow = { method: 'GET', route: '/inventory/{petId}', lines: '9' };
const refused = { ...petRow, isCheck: '1', status: '401' };
const failed = { ...petRow, isCheck: '0', status: '504', gatewayError: 'INTEGRATION_TIMEOUT' };
const blocked = {
  ...{ ...petRow, lines: '900000' },
  ...{ isCheck: '0', status: '403', gatewayError: 'WAF_FILTERED' },
};
const writes = (units: number) => ({
  'inventory WriteThrottleEvents': [7, 400],
  'inventory ConsumedWriteCapacityUnits': [units * 60, 60],
});
const fails = { 'getInventoryEntry-failing': 20 };
const throttled = { ...fails, 'table-throttles': 9 };
const moving = { ...badDeployment, ...canary };
const byName = (name: string): Recorded => ({ firing: { [name]: 9 } });
const checkRefused = { ...byName('check-failed'), access: [refused] };
/** All operations fail, each with its own error. */
const allFail = (toError: (id: OperationId) => Row, count = 60): Recorded => ({
  firing: { 'server-errors': 12 },
  published: 150,
  requests: Object.fromEntries(operationIds.map((id) => [id, [100, count]])),
  errors: operationIds.map(toError),
});
const of =
  (cause: string, causeText = 'x') =>
  (id: OperationId) => ({ ...storeError(id), cause, causeText });
const down = allFail(of('TimeoutError'));
const allButOne = { ...down.requests, [operationIds[0] as OperationId]: [100, 0] as const };
const byLimit = (limit: string): Recorded => ({
  published: 12,
  firing: { 'updateInventory-server-errors': 9 },
  requests: { updateInventory: [900, 300] },
  errors: [of('ThrottlingException')('updateInventory')],
  metrics: { ...writes(60), [`inventory Write${limit}ThrottleEvents`]: [400] },
});
const hotKey = byLimit('KeyRangeThroughput');
/** A stage without alarms, since their stack failed. */
const unwatched = (watch: string): Recorded => ({
  watch,
  responses: { DescribeAlarms: () => ({}) },
});
const writesStopped: Recorded = {
  stopped: ['updateInventory'],
  published: 12,
  firing: { 'updateInventory-server-errors': 9, 'lambda-throttles': 9, 'no-requests': 8 },
  requests: { updateInventory: [100, 100] },
};
const refusedVersion = {
  message:
    'getInventoryEntry, version 7, was stopped before its first client: GET /inventory/8 responded with 404',
};
const rolledBack = { status: 'UPDATE_ROLLBACK_COMPLETE' };
const stoppedByHook = { ...rolledBack, hook: [refusedVersion] };
const undone = { ...badDeployment, ...stoppedByHook, status: 'UPDATE_ROLLBACK_IN_PROGRESS' };
const noHook: Responses = {
  StartQuery: ({ logGroupNames }) => {
    if (!String(logGroupNames).endsWith('-hook')) return { queryId: 'errors' };
    throw new AwsError('ResourceNotFoundException', 'no such log group');
  },
};
const digests = ['0123456789abcdef', 'fedcba9876543210'] as const;
const [first, second] = digests.map((digest, index) => ({
  commit: ['aaaaaaaaaaa1', 'bbbbbbbbbbb2'][index] ?? '',
  digests: mapOperations(() => digest),
})) as readonly Release[] as [Release, Release];
const released = { ...badDeployment, versions: digests, releases: [first, second] };
const documentsReleased = {
  ...released,
  releases: [first, second, { ...second, commit: 'ddddddddddd4' }],
};
/** New code, and an alarm some minutes after it. */
const began = (name: string, minutes: number): Recorded => ({
  ...badDeployment,
  published: 300,
  firing: { [name]: 300 - minutes },
});

const deny = () => refuse('AccessDeniedException', 'not allowed to do this');
const manyThings: Recorded = {
  ...canary,
  columns: 140,
  left: { getInventoryEntry: [1] },
  stopped: ['updateInventory'],
  muted: true,
  metrics: writes(11_900),
  errors: [
    { ...ofFunction('getInventoryEntry'), lines: '2', request: 't-1', ended: 'timeout' },
    { ...ofFunction('getInventoryEntry'), lines: '2', request: 'c-1', crash: 'Runtime.ExitError' },
    { ...storeError('getInventoryEntry'), text: `psk_0123456789${'s'.repeat(32)} \u202e\u001b[2J` },
  ],
  responses: {
    DescribeStacks: () => refuse('Throttling', 'Rate exceeded'),
    GetTopicAttributes: () => ({
      Attributes: new Map(
        Object.entries({ SubscriptionsConfirmed: '0', SubscriptionsPending: '1' }),
      ),
    }),
  },
};
/** Two alarms with one cause, and a request that came after the one of another error. */
const sameCause: Recorded = {
  firing: { 'getInventoryEntry-server-errors': 20, 'getInventoryEntry-failing': 10 },
  requests: { getInventoryEntry: [200, 150] },
  errors: [storeError('getInventoryEntry', 'warm-up'), storeError('getInventoryEntry')],
};

/** Alarms on all operations, and what says which they are. */
const ofAllOperations: Recorded = {
  firing: { latency: 20, crashes: 15, 'lambda-throttles': 11, 'client-errors': 10 },
  requests: { getInventoryEntry: [200, 0] },
  access: [{ ...petRow, isCheck: '0', status: '404', gatewayError: '-', lines: '300' }],
  metrics: {
    'getInventoryEntry Errors': [1, 2],
    'listOrders Throttles': [9],
    'listInventory p99': [900, 3_400.4],
    'listOrders p99': [2_999],
  },
};

const spread = { 200: '4', 503: '38', 429: '900' };
const toSpread = (row: Row): Row[] =>
  Object.entries(spread).map(([status, lines]) => ({ ...row, status, lines }));
/** A shop and many addresses buy one pet, and each request is refused or busy. */
const demand = {
  ...hotKey,
  callers: [
    ...toSpread({ name: 'storefront-web', id: '0123456789', path: '/inventory/7' }),
    { name: 'till', id: 'abcdefghij', status: '503', petIds: '7 9', lines: '12' },
    { name: 'till', id: 'abcdefghij', status: '200', lines: '30' },
    { id: 'zzzzzzzzzz', status: '401', lines: '2' },
    { status: '401', lines: '1' },
  ].filter(({ path, status }) => path === undefined || status === '503' || status === '200'),
  addresses: [
    ...toSpread({ name: '203.0.113.7' }),
    ...[1, 2, 3, 4, 5].map((last) => ({
      name: `2001:db8::${last}`,
      status: '200',
      lines: `${last}`,
    })),
  ],
};

const withoutCause = {
  ...storeError('getInventoryEntry'),
  error: 'TypeError',
  text: "Cannot read properties of undefined (reading 'N')",
  cause: '',
  causeText: '',
};

/** Shown as whole screens in `screens.txt`. */
const screens: Readonly<Record<string, Recorded>> = {
  'a bad deployment': { ...badDeployment, errors: [withoutCause], hook: [refusedVersion] },
  'many things at once': { ...manyThings, callers: demand.callers, addresses: demand.addresses },
};

/** What the engineer who was paged meets: after the colon, the rows of the runbook that apply. */
const situations: Readonly<Record<string, Recorded>> = {
  // A stack that is stuck.
  'a first deployment that is rolled back: 2': { status: 'ROLLBACK_IN_PROGRESS' },
  'a later one that failed without a rollback: 2': { status: 'UPDATE_FAILED' },
  'a rollback that left its stack failed: 2': {
    ...{ ...released, live: { FunctionVersion: '1' }, status: 'UPDATE_FAILED' },
  },
  'a watch stack whose first deployment was rolled back: 2': unwatched('ROLLBACK_COMPLETE'),
  'one that was never deployed: none': unwatched(''),
  'a bad deployment that is rolled back: 2 6': undone,
  'a stuck one, during an outage: 1 2': { ...down, status: 'UPDATE_ROLLBACK_FAILED' },
  'one that was rolled back without a hook: 2': { ...rolledBack, responses: noHook },
  // What was stopped on purpose.
  'stopped writes, and new code: 3 6': writesStopped,
  // Lines of other parts.
  'two alarms with one cause: none': sameCause,
  'alarms on all operations: none': ofAllOperations,
  'a version that failed the pre-traffic check: 2': stoppedByHook,
  'a table that somebody deleted: 9': {
    ...allFail(of('ResourceNotFoundException', 'Requested resource not found')),
    lost: 'petstore-production-inventory',
  },
  'many buyers of one pet: 5 7': demand,
  // AWS's own failure.
  'an outage of DynamoDB soon after a release: 1': down,
  'an outage of DynamoDB: 1': { ...down, published: 999 },
  'an outage that is a name: 1': allFail(of('Error', 'getaddrinfo ENOTFOUND dynamodb')),
  'an outage behind a flood that the firewall blocks: 1': { ...down, access: [blocked] },
  'failures of all but one operation: 6': { ...down, requests: allButOne },
  'the same error of our own in all: 6': { ...allFail(of('TypeError')), published: 17 },
  'an error of a table that is gone: 6 9': allFail(of('ResourceNotFoundException')),
  'few failures of all: 6': allFail(of('TimeoutError'), 4),
  // A table, by the limit that throttles it.
  'a maximum that DynamoDB names, after a deployment: 4': byLimit('MaxOnDemandThroughput'),
  'reads past a maximum that was raised before: 4': {
    firing: { ...fails, 'pets-table-throttles': 9 },
    metrics: { 'pets ReadThrottleEvents': [9], 'pets ConsumedReadCapacityUnits': [1_500.5 * 60] },
  },
  'a restored table at its maximum: 4': {
    firing: throttled,
    metrics: writes(11_900),
    restored: 'inventory-restored',
  },
  'throttles of another time, and an error: 4': {
    ...byLimit('AccountLimit'),
    published: 999,
    errors: [storeError('updateInventory')],
  },
  'new code, and a table: 4 6': { ...badDeployment, metrics: writes(11_900) },
  // New code.
  'a canary that fails: 6': { ...moving, published: 14 },
  'a canary of what may fix it: none': moving,
  'a rollback alarm: 6': { ...byName('Rollback21F2E-3D'), published: 20 },
  '400s after new code: 6': { ...byName('client-errors'), published: 20 },
  'new code of a release, and documents since: 6': documentsReleased,
  'a finished rollback of a release: none': { ...released, live: { FunctionVersion: '1' } },
  'a rollback of one function of a release: 6': {
    ...released,
    responses: {
      GetAlias: ({ FunctionName }) => ({
        FunctionVersion: String(FunctionName).endsWith('-getInventoryEntry') ? '1' : '2',
      }),
    },
  },
  'no earlier version: 6': { ...badDeployment, versions: ['b'] },
  'a known-bad version before: 6': { ...badDeployment, left: mapOperations(() => [1]) },
  'failures from before the deployment: none': began('latency', -1),
  'an alarm five hours after new code: 6': began('latency', 300),
  'an alarm later than that: none': { ...began('latency', 300), published: 301 },
  // The scheduled check.
  "the check's ended key: 10": checkRefused,
  "the check's key in front of an error: 10": {
    ...checkRefused,
    firing: { 'check-failed': 9, ...fails },
  },
  'the check alone: 10': byName('check-failed'),
  // Other errors and alarms.
  'a spent budget after new code: none': { ...byName('error-budget'), published: 20 },
  '401s of many: 8': byName('unauthorized-requests'),
  '403s of one key: 8': {
    ...byName('forbidden-requests'),
    callers: [
      { name: 'till', id: 'abcdefghij', status: '200', lines: '900' },
      { name: 'kiosk', id: '0123456789', status: '403', lines: '500' },
      { id: 'zzzzzzzzzz', status: '401', lines: '700' },
    ],
  },
  '429s of many: 7': byName('throttled-requests'),
  'an address that gets 429s: 7': { addresses: toSpread({ name: '203.0.113.7' }) },
  'an address that the firewall refuses: 7': {
    ...byName('rate-limited-requests'),
    firewall: true,
    addresses: toSpread({ name: '203.0.113.7' }),
  },
  'one that gets few: none': {
    addresses: [
      { name: '203.0.113.7', status: '200', lines: '1000' },
      { name: '203.0.113.7', status: '429', lines: '9' },
    ],
  },
  'sales that collide: 5': byName('transaction-conflicts'),
  'failures that fire nothing: none': { access: [{ ...failed, request: 'g-1' }] },
  'a forged id: none': { access: [{ ...failed, request: '$(reboot)' }] },
  // Silence.
  'a stage without alarms: none': { stage: 'staging' },
  'a stage without its alarms: none': { responses: { DescribeAlarms: () => ({}) } },
  'a few without data: none': { withoutData: 3 },
  // What could not be read.
  'no alarms: none': { responses: { DescribeAlarms: deny } },
  'no topics: none': { responses: { GetTopicAttributes: deny } },
  'no versions: none': { responses: { GetAlias: deny } },
  'no releases: none': { responses: { GetParameterHistory: deny } },
  'no known-bad versions: 6': { ...badDeployment, responses: { GetParameter: deny } },
  'no logs in time: none': {
    responses: { GetQueryResults: () => ({ status: 'Running' }) },
    deadline: 1_000,
  },
  'stopped writes with a concurrency of their own: 3 6': { ...writesStopped, concurrency: 9 },
  'writes that the settings stop: 6': { ...writesStopped, concurrency: 0 },
};

/** What is said in a situation beside the rows, with white space as one space. */
const said: readonly (readonly [situation: string, line: string])[] = [
  ['one that was never deployed', 'Its watch stack: none'],
  ['new code of a release, and documents since', 'LIVE ddddddddddd4, published'],
  ['a rollback of one function of a release', 'bbbbbbbbbbb2 and aaaaaaaaaaa1, the newest'],
  ['a known-bad version before', 'Known bad: aaaaaaaaaaa1'],
  ['a finished rollback of a release', 'Rolled back from bbbbbbbbbbb2.'],
  ['failures that fire nothing', '9 x getInventoryEntry: 504 INTEGRATION_TIMEOUT; request g-1'],
  ['a forged id', 'INTEGRATION_TIMEOUT; request not known'],
  ['a stage without alarms', 'None: staging has no alarms. LIVE'],
  ['a stage without its alarms', 'None: production has no alarms, though its settings'],
  ['a few without data', '3 of them have no data.'],
  ['no alarms', 'FIRING Could not be read: CloudWatch: AccessDenied'],
  ['no topics', 'Whether the topic Pages has subscribers could not be read: SNS: Access'],
  ['no versions', 'LIVE Could not be read: Lambda: AccessDenied'],
  ['no releases', 'Could not be read: The commits, in /petstore-production/release: SSM: '],
  [
    'no known-bad versions',
    'Could not be read: The known-bad versions, in /petstore-production/left',
  ],
  ['no logs in time', 'REQUESTS of clients, last hour Could not be read: no response in time'],
  ['stopped writes with a concurrency of their own', 'Its reservedConcurrency is 9.'],
  ['two alarms with one cause', 'socket hang up; request warm-up'],
  ['two alarms with one cause', `socket hang up; request ${requestId}`],
  ['alarms on all operations', 'getInventoryEntry: 300 of 500 got a 4xx'],
  ['alarms on all operations', 'listInventory: the slowest 1% took 3,400 of 3,000 ms'],
  ['alarms on all operations', 'getInventoryEntry: 3 crashed or timed out'],
  ['alarms on all operations', 'listOrders: 9 refused by Lambda'],
  ['a version that failed the pre-traffic check', refusedVersion.message],
  ['a table that somebody deleted', 'Table petstore-production-inventory: missing'],
  ['many buyers of one pet', '407 writes throttled by KeyRangeThroughput; at most 60 of 12,000'],
  ['many buyers of one pet', '503 for /inventory/7 (54), /inventory/9 (12)'],
];

it('npx petstore status shows facts, the rows that apply, and what it could not read', async () => {
  onTestFinished(skipBackOff());
  const text = await playScenarios(screens, async (recorded) => {
    const { stdout, status } = await look(recorded);
    return `${withoutOthers(stdout)}(status ${status})\n`;
  });
  await expect(text).toMatchFileSnapshot('screens.txt');
});

/** The commands of each situation. */
const pasted: string[] = [];

it.each(Object.entries(situations))(
  'names the rows of the runbook for %s',
  async (name, recorded) => {
    onTestFinished(skipBackOff());
    const [situation = '', expected = ''] = name.split(': ');
    const { stdout, status } = await look(recorded);
    const [text = '', runbook = ''] = stdout.split('ROWS of infra/RUNBOOK.md that apply\n');
    const rows = expected.split(' ').map((row) => `  ${row} ${symptoms[Number(row) - 1]?.title}\n`);
    const none = '  None. Row 8 is for a key that leaked.\n';
    const shown = runbook.split(/(?<=\n)/);
    const commands = shown.filter((line) => line.startsWith('    '));
    expect(shown.filter((line) => !line.startsWith('    ')).join('')).toBe(
      expected === 'none' ? none : rows.join(''),
    );
    if (expected !== 'none')
      pasted.push(`= ${name}\n${commands.map((line) => line.slice(4)).join('')}`);
    else
      expect(commands.join('')).toMatch(
        /^ {4}npx petstore keys rotate KEY --grace 0s --stage \w+\n$/,
      );
    const lines = said.flatMap(([one, line]) => (one === situation ? line : []));
    for (const line of lines) expect(toLine(text)).toContain(line);
    expect(/not be\s+read/.test(text)).toBe(/not be read/.test(lines.join()));
    const isRead = !text.includes('Could not be read');
    expect(status).toBe(recorded.firing || !isRead ? 1 : 0);
  },
);

it('prints the commands of the rows, filled in, on lines to paste', async () => {
  await expect(pasted.join('\n')).toMatchFileSnapshot('commands.txt');
});

it('prints the command for a lost table also beside wrong settings', async () => {
  changeSettings(stages.production, { maximumUnitsPerSecond: {} as never });
  const aws = await useAws(record({ lost: 'petstore-production-inventory' }));
  const { stdout } = await callOps(petstore, ['status', '--stage', 'production'], aws.variables);
  expect(stdout).toContain(
    'restored=petstore-production-inventory\n    aws dynamodb restore-table-from-backup --target-table-name "$restored" --backup-arn "$(aws dynamodb list-',
  );
});

it('shows all but the operation that a release adds, before its first deployment', async () => {
  const missing = 'petstore-production-adjustInventory';
  const lack = (name: unknown) => {
    if (String(name).includes(missing)) refuse('ResourceNotFoundException', `No ${missing}`, 404);
    return {};
  };
  const known = record({});
  const errors = [storeError('getInventoryEntry')];
  const recorded = record({ errors, callers: [{ name: 'till', status: '200', lines: '9' }] });
  const { stdout } = await look({
    responses: {
      GetQueryResults: (input) => recorded.GetQueryResults?.(input),
      GetFunctionConcurrency: ({ FunctionName }) => lack(FunctionName),
      GetAlias: (input) => lack(input.FunctionName) && known.GetAlias?.(input),
      StartQuery: (input) => lack(input.logGroupNames) && known.StartQuery?.(input),
    },
  });
  const live = 'bbbbbbbbbbb2, published 2026-12-21 03:04Z (3 days ago)';
  expect(toLine(stdout)).toContain(`LIVE ${live} Not deployed: adjustInventory`);
  expect(stdout).toContain('117 x getInventoryEntry: StoreError');
  const sum = 9 * (operationIds.length - 1);
  expect(stdout).toContain(`  till: ${sum} (${sum} x 200)`);
  expect(stdout).not.toMatch(/could not be read/i);
});

it('names the saved queries, with the links that open them in the console', async () => {
  const { stdout, links } = await look({});
  const names = logQueries.map(({ name }) => `  ${name}\n`).join('');
  expect(stdout).toContain(`\n\nQUERIES of the last hour in Logs Insights\n${names}`);
  const { queries } = JSON.parse((await look({}, '--json')).stdout);
  expect(links.map(([, link, name]) => ({ name, link }))).toEqual(queries);
  // As the console writes it for such a query.
  expect(queries[0].link).toBe(
    `https://eu-west-1.console.aws.amazon.com/cloudwatch/home?region=eu-west-1#logsV2:logs-insights$3FqueryDetail$3D~(end~0~start~-3600~timeType~'RELATIVE~unit~'seconds~editorString~'fields*20*40timestamp*2c*20*40log*2c*20*40message*0a*7c*20filter*20*40message*20like*20*22REQUEST_ID*22*20*23*20the*20id*20in*20place*20of*20REQUEST_ID*0a*7c*20sort*20*40timestamp*20asc~source~(${[...operationIds.map((id) => `~'*2faws*2flambda*2fpetstore-production-${id}`), "~'*2faws*2fapigateway*2fpetstore-production"].join('')}))`,
  );
});

it('the rows are those at the top of the runbook', () => {
  const runbook = readFileSync(join(projectRoot, 'infra/RUNBOOK.md'), 'utf8');
  const rows = runbook.matchAll(/^(\d+)\. \*\*(.+?)\*\*: .+ → .+$/gm);
  expect(Array.from(rows, ([, row, title]) => `${row} ${title}`)).toEqual(
    symptoms.map(({ title }, index) => `${index + 1} ${title}`),
  );
});

it('npx petstore status prints the same for a machine with --json, of the last hour alone', async () => {
  const { status, stdout, aws } = await look(badDeployment, '--json');
  expect(status).toBe(1);
  expect(JSON.parse(stdout)).toMatchObject({
    stage: 'production',
    alarms: {
      value: { firing: [{ name: 'getInventoryEntry-server-errors', severity: 'page' }, {}, {}] },
    },
    live: { value: { commits: 'bbbbbbbbbbb2', rollbackTarget: { commit: 'aaaaaaaaaaa1' } } },
    requests: { value: { operations: operationIds.map((operation) => ({ operation })) } },
    runbook: [{ row: 6, commands: ['npx petstore rollback --stage production'] }],
  });
  for (const { startTime, endTime } of aws.inputsOf('StartQuery')) {
    expect([startTime, endTime]).toEqual([now / 1_000 - 3_600, now / 1_000]);
  }
  expect(aws.inputsOf('DescribeAlarms')).toEqual([
    { AlarmNamePrefix: 'petstore-production-', AlarmTypes: ['MetricAlarm', 'CompositeAlarm'] },
  ]);
  const asked = aws.inputsOf('GetMetricData').map(({ MetricDataQueries }) => MetricDataQueries);
  expect(asked.map((queries) => (queries as []).length)).toEqual([3 * operationIds.length, 50]);
  expect(JSON.stringify(asked)).toContain('petstore-production-requests');
  expect(JSON.stringify(asked)).toContain('"Stat":"p99"');
});

function refuse(...error: ConstructorParameters<typeof AwsError>): never {
  throw new AwsError(...error);
}
