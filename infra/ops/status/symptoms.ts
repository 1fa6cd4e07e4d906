import type { Part } from '../../cli/stageStack.ts';
import type { Stage } from '../../stages/stages.ts';
import type { Facts, Status } from './readStatus.ts';
import * as commands from './rowCommands.ts';

/** An alarm looks back on four hours at most, and a deployment takes some minutes. */
const SOON_MILLISECONDS = 5 * 3_600_000;

/** From this share on, the maximum counts as reached: DynamoDB treats it as a target. */
const NEAR_MAXIMUM = 0.8;

/** From this share of requests on, an operation fails, or a client is too fast. */
const MANY = 0.05;

/** Alarms that new code can cause. */
const failing = /^((\w+-)?server-errors|\w+-failing|client-errors(-\d)?|latency|duration|crashes)$/;

/** Errors that DynamoDB, or the way to it, has by itself. */
const ofAws =
  /^(InternalServerError|InternalFailure|ServiceUnavailable|TimeoutError|\w+: .*(E(CONN|HOST|NET)\w+|ENOTFOUND|EAI_AGAIN|EPIPE|socket hang up))/;

/** Errors of a table at its maximum, or of many who want one item. */
const ofThrottle =
  /^(Throttling|ProvisionedThroughputExceeded|RequestLimitExceeded|TransactionConflict|TransactionCanceled)/;

function isAtMaximum({ limit, peak, maximum }: commands.Throttled): boolean {
  return (
    limit === 'MaxOnDemandThroughput' ||
    limit === 'AccountLimit' ||
    (limit === undefined && peak >= NEAR_MAXIMUM * maximum)
  );
}

const isFiring = ({ alarms }: Facts, names: RegExp) =>
  alarms?.firing.some(({ name }) => names.test(name)) ?? false;

function isAwsDown({ requests }: Facts): boolean {
  const { operations = [], errors = [] } = requests ?? {};
  const called = operations.filter(({ requests }) => requests > 0);
  return (
    called.length > 1 &&
    called.every(({ operation, requests, failed }) => {
      const cause = errors.find((error) => error.operation === operation)?.cause ?? '';
      return failed >= MANY * requests && ofAws.test(cause);
    })
  );
}

function failsSinceRelease({ alarms, live, tables = [], requests }: Facts): boolean {
  const { errors = [] } = requests ?? {};
  // Earlier code would meet the same: a missing table, or one that throttles.
  const isThrottled = errors.length > 0 && errors.every(({ cause }) => ofThrottle.test(cause));
  const isOfTable = tables.length > 0 || isThrottled;
  if (!live || live.rolledBackFrom !== undefined || isOfTable) return false;
  const from = Date.parse(live.publishedAt);
  return (alarms?.firing ?? []).some(({ name, severity, since }) => {
    const delay = Date.parse(since) - from;
    const isCause = severity === 'rollback' || failing.test(name);
    return isCause && delay >= 0 && delay <= SOON_MILLISECONDS;
  });
}

function isCrowd(facts: Facts): boolean {
  return (
    isFiring(facts, /^transaction-conflicts$/) ||
    (facts.throttles ?? []).some(
      ({ limit, peak, maximum }) =>
        limit === 'KeyRangeThroughput' || (limit === undefined && peak < NEAR_MAXIMUM * maximum),
    )
  );
}

/** The rows at the top of `infra/RUNBOOK.md`, with when they apply. If several do, the first comes first. */
export const symptoms: readonly {
  readonly title: string;
  readonly applies: (facts: Facts) => boolean;
  /** Lines to paste, with its advice as comments. */
  readonly commands: (facts: Facts, stage: Stage) => string[];
}[] = [
  {
    title: 'AWS is down',
    applies: isAwsDown,
    commands: (facts, stage) => [
      '# Wait, without a rollback: https://health.aws.amazon.com/health/status',
      ...(failsSinceRelease(facts)
        ? [`# If that shows no outage, take row 6: npx petstore rollback --stage ${stage.name}`]
        : []),
    ],
  },
  {
    title: 'A deployment failed',
    applies: ({ stack = '', watch = '', refused = [] }) =>
      refused.length > 0 || [stack, watch].some((one) => /ROLLBACK|FAILED/.test(one)),
    commands: commands.endDeployment,
  },
  {
    title: 'An operation is stopped',
    applies: ({ stopped = [] }) => stopped.length > 0,
    commands: commands.undoStop,
  },
  {
    title: 'A table is at its maximum',
    applies: ({ throttles = [] }) => throttles.some(isAtMaximum),
    commands: ({ throttles = [] }, stage) =>
      throttles.filter(isAtMaximum).flatMap((one) => commands.raiseMaximum(one, stage)),
  },
  {
    title: 'Many buyers want one pet',
    applies: isCrowd,
    commands: () => [
      '# Wait. Block an address only if no known client has it: "Stop a client" in infra/RUNBOOK.md',
    ],
  },
  {
    title: 'New code fails',
    applies: (facts) => failsSinceRelease(facts) && !isAwsDown(facts),
    commands: commands.rollBack,
  },
  {
    title: 'A client is too fast',
    applies: (facts) =>
      isFiring(facts, /^(throttled-requests|check-throttled|rate-limited-requests)$/) ||
      (facts.addresses ?? []).some(({ requests, statuses }) =>
        statuses.some(({ status, count }) => status === '429' && count >= MANY * requests),
      ),
    // In a crowd, the busiest key is that of the shop where all of them buy.
    commands: (facts, stage) => commands.stopClient(facts, stage, !isCrowd(facts)),
  },
  {
    title: 'A key may have leaked',
    applies: (facts) => isFiring(facts, /^(unauthorized|forbidden)-requests$/),
    commands: commands.replaceKey,
  },
  {
    title: 'A table is lost',
    applies: ({ tables = [], requests }) =>
      tables.length > 0 ||
      (requests?.errors.some(({ cause }) => cause.startsWith('ResourceNotFoundException')) ??
        false),
    commands: commands.restoreTables,
  },
  {
    title: 'Only our own checks fail',
    applies: (facts) =>
      (facts.requests?.refusedChecks ?? 0) > 0 ||
      (isFiring(facts, /^(check-failed|no-requests)$/) && !isFiring(facts, failing)),
    commands: ({ requests }, { name }) =>
      requests?.refusedChecks
        ? [`npx petstore keys check --stage ${name}`]
        : [
            '# If this names an empty table, take row 9:',
            `aws logs tail /aws/lambda/petstore-${name}-check --since 15m`,
            `npx petstore smoke --stage ${name}`,
          ],
  },
];

/** The rows of the runbook that apply, by their numbers. */
export function findRows(stage: Stage, status: Status) {
  const known = Object.entries(status).map(([name, part]: [string, Part<unknown>]) => [
    name,
    'value' in part ? part.value : undefined,
  ]);
  const facts: Facts = Object.fromEntries(known);
  return symptoms.flatMap(({ title, applies, commands: toCommands }, index) =>
    applies(facts) ? [{ row: index + 1, title, commands: toCommands(facts, stage) }] : [],
  );
}

export type Row = ReturnType<typeof findRows>[number];
