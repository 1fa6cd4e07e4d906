import { toCount } from '../../cli/progress.ts';
import type { Part } from '../../cli/stageStack.ts';
import { toStackName, toWatchStackName } from '../../stages/resourceNames.ts';
import { type Stage, stagesFile } from '../../stages/stages.ts';
import type { Night } from './readNight.ts';

export interface NextStep {
  /** Why it is the next one. */
  readonly why: string;
  /** What to type; nothing where no command helps. */
  readonly command?: string | undefined;
}

/** An alarm can notice a bad version this long after its publication: the slowest looks back four hours. */
const MAX_NOTICE_MILLISECONDS = 4 * 3_600_000;

/** From this share on, the maximum is what throttles: DynamoDB takes it for a target. */
const NEAR_MAXIMUM = 0.8;

/** Alarms that new code can cause. */
const failing = /^((\w+-)?server-errors|\w+-(failing-\dh|latency|duration|errors))$/;

/** What to do next, by the first rule that fits. */
export function toNextStep(stage: Stage, night: Night): NextStep {
  const facts = { stage: stage.name, stack: toStackName(stage), night, ...toFailures(night) };
  return (
    awaitStack(facts) ??
    rollBack(facts) ??
    relieveTable(facts) ??
    callFromOutside(facts) ??
    findError(facts) ??
    followAlarm(facts) ??
    lookAgain(facts, stage)
  );
}

function toFailures(night: Night) {
  const firing = toValue(night.alarms)?.firing ?? [];
  const { operations = [] } = toValue(night.requests) ?? {};
  return {
    firing,
    failures: firing.filter(({ name, severity }) => severity === 'rollback' || failing.test(name)),
    failed: operations.reduce((sum, one) => sum + one.failed, 0),
    isMoving: (toValue(night.deployments)?.length ?? 0) > 0,
  };
}

interface Facts extends ReturnType<typeof toFailures> {
  readonly stage: Stage['name'];
  readonly stack: string;
  readonly night: Night;
}

/** Until a stack is taken back, it accepts no other deployment. */
function awaitStack({ stack, night }: Facts): NextStep | undefined {
  const status = toValue(night.stack) ?? '';
  if (status.endsWith('ROLLBACK_IN_PROGRESS')) {
    const why = 'CloudFormation is taking the deployment back. Wait, and look again:';
    const command = `aws cloudformation wait stack-rollback-complete --stack-name ${stack}`;
    return { why, command };
  }
  if (status !== 'UPDATE_ROLLBACK_FAILED') return undefined;
  const why = 'CloudFormation could not take the last deployment back. Until it has, none works:';
  return { why, command: `aws cloudformation continue-update-rollback --stack-name ${stack}` };
}

/** If failures began after new code was published, the code is the likely cause. */
function rollBack({ stage, stack, night, failures, isMoving }: Facts): NextStep | undefined {
  // Pages come first, each severity by its beginning.
  const [first] = failures;
  const live = toValue(night.live);
  const delay = Date.parse(first?.since ?? '') - Date.parse(live?.publishedAt ?? '');
  const isRecent = delay >= 0 && delay <= MAX_NOTICE_MILLISECONDS;
  if (!first || !live || !isRecent || live.rolledBack !== undefined) return undefined;
  const command = `npx petstore rollback --stage ${stage}`;
  const began = `${first.name} began to fire ${Math.round(delay / 60_000)} min after ${live.commit} was published.`;
  if (isMoving) {
    const why = `${began} Its deployment is still moving requests to it. Stop that, which moves them back:`;
    return { why, command };
  }
  if (live.previous) return { why: `${began} Roll back to ${live.previous.commit}:`, command };
  const why = `${began} No earlier version is left: check out the good commit, and deploy it:`;
  return { why, command: `npm run deploy ${stack}` };
}

/** A table is throttled at its maximum, or below it while it grows, or because of one key. */
function relieveTable(facts: Facts): NextStep | undefined {
  const { stage, stack, night, firing, failures, failed } = facts;
  const throttles = toValue(night.throttles) ?? [];
  const [worst] = throttles.toSorted((one, other) => other.throttled - one.throttled);
  if (!worst) return undefined;
  const { table, access, throttled, peak, maximum } = worst;
  const isNamed = firing.some(({ name }) => name.endsWith('-table-throttles'));
  // Throttling causes at least one event for each failed request.
  const isCause = throttled >= failed && (firing.length === 0 || failures.length > 0);
  if (!isNamed && !isCause) return undefined;
  if (peak >= NEAR_MAXIMUM * maximum) {
    const why = `The table ${table} is at its maximum of ${toCount(maximum)} ${access} units a second. Slow down an import; or raise maximumUnitsPerSecond in ${stagesFile}, and deploy:`;
    return { why, command: `npm run deploy ${stack}` };
  }
  const why = `DynamoDB throttles the table ${table} below its maximum. It grows within half an hour: wait. If it stays, one key is read or written too often; look for it:`;
  return { why, command: `npx petstore logs --stage ${stage} --status 503` };
}

