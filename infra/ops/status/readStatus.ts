import { once } from 'node:events';
import { CloudFormationClient } from '@aws-sdk/client-cloudformation';
import { CloudWatchClient, paginateDescribeAlarms } from '@aws-sdk/client-cloudwatch';
import { CloudWatchLogsClient } from '@aws-sdk/client-cloudwatch-logs';
import { DescribeTableCommand, DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { GetFunctionConcurrencyCommand, LambdaClient } from '@aws-sdk/client-lambda';
import { GetTopicAttributesCommand, SNSClient } from '@aws-sdk/client-sns';
import { type OperationId, operationIds, operations } from '../../../shared/contract/operations.ts';
import { hideSecrets } from '../../../shared/keys/hideSecrets.ts';
import { findLiveCommits, findMissing } from '../../cli/liveFunctions.ts';
import { toCount } from '../../cli/output.ts';
import {
  describeStack,
  ignoring,
  type OpenStage,
  type Part,
  settle,
} from '../../cli/stageStack.ts';
import { findReservedConcurrency } from '../../stages/concurrency.ts';
import { findTableName, toNames } from '../../stages/resourceNames.ts';
import { operationSettings } from '../../stages/stages.ts';
import { tableNames } from '../../stages/tables.ts';
import { choosePrevious, isDone } from '../rollback/aliases.ts';
import { findDeployments } from '../rollback/deployments.ts';
import { readCode } from '../rollback/stageCode.ts';
import { readSums, runQuery } from './cloudWatch.ts';
import {
  addressQuery,
  callerQuery,
  type Query,
  rankCallers,
  readRequests,
  summarizeCallers,
} from './readRequests.ts';

export type Status = Awaited<ReturnType<typeof readStatus>>;

/** What is known of a status: nothing of a part that could not be read. */
export type Facts = {
  readonly [Name in keyof Status]: Extract<Status[Name], { value: unknown }>['value'] | undefined;
};

/** In seconds. */
const MINUTE = 60;

const sum = (values: readonly number[] = []) => values.reduce((all, one) => all + one, 0);

/** What AWS has not returned by then is left out. */
const DEADLINE_MILLISECONDS = 30_000;

/** Reads each part by itself: where one fails, the others are shown. */
export async function readStatus(
  stage: OpenStage & { readonly status: Part<string> },
  now: number,
) {
  const deadline = AbortSignal.timeout(DEADLINE_MILLISECONDS);
  const late = once(deadline, 'abort').then(() => ({ unread: 'no response in time' }));
  const logs = stage.open(CloudWatchLogsClient);
  // In seconds.
  const endTime = Math.floor(now / 1_000);
  const query: Query = (names, lines, hours = 1) => {
    const period = { startTime: endTime - hours * 3_600, endTime };
    return runQuery(logs, names, { ...period, queryString: lines.join('\n| ') }, deadline);
  };
  const { watchStack, accessLog, functionLogs } = toNames(stage.stage);
  const readings = {
    watch: describeStack(stage.open(CloudFormationClient), watchStack).then(
      // Nothing if it was never deployed.
      (stack) => stack?.StackStatus ?? '',
    ),
    alarms: readAlarms(stage),
    live: readLive(stage),
    deployments: findDeployments(stage),
    refused: readRefusedVersions(stage, query),
    stopped: readStopped(stage),
    tables: readTableStates(stage),
    requests: readRequests(stage.stage, query),
    callers: query(functionLogs, callerQuery).then(summarizeCallers),
    addresses: query([accessLog], addressQuery).then(rankCallers),
    functions: readFunctions(stage, now),
    throttles: readThrottles(stage, now),
  };
  const parts = Object.entries(readings).map(
    async ([name, reading]) =>
      [name, await Promise.race([settle<unknown>(reading), late])] as const,
  );
  type Parts = { [Name in keyof typeof readings]: Part<Awaited<(typeof readings)[Name]>> };
  return { stack: stage.status, ...(Object.fromEntries(await Promise.all(parts)) as Parts) };
}

/** Descriptions have the form "Page: It means this. Do that." What to do is also in the runbook. */
async function readAlarms({ name: stackName, open }: OpenStage) {
  const pages = paginateDescribeAlarms(
    { client: open(CloudWatchClient) },
    { AlarmNamePrefix: `${stackName}-`, AlarmTypes: ['MetricAlarm', 'CompositeAlarm'] },
  );
  const found = await Array.fromAsync(pages);
  const alarms = found.flatMap(({ MetricAlarms = [] }) => MetricAlarms);
  // They send the mails of their parts, and say no more than those.
  const composite = found.flatMap(({ CompositeAlarms = [] }) => CompositeAlarms);
  const firing = alarms
    .filter(({ StateValue }) => StateValue === 'ALARM')
    .map((alarm) => {
      const { AlarmName = '', AlarmDescription = '', StateTransitionedTimestamp } = alarm;
      // These notify nobody and have no severity: only a running deployment looks at them.
      const unlabelled = /Rollback\d/.test(AlarmName) ? 'rollback' : '-';
      const [, label = unlabelled, text = AlarmDescription] =
        /^(Page|Ticket): (.*)$/s.exec(AlarmDescription) ?? [];
      const [means = text] = /^.+?\.(?= )/s.exec(text) ?? [];
      return {
        name: AlarmName.slice(stackName.length + 1),
        severity: label.toLowerCase(),
        since: StateTransitionedTimestamp?.toISOString() ?? '',
        means,
      };
    })
    // Pages first, then what has fired for longest.
    .sort(
      (one, other) =>
        Number(other.severity === 'page') - Number(one.severity === 'page') ||
        one.since.localeCompare(other.since),
    );
  const withoutData = alarms.filter(({ StateValue }) => StateValue === 'INSUFFICIENT_DATA').length;
  // Those of a rollback notify nobody.
  const own = [...alarms, ...composite].filter(({ AlarmDescription = '' }) =>
    isLabelled.test(AlarmDescription),
  );
  const topics = new Set(own.flatMap(({ AlarmActions = [] }) => AlarmActions));
  const unheard = await Promise.all([...topics].map((topic) => findUnheard(open, topic)));
  const muted = own.filter(({ ActionsEnabled }) => ActionsEnabled === false).length;
  return {
    total: alarms.length,
    withoutData,
    firing,
    /** Why alarms reach nobody, a line each. */
    silence: [
      ...(muted > 0 ? [`The actions of ${toCount(muted, 'alarm')} are turned off.`] : []),
      ...unheard.flatMap((line) => line ?? []),
    ],
  };
}

const isLabelled = /^(Page|Ticket): /;

/** Why a topic reaches nobody; nothing if it has a subscriber. */
async function findUnheard(open: OpenStage['open'], topic: string): Promise<string | undefined> {
  const name = topic.split(':').at(-1);
  const command = new GetTopicAttributesCommand({ TopicArn: topic });
  const found = await settle(open(SNSClient).send(command));
  if ('unread' in found) {
    return `Whether the topic ${name} has subscribers could not be read: ${found.unread}`;
  }
  const { SubscriptionsConfirmed, SubscriptionsPending = '0' } = found.value.Attributes ?? {};
  if (SubscriptionsConfirmed !== '0') return undefined;
  return `The topic ${name} has no subscribers: no subscription is confirmed, and ${SubscriptionsPending} pending.`;
}

/** The commits that serve requests, and where a rollback would go. */
async function readLive(stage: OpenStage) {
  const { functions, releases, knownBad, unread } = await readCode(stage);
  const moves = choosePrevious(functions, releases, knownBad) ?? [];
  const [target] = moves.filter((move) => !isDone(move));
  return {
    commits: findLiveCommits(functions),
    missing: findMissing(functions),
    /** When the newest version that serves requests was published. */
    publishedAt:
      functions
        .map(({ live }) => live.publishedAt)
        .sort()
        .at(-1) ?? '',
    /** Absent without an earlier version of other code, and after a rollback. */
    rollbackTarget: target && { commit: target.commit, publishedAt: target.to.publishedAt },
    /** The commit that was deployed last, if a rollback has replaced it. */
    rolledBackFrom: moves.length > 0 && !target ? releases[0]?.commit : undefined,
    /** The commits that were rolled back, newest first. */
    knownBad: [...new Set(Array.from(knownBad, ({ commit }) => commit))],
    /** What these facts lack, a line each. */
    unread: unread.map(({ what, why }) => `${what}: ${why}`),
  };
}

/** Why new versions failed the pre-traffic check within a day, newest first, if the deployment was rolled back. */
async function readRefusedVersions(
  { stage, status }: OpenStage & { readonly status: Part<string> },
  query: Query,
): Promise<string[]> {
  if (!('value' in status && status.value.startsWith('UPDATE_ROLLBACK'))) return [];
  const lines = ['filter level = "ERROR"', 'fields message', 'sort @timestamp desc', 'limit 3'];
  const reading = query([toNames(stage).toFunctionLog('hook')], lines, 24);
  // A stage that moves at once has no hook.
  const rows = (await ignoring('ResourceNotFoundException', reading)) ?? [];
  return rows.flatMap(({ message }) => (message ? [hideSecrets(message)] : []));
}

/** The operations that may not run, although the settings let them, as after "Stop writes" in infra/RUNBOOK.md. */
async function readStopped({ stage, open }: OpenStage): Promise<OperationId[]> {
  const client = open(LambdaClient);
  const reserved = await Promise.all(
    operationIds.map((id) => {
      const FunctionName = toNames(stage).toFunction(id);
      const reading = client.send(new GetFunctionConcurrencyCommand({ FunctionName }));
      return ignoring('ResourceNotFoundException', reading);
    }),
  );
  return operationIds.filter(
    (id, index) =>
      reserved[index]?.ReservedConcurrentExecutions === 0 &&
      findReservedConcurrency(stage.settings, id) !== 0,
  );
}

/** The tables that requests cannot use, with their state: `missing`, or such as `CREATING`. */
async function readTableStates({ stage, open }: OpenStage) {
  const client = open(DynamoDBClient);
  const states = tableNames.map(async (name) => {
    const table = findTableName(stage, name);
    const reading = client.send(new DescribeTableCommand({ TableName: table }));
    const found = await ignoring('ResourceNotFoundException', reading);
    return { table, state: found?.Table?.TableStatus ?? 'missing' };
  });
  // A table whose settings change serves all requests.
  return (await Promise.all(states)).filter(({ state }) => !/^(ACTIVE|UPDATING)$/.test(state));
}

/** The operations that crash, that Lambda refuses, or that are slow: an alarm on all of them does not name them. */
async function readFunctions({ stage, open }: OpenStage, now: number) {
  const { stack, toFunction } = toNames(stage);
  const metrics = operationIds.flatMap((id) => {
    const Dimensions = [{ Name: 'FunctionName', Value: toFunction(id) }];
    const ofLambda = (MetricName: string) => ({ Namespace: 'AWS/Lambda', MetricName, Dimensions });
    const time = operations[id].streamed
      ? { Namespace: stack, MetricName: `${id}FirstByte` }
      : ofLambda('Duration');
    return [
      { label: `${id} Errors`, ...ofLambda('Errors') },
      { label: `${id} Throttles`, ...ofLambda('Throttles') },
      { label: `${id} p99`, statistic: 'p99', ...time },
    ];
  });
  const found = await readSums(open(CloudWatchClient), metrics, now, 5 * MINUTE);
  return operationIds
    .map((operation) => ({
      operation,
      crashed: sum(found.get(`${operation} Errors`)),
      refused: sum(found.get(`${operation} Throttles`)),
      /** Of its five slowest minutes. */
      milliseconds: Math.round(Math.max(0, ...(found.get(`${operation} p99`) ?? []))),
      objective: operationSettings[operation].latencyMilliseconds,
    }))
    .filter((one) => one.crashed + one.refused > 0 || one.milliseconds >= one.objective);
}

/**
 * The limits for which DynamoDB throttles an on-demand table, as they stand in the names of its metrics:
 * https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/TroubleshootingThrottling-cloudwatch.html
 */
const limits = ['MaxOnDemandThroughput', 'KeyRangeThroughput', 'AccountLimit'] as const;

/** Both kinds of calls to each table. */
const accesses = tableNames.flatMap((table) => [
  { table, access: 'read', kind: 'Read' } as const,
  { table, access: 'write', kind: 'Write' } as const,
]);

/** The tables that DynamoDB throttled in the last hour, for reads or for writes. */
async function readThrottles({ stage, open }: OpenStage, now: number) {
  const metrics = accesses.flatMap(({ table, kind }) =>
    ['', ...limits]
      .map((limit) => `${kind}${limit}ThrottleEvents`)
      .concat(`Consumed${kind}CapacityUnits`)
      .map((MetricName) => ({
        label: `${table} ${MetricName}`,
        Namespace: 'AWS/DynamoDB',
        MetricName,
        Dimensions: [{ Name: 'TableName', Value: findTableName(stage, table) }],
      })),
  );
  const sums = await readSums(open(CloudWatchClient), metrics, now, MINUTE);
  return accesses
    .map(({ table, access, kind }) => {
      const units = sums.get(`${table} Consumed${kind}CapacityUnits`) ?? [];
      const countEvents = (limit: string) =>
        sum(sums.get(`${table} ${kind}${limit}ThrottleEvents`));
      return {
        table: findTableName(stage, table),
        access,
        throttled: countEvents(''),
        /** Units a second in the busiest minute. */
        peak: Math.max(0, ...units) / MINUTE,
        maximum: stage.settings.maximumUnitsPerSecond[table][access],
        limit: limits
          .filter((limit) => countEvents(limit) > 0)
          .sort((one, other) => countEvents(other) - countEvents(one))[0],
      };
    })
    .filter(({ throttled }) => throttled > 0);
}
