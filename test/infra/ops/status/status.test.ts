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
  /** By default those are versions of release 1.2.0. */
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
        CodeSha256: `code of ${Description}`,
        LastModified: toTime(published + 1_440 * (versions.length - 1 - index)).replace(
          'Z',
          '+0000',
        ),
      })),
    }),
    ...describeReleases(() => recorded.releases ?? []),
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
  const { restored } = recorded;
  const { settings } = stages.production;
  const restoredTables = restored && { restoredTables: { inventory: restored } };
  Object.assign(stages.production, { settings: { ...settings, ...restoredTables } });
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
  const longest = Math.max(...stdout.split('\n').map((one) => one.length));
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
    .replace(/\nQUERIES .*/s, '')
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
const writes = (units: number) => ({
  'inventory WriteThrottleEvents': [7, 400],
  'inventory ConsumedWriteCapacityUnits': [units * 60, 60],
});
const fails = { 'getInventoryEntry-failing': 20 };
const throttled = { ...fails, 'table-throttles': 9 };
const toPets = (count: number) => ({ requests: { getInventoryEntry: [999, count] as const } });
const moving = { ...badDeployment, ...canary };
const byName = (name: string): Recorded => ({ firing: { [name]: 9 } });
const checkRefused = { ...byName('check-failed'), access: [refused] };
/** All operations fail, each with its own error. */
const allFail = (toError: (id: OperationId, index: number) => Row, count = 60): Recorded => ({
  firing: { 'server-errors': 12 },
  published: 150,
  requests: Object.fromEntries(operationIds.map((id) => [id, [100, count]])),
  errors: operationIds.map(toError),
});
const of =
  (cause: string, causeText = 'x') =>
  (id: OperationId) => ({ ...storeError(id), cause, causeText });
const ofTwo = (id: OperationId, index: number) =>
  of(index ? 'TimeoutError' : 'InternalServerError')(id);
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
const petsFail: Recorded = {
  requests: { getInventoryEntry: [9, 9] },
  errors: [storeError('getInventoryEntry')],
};
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
const sameCode = [1, 2].map((Version) => ({
  Version: `${Version}`,
  Description: `b${Version}`,
  CodeSha256: 'the same',
  LastModified: `2026-12-${22 + Version}T02:47:00.000+0000`,
}));
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
const documents = { ListVersionsByFunction: () => ({ Versions: sameCode }) };
const oldPage = { latency: 2_880, ...badDeployment.firing };
/** New code, and an alarm some minutes after it. */
const began = (name: string, minutes: number): Recorded => ({
  ...badDeployment,
  published: 300,
  firing: { [name]: 300 - minutes },
});