/** If only the scheduled check fails, the cause is its own key, or lies in front of the functions. */
function callFromOutside({ stage, night, firing, failures }: Facts): NextStep | undefined {
  const alarm = firing.find(({ name }) => name === 'check-failed' || name === 'silence');
  if (!alarm) return undefined;
  if ((toValue(night.requests)?.refusedChecks ?? 0) > 0) {
    const why = 'The scheduled check gets 401: its own key has ended or was revoked. Make another:';
    return { why, command: `npx petstore keys check --stage ${stage}` };
  }
  if (failures.length > 0) return undefined;
  const why = `${alarm.name} fires, and no other alarm says why. Call the service from outside:`;
  return { why, command: `npx petstore smoke --stage ${stage} --light` };
}

/** If neither new code nor a table explains the failures, look at one of them. */
function findError({ stage, night, firing, failures, failed }: Facts): NextStep | undefined {
  if (failures.length === 0 && (failed === 0 || firing.length > 0)) return undefined;
  const { errors = [] } = toValue(night.requests) ?? {};
  const known = errors.find(({ requestId = 'warm-up' }) => requestId !== 'warm-up');
  const logs = `npx petstore logs --stage ${stage}`;
  if (known) {
    const why = 'The most frequent error, with all that is known of one request:';
    return { why, command: `${logs} --request ${known.requestId}` };
  }
  if (failed > 0)
    return { why: 'Look at the requests that fail:', command: `${logs} --status 5xx` };
  return { why: 'Look at how long the requests take:', command: `${logs} --since 15m` };
}

/** By the names of the other alarms; `STAGE` and `OPERATION` are filled in. */
const commands: readonly (readonly [name: RegExp, command: string])[] = [
  [/^key-ends-/, 'npx petstore keys list --expiring 30d --stage STAGE'],
  [/^certificate-ends-/, 'aws acm list-certificates'],
  [/^(check-throttled|throttled-requests)$/, 'npx petstore logs --stage STAGE --status 429'],
  [/^unauthorized-requests$/, 'npx petstore logs --stage STAGE --status 401'],
  [/^forbidden-requests$/, 'npx petstore logs --stage STAGE --status 403'],
  [/^transaction-conflicts$/, 'npx petstore logs --stage STAGE --since 15m'],
  [/^inventory-entries$/, 'npx petstore costs check'],
  [/^account-concurrency$/, 'aws lambda get-account-settings'],
  [
    /^(\w+)-(throttles|concurrency)$/,
    'aws lambda get-function-concurrency --function-name petstore-STAGE-OPERATION',
  ],
];

function followAlarm({ stage, firing: [first] }: Facts): NextStep | undefined {
  if (!first) return undefined;
  const [pattern, command] = commands.find(([name]) => name.test(first.name)) ?? [];
  const operation = pattern?.exec(first.name)?.[1] ?? '';
  return {
    why: `${first.name} fires. ${first.act}`,
    command: command?.replace('STAGE', stage).replace('OPERATION', operation),
  };
}

function lookAgain({ stage, night, isMoving }: Facts, { settings }: Stage): NextStep {
  if (settings.raisesAlarms && toValue(night.alarms)?.total === 0) {
    const watch = toWatchStackName({ name: stage });
    const why = `${watch} has no alarms, so nobody is paged. Deploy it:`;
    return { why, command: `npm run deploy ${watch}` };
  }
  const command = `npx petstore night --stage ${stage}`;
  if (!isWhole(night)) {
    return {
      why: 'Something could not be read; its line above says why. When it can be, look again:',
      command,
    };
  }
  if (isMoving) {
    return {
      why: 'Nothing fires. A deployment is under way, and takes itself back if its alarms fire. Look again:',
      command,
    };
  }
  const why = 'Nothing fires. If you doubt it, call the service from outside:';
  return { why, command: `npx petstore smoke --stage ${stage} --light` };
}

/** Whether every part could be read. */
export function isWhole(night: Night): boolean {
  return Object.values(night).every((part) => 'value' in part);
}

export function toValue<Value>(part: Part<Value>): Value | undefined {
  return 'value' in part ? part.value : undefined;
}