const deny = () => refuse('AccessDeniedException', 'not allowed to do this');
const fail = () => refuse('InternalFailure', 'x', 500);
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
const demand: Recorded = {
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

/** Shown as whole screens in `situations.txt`. */
const screens: Readonly<Record<string, Recorded>> = {
  'a bad deployment': { ...badDeployment, errors: [withoutCause], hook: [refusedVersion] },
  'a page and a ticket with the same cause': sameCause,
  'alarms on all operations': ofAllOperations,
  'a version that failed the pre-traffic check': stoppedByHook,
  'many buyers of one pet': demand,
  'a table that somebody deleted': {
    ...allFail(of('ResourceNotFoundException', 'Requested resource not found')),
    lost: 'petstore-production-inventory',
  },
  'many things at once': manyThings,
};

/** What the engineer who was paged meets; `situations.txt` has the rows of the runbook that apply to each. */
const situations: Readonly<Record<string, Recorded>> = {
  // A stack that is stuck.
  'a first deployment that is rolled back': { status: 'ROLLBACK_IN_PROGRESS' },
  'one that was rolled back': { status: 'ROLLBACK_COMPLETE' },
  'one that could not be rolled back': { status: 'ROLLBACK_FAILED' },
  'one that stays broken': { status: 'CREATE_FAILED' },
  'a later one that failed without a rollback': { status: 'UPDATE_FAILED' },
  'a watch stack whose first deployment was rolled back': unwatched('ROLLBACK_COMPLETE'),
  'one whose deletion failed': unwatched('DELETE_FAILED'),
  'one that failed while requests do': { ...unwatched('ROLLBACK_COMPLETE'), ...petsFail },
  'one that was never deployed': unwatched(''),
  'one of staging': { ...unwatched('ROLLBACK_COMPLETE'), stage: 'staging' },
  'one whose later deployment is stuck': { watch: 'UPDATE_ROLLBACK_FAILED' },
  'a bad deployment that is rolled back': undone,
  'a stuck one, during an outage': { ...down, status: 'UPDATE_ROLLBACK_FAILED' },
  'one that alarms rolled back': rolledBack,
  'one that was rolled back without a hook': { ...rolledBack, responses: noHook },
  // What was stopped on purpose.
  'stopped writes, and new code': writesStopped,
  'stopped writes, and other failures': { ...writesStopped, ...petsFail, published: 999 },
  // AWS's own failure.
  'an outage of DynamoDB': down,
  'an outage soon after a deployment': { ...down, published: 17 },
  'an outage that is a name': allFail(of('Error', 'getaddrinfo ENOTFOUND dynamodb')),
  'failures of all but one operation': { ...down, requests: allButOne },
  'failures of all, for two reasons': allFail(ofTwo),
  'the same error of our own in all': { ...allFail(of('TypeError')), published: 17 },
  'an error of a table that is gone': allFail(of('ResourceNotFoundException')),
  'few failures of all': allFail(of('TimeoutError'), 4),
  // A table, by the limit that throttles it.
  'a table at its maximum': { firing: throttled, metrics: writes(11_900) },
  'a maximum that DynamoDB names, after a deployment': byLimit('MaxOnDemandThroughput'),
  'reads past a maximum that was raised before': {
    firing: { ...fails, 'pets-table-throttles': 9 },
    metrics: { 'pets ReadThrottleEvents': [9], 'pets ConsumedReadCapacityUnits': [1_500.5 * 60] },
  },
  'a restored table at its maximum': {
    firing: throttled,
    metrics: writes(11_900),
    restored: 'inventory-restored',
  },
  'the quota of the account': byLimit('AccountLimit'),
  'a hot key': hotKey,
  'a table below its maximum': { firing: fails, ...toPets(60), metrics: writes(30) },
  'throttles of another time, and an error': {
    ...byLimit('AccountLimit'),
    published: 999,
    errors: [storeError('updateInventory')],
  },
  'new code, and a table': { ...badDeployment, metrics: writes(11_900) },
  "a table in front of the check's key": {
    ...checkRefused,
    firing: { ...throttled, 'check-failed': 9 },
    metrics: writes(30),
  },
  // New code.
  'a canary that fails': { ...moving, published: 14 },
  'a canary of what may fix it': moving,
  'a canary that does well': canary,
  'a rollback alarm': { ...byName('Rollback21F2E-3D'), published: 20 },
  '400s after new code': { ...byName('client-errors'), published: 20 },
  'new code of a release': released,
  'new code of a release, and documents since': documentsReleased,
  'a release over release 1.2.0': { ...released, releases: [second], versions: ['a', digests[1]] },
  'a finished rollback of a release': { ...released, live: { FunctionVersion: '1' } },
  'a rollback of one function of a release': {
    ...released,
    responses: {
      GetAlias: ({ FunctionName }) => ({
        FunctionVersion: String(FunctionName).endsWith('-getInventoryEntry') ? '1' : '2',
      }),
    },
  },
  'a canary of a release': { ...released, ...canary, releases: [first] },
  'no earlier version': { ...badDeployment, versions: ['b'] },
  'a known-bad version before': { ...badDeployment, left: mapOperations(() => [1]) },
  'a finished rollback': { ...badDeployment, live: { FunctionVersion: '1' } },
  'an old page, and three of new code': { ...badDeployment, firing: oldPage },
  'failures from before the deployment': began('latency', -1),
  'an alarm of four hours, in time': began('getInventoryEntry-failing', 238),
  'an alarm of four hours, too late': began('getInventoryEntry-failing', 268),
  'an alarm of five minutes, in time': began('crashes', 19),
  'an alarm of five minutes, too late': began('crashes', 28),
  'documents alone': { ...badDeployment, responses: documents },
  // The scheduled check.
  "the check's ended key": checkRefused,
  "the check's key in front of an error": {
    ...checkRefused,
    firing: { 'check-failed': 9, ...fails },
  },
  'the check alone': byName('check-failed'),
  // Other errors and alarms.
  'failures that began long ago': {
    ...petsFail,
    firing: { 'getInventoryEntry-server-errors': 20 },
  },
  'a slow operation': byName('latency'),
  'an old key': byName('key-expires-in-7-days'),
  '400s of all': byName('client-errors'),
  'a spent budget after new code': { ...byName('error-budget'), published: 20 },
  '401s of many': byName('unauthorized-requests'),
  '403s of many': byName('forbidden-requests'),
  '429s of many': byName('throttled-requests'),
  'an address that gets 429s': { addresses: toSpread({ name: '203.0.113.7' }) },
  'one that gets few': {
    addresses: [
      { name: '203.0.113.7', status: '200', lines: '1000' },
      { name: '203.0.113.7', status: '429', lines: '9' },
    ],
  },
  'sales that collide': byName('transaction-conflicts'),
  'a silent access log': byName('access-log-empty'),
  'failures that fire nothing': { access: [{ ...failed, request: 'g-1' }] },
  'a forged id': { access: [{ ...failed, request: '$(reboot)' }] },
  // Silence.
  'nothing wrong': {},
  'a stage without alarms': { stage: 'staging' },
  'a stage without its alarms': { responses: { DescribeAlarms: () => ({}) } },
  'alarms without data': { withoutData: known.length },
  'a few without data': { withoutData: 3 },
  // What could not be read.
  'no alarms': { responses: { DescribeAlarms: deny } },
  'no topics': { responses: { GetTopicAttributes: deny } },
  'no versions': { responses: { GetAlias: deny } },
  'no releases': { responses: { GetParameterHistory: deny } },
  'no known-bad versions': { ...badDeployment, responses: { GetParameter: deny } },
  'no deployments': { responses: { ListDeployments: deny } },
  'no logs': { responses: { StartQuery: deny } },
  'no metrics': { responses: { GetMetricData: fail } },
  'no alarms in time': {
    responses: { DescribeAlarms: () => new Promise(() => {}) },
    deadline: 2_500,
  },
  'no logs in time': {
    responses: { GetQueryResults: () => ({ status: 'Running' }) },
    deadline: 2_500,
  },
  // At last, since the settings stay.
  'stopped writes with a concurrency of their own': { ...writesStopped, concurrency: 9 },
  'writes that the settings stop': { ...writesStopped, concurrency: 0 },
};

it('npx petstore status shows facts, the rows that apply, and what it could not read', async () => {
  onTestFinished(skipBackOff());
  const whole = await playScenarios(screens, async (recorded) => {
    const { stdout, status } = await look(recorded);
    return `${withoutOthers(stdout)}(status ${status})\n`;
  });
  const rows = await playScenarios(situations, async (recorded) => {
    const { stdout, status } = await look(recorded);
    const parts = withoutOthers(stdout).trimEnd().split('\n\n');
    const shown = parts.filter((part) => /^ROWS|could not be read/i.test(part)).map(toLine);
    return `${shown.join('\n')}\n(status ${status})\n`;
  });
  await expect(`${whole}\n${rows}`).toMatchFileSnapshot('situations.txt');
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
  expect(symptoms).toHaveLength(10);
});

/** A stack after a failed first deployment, as CloudFormation has it. */
type FailedStack = { status: string; isProtected: boolean };
const failures = ['ROLLBACK_COMPLETE', 'ROLLBACK_FAILED'];

/**
 * Plays the lines on production's stacks. The CDK deletes a stack whose creation failed before it deploys. AWS refuses
 * that while the stack is protected, and refuses tables that are there.
 */
function play(lines: readonly string[], stacks: Record<string, FailedStack>): void {
  const find = (name = '') => stacks[name] ?? expect.unreachable(`There is no stack ${name}.`);
  const hasTables = stacks['petstore-production']?.status !== 'CREATE_COMPLETE';
  for (const line of lines) {
    const [, name = ''] = /--stack-name (\S+)/.exec(line) ?? [];
    if (line.includes('--no-enable-termination-protection')) find(name).isProtected = false;
    else if (line.includes(' delete-stack')) {
      if (find(name).isProtected) throw new Error(`${name} cannot be deleted: it is protected.`);
      delete stacks[name];
    } else if (line.startsWith('npm run deploy')) {
      const [, deployed = ''] = /deploy (\S+)/.exec(line) ?? [];
      for (const one of ['petstore-production', deployed]) {
        const { status, isProtected } = find(one);
        if (failures.includes(status)) {
          if (isProtected) throw new Error(`${one} cannot be deleted: it is protected.`);
          const isOpen = !one.endsWith('-watch') && hasTables;
          if (isOpen && !line.includes(' -- --import-existing-resources')) {
            throw new Error('petstore-production-inventory already exists.');
          }
          stacks[one] = { status: 'CREATE_COMPLETE', isProtected: true };
        }
      }
    } else expect(line).toMatch(/^aws cloudformation describe-stack-events /);
  }
}

it.each([
  ['petstore-production', 'ROLLBACK_COMPLETE'],
  ['petstore-production', 'ROLLBACK_FAILED'],
  ['petstore-production-watch', 'ROLLBACK_COMPLETE'],
  ['petstore-production-watch', 'ROLLBACK_FAILED'],
])(
  '%s, whose first deployment ended as %s, is deployed by the lines of OPERATIONS.md',
  (name, status) => {
    const isWatch = name.endsWith('-watch');
    const document = readFileSync(join(projectRoot, 'infra/OPERATIONS.md'), 'utf8');
    const [, section = ''] = document.split('## When a first deployment fails');
    const [, block = ''] = /^```sh\n(.*?)^```/ms.exec(section) ?? [];
    const lines = block
      .replaceAll(/ +#.*| *\\\n */g, ' ')
      .replaceAll('STACK', name)
      .replaceAll('STAGE', 'production')
      .trim()
      .split('\n');
    expect(lines.length).toBeGreaterThan(1);
    const service = isWatch ? 'CREATE_COMPLETE' : status;
    const stacks: Record<string, FailedStack> = {
      'petstore-production': { status: service, isProtected: true },
      'petstore-production-watch': { status, isProtected: isWatch },
    };
    play(lines, stacks);
    const ready = { status: 'CREATE_COMPLETE', isProtected: true };
    expect(Object.values(stacks)).toEqual([ready, ready]);
  },
);

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
    runbook: [{ row: 6, title: 'New code fails' }],
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
