import { toCount } from '../../cli/output.ts';
import type { Part } from '../../cli/stageStack.ts';
import { toReservedConcurrency } from '../../stages/concurrency.ts';
import { toUsedTableName } from '../../stages/resourceNames.ts';
import { type Stage, stagesFile } from '../../stages/stages.ts';
import type { Night } from './readNight.ts';

export interface NextStep {
  readonly why: string;
  /** What to type; nothing where no command helps. In the rules, the stage's name is `STAGE`. */
  readonly command?: string | undefined;
}

/** From publication until a deployment has moved all requests, and CloudWatch has counted them. */
const ROLLOUT_MILLISECONDS = 15 * 60_000;

/** From this share on, the maximum counts as reached: DynamoDB treats it as a target. */
const NEAR_MAXIMUM = 0.8;

/** From this share of failed requests on, the operation itself counts as failing. */
const FAILING = 0.05;

/** Errors that DynamoDB, or the way to it, has by itself. */
const ofAws =
  /^(InternalServerError|InternalFailure|ServiceUnavailable|TimeoutError|\w+: .*(E(CONN|HOST|NET)\w+|ENOTFOUND|EAI_AGAIN|EPIPE|socket hang up))/;
const ofThrottling =
  /^(Throttling|ProvisionedThroughputExceeded|RequestLimitExceeded)|\[.*(Throttling|ProvisionedThroughput)/;

/** Alarms that new code can cause. */
const failing = /^((\w+-)?server-errors|\w+-failing|client-errors(-\d)?|latency|duration|crashes)$/;

/** What to do next, by the first rule that fits. */
export function toNextStep(stage: Stage, night: Night): NextStep {
  const facts = toFacts(stage, night);
  const { why, command } =
    awaitStack(facts) ??
    resumeOperation(facts) ??
    awaitAws(facts) ??
    relieveTable(facts) ??
    rollBack(facts) ??
    callFromOutside(facts) ??
    findError(facts) ??
    followAlarm(facts) ??
    awaitWatch(facts) ??
    lookAgain(facts);
  const fillIn = (text: string) => text.replaceAll(/(?<=petstore-|--stage )STAGE/g, stage.name);
  return { why: fillIn(why), command: command && fillIn(command) };
}

type Facts = ReturnType<typeof toFacts>;

/** What is known. Rules about what could not be read do not fit. */
function toFacts(stage: Stage, night: Night) {
  const { settings } = stage;
  const { firing = [], withoutData = 0, total } = toValue(night.alarms) ?? {};
  const { operations = [], errors = [], refusedChecks = 0 } = toValue(night.requests) ?? {};
  const stopped = toValue(night.stopped) ?? [];
  const functions = toValue(night.functions) ?? [];
  const running = operations.filter(({ operation }) => !stopped.includes(operation));
  return {
    ...{ stage, settings, firing, withoutData, total, errors, refusedChecks, stopped },
    status: toValue(night.stack),
    watch: toValue(night.watch),
    live: toValue(night.live),
    refused: toValue(night.refused)?.[0],
    throttles: toValue(night.throttles) ?? [],
    mostRefused: functions.toSorted((one, other) => other.refused - one.refused)[0]?.operation,
    isMoving: (toValue(night.deployments)?.length ?? 0) > 0,
    isWhole: isWhole(night),
    failures: firing.filter(({ name, severity }) => severity === 'rollback' || failing.test(name)),
    /** The failed requests of operations that were not stopped. */
    failed: running.reduce((sum, one) => sum + one.failed, 0),
    /** How many operations are called. */
    called: running.filter(({ requests }) => requests > 0).length,
    /** The operations that fail, each with its most frequent error. */
    failingOperations: running
      .filter(({ requests, failed }) => failed > 0 && failed >= FAILING * requests)
      .map(({ operation }) => ({
        operation,
        cause: errors.find((error) => error.operation === operation)?.cause,
      })),
  };
}

/** By the status of a stack. Until it is taken back, it accepts no other deployment. */
function toStackStep(stack: string, status: string): NextStep | undefined {
  const failed: NextStep = {
    why: `The first deployment of ${stack} failed, and the stack takes no other. Find the cause by "When a first deployment fails" in infra/OPERATIONS.md, and correct it. Then deploy again, which deletes the failed stack first:`,
    command: `aws cloudformation update-termination-protection --no-enable-termination-protection --stack-name ${stack} && npm run deploy petstore-STAGE-watch -- --import-existing-resources`,
  };
  const steps: Readonly<Record<string, NextStep>> = {
    UPDATE_ROLLBACK_IN_PROGRESS: {
      why: 'CloudFormation is taking the deployment back. Wait, and look again:',
      command: `aws cloudformation wait stack-rollback-complete --stack-name ${stack}`,
    },
    UPDATE_ROLLBACK_FAILED: {
      why: `CloudFormation could not take the last deployment of ${stack} back. Until it has, none works:`,
      command: `aws cloudformation continue-update-rollback --stack-name ${stack}`,
    },
    ROLLBACK_IN_PROGRESS: {
      why: `CloudFormation is taking the first deployment of ${stack} back, which takes some minutes. Look again:`,
      command: 'npx petstore night --stage STAGE',
    },
    ROLLBACK_FAILED: failed,
    ROLLBACK_COMPLETE: failed,
    DELETE_FAILED: {
      why: `${stack} could not be deleted. Its events say which resource is in use; free that, and delete it again:`,
      command: `aws cloudformation delete-stack --stack-name ${stack}`,
    },
    CREATE_FAILED: {
      why: `The first deployment of ${stack} failed, and was not taken back. Do that, and look again:`,
      command: `aws cloudformation rollback-stack --stack-name ${stack}`,
    },
  };
  return steps[status];
}

function awaitStack({ status = '', refused, firing, failed }: Facts): NextStep | undefined {
  // A version that crashed when the hook called it makes a ticket.
  const isQuiet = failed === 0 && firing.every(({ name }) => name === 'crashes');
  const step =
    status === 'UPDATE_ROLLBACK_COMPLETE' && refused && isQuiet
      ? takenBack
      : toStackStep('petstore-STAGE', status);
  return step && { ...step, why: `${refused?.replace(/\.?$/, '. ') ?? ''}${step.why}` };
}

const takenBack: NextStep = {
  why: 'No client noticed it, and the deployment was taken back. Correct it, and deploy again:',
  command: 'npm run deploy petstore-STAGE',
};

/** The stack of what watches the stage serves no client. */
function awaitWatch({ watch = '' }: Facts): NextStep | undefined {
  return toStackStep('petstore-STAGE-watch', watch);
}

/** If nothing fails but what somebody has stopped, the one thing to do is to undo that. */
function resumeOperation({ settings, stopped, failed }: Facts): NextStep | undefined {
  const [operation] = stopped;
  if (operation === undefined || failed > 0) return undefined;
  const reserved = toReservedConcurrency(settings, operation);
  const limit = reserved && ` --reserved-concurrent-executions ${reserved}`;
  return {
    why: `${operation} was stopped on purpose: Lambda runs no call of it. Once the reason is gone, undo it:`,
    command: `aws lambda ${limit ? 'put' : 'delete'}-function-concurrency --function-name petstore-STAGE-${operation}${limit ?? ''}`,
  };
}

/** If all operations fail for the same reason, and it is AWS's, no other code helps. */
function awaitAws({ called, failingOperations }: Facts): NextStep | undefined {
  const causes = new Set(failingOperations.map(({ cause = '' }) => cause.split(':')[0]));
  const [one] = failingOperations;
  const isOfAll = failingOperations.length > 1 && failingOperations.length === called;
  if (!isOfAll || causes.size > 1 || !ofAws.test(one?.cause ?? '')) return undefined;
  return {
    why: `Every operation fails, and for the same reason: ${one?.cause}. DynamoDB, or the way to it, is out of order. Do not roll back. Read the AWS Health Dashboard, https://health.aws.amazon.com/health/status, and wait: the functions need no restart.`,
  };
}

/** A table is throttled, by the limit that DynamoDB names in its metrics. */
function relieveTable(facts: Facts): NextStep | undefined {
  const { stage, throttles, firing, failures, failed, failingOperations } = facts;
  const [worst] = throttles.toSorted((one, other) => other.throttled - one.throttled);
  if (!worst) return undefined;
  const { table, access, throttled, peak, maximum, limit, paths } = worst;
  const isNamed = firing.some(({ name }) => name === 'table-throttles');
  // Throttling causes at least one event for each failed request.
  const isEnough = throttled >= failed && (firing.length === 0 || failures.length > 0);
  const known = failingOperations.flatMap(({ cause }) => cause ?? []);
  const isCause =
    known.length === 0 ? isEnough || isNamed : known.some((one) => ofThrottling.test(one));
  if (!isCause) return undefined;
  if (limit === 'AccountLimit') {
    const why = `The table ${table} is at the account's quota for the ${access} units of a table. Ask AWS for a higher one:`;
    return { why, command: 'aws service-quotas list-service-quotas --service-code dynamodb' };
  }
  if (limit === 'KeyRangeThroughput') {
    const most = paths.length > 0 ? `Most refused: ${paths.join(', ')}. ` : '';
    const why = `One pet or entry of the table ${table} is ${access === 'read' ? 'read' : 'written'} too often. ${most}Look for the client, and stop it:`;
    return { why, command: 'npx petstore logs --stage STAGE --status 503' };
  }
  if (limit === 'MaxOnDemandThroughput' || peak >= NEAR_MAXIMUM * maximum) {
    const why = `The table ${table} is at its maximum of ${toCount(maximum)} ${access} units a second. Slow down an import; or raise the maximum at once, and maximumUnitsPerSecond in ${stagesFile} by day:`;
    const member = access === 'read' ? 'MaxReadRequestUnits' : 'MaxWriteRequestUnits';
    const units = Math.ceil(2 * Math.max(maximum, peak));
    const name = toUsedTableName(stage, table);
    return {
      why,
      command: `aws dynamodb update-table --table-name ${name} --on-demand-throughput ${member}=${units}`,
    };
  }
  const why = `DynamoDB throttles the table ${table} below its maximum. It grows within half an hour: wait. If it stays, one key is read or written too often; look for it:`;
  return { why, command: 'npx petstore logs --stage STAGE --status 503' };
}

/** If an alarm began soon after new code came, for the time that it looks back on, the code is the likely cause. */
function rollBack({ live, failures, isMoving }: Facts): NextStep | undefined {
  if (!live || live.rolledBack !== undefined) return undefined;
  const [first] = failures
    .map((one) => ({ ...one, delay: Date.parse(one.since) - Date.parse(live.codeSince) }))
    .filter(({ delay, window }) => delay >= 0 && delay <= window + ROLLOUT_MILLISECONDS)
    .sort((one, other) => one.delay - other.delay);
  if (!first) return undefined;
  const command = 'npx petstore rollback --stage STAGE';
  const began = `${first.name} began to fire ${Math.round(first.delay / 60_000)} min after ${live.commit} was published.`;
  if (isMoving) {
    const why = `${began} Its deployment is still moving requests to it. Stop that, which moves them back:`;
    return { why, command };
  }
  if (live.previous) {
    return {
      why: `${began} Roll back to ${live.previous.commit || 'the version before'}:`,
      command,
    };
  }
  const why = `${began} No earlier code is left: check out the good commit, and deploy it:`;
  return { why, command: 'npm run deploy petstore-STAGE' };
}

/** If only the scheduled check fails, the cause is its own key, or lies in front of the functions. */
function callFromOutside({ refusedChecks, firing, failures }: Facts): NextStep | undefined {
  const alarm = firing.find(({ name }) => name === 'check-failed' || name === 'silence');
  if (!alarm) return undefined;
  if (refusedChecks > 0) {
    const why = 'The scheduled check gets 401: its own key has ended or was revoked. Make another:';
    return { why, command: 'npx petstore keys check --stage STAGE' };
  }
  if (failures.length > 0) return undefined;
  const why = `${alarm.name} fires, and no other alarm says why. Call the service from outside:`;
  return { why, command: 'npx petstore smoke --stage STAGE --light' };
}

/** If neither new code nor a table explains the failures, look at one of them. */
function findError({ errors, firing, failures, failed }: Facts): NextStep | undefined {
  const isClientError = failures.every(({ name }) => name.startsWith('client-errors'));
  if (isClientError && (failed === 0 || firing.length > 0)) return undefined;
  const known = errors.find(({ requestId = 'warm-up' }) => requestId !== 'warm-up');
  const logs = 'npx petstore logs --stage STAGE';
  if (known) {
    const why = 'The most frequent error, with all that is known of one request:';
    return { why, command: `${logs} --request ${known.requestId}` };
  }
  return failed > 0
    ? { why: 'Look at the requests that fail:', command: `${logs} --status 5xx` }
    : { why: 'Look at how long the requests take:', command: `${logs} --since 15m` };
}

/** By the names of the other alarms. `OPERATION` is the one of which Lambda refused the most calls. */
const commands: readonly (readonly [name: RegExp, command: string])[] = [
  [/^key-ends-/, 'npx petstore keys list --expiring 30d --stage STAGE'],
  [/^certificate-ends-/, 'aws acm list-certificates'],
  [/^(check-throttled|throttled-requests)$/, 'npx petstore logs --stage STAGE --status 429'],
  [/^unauthorized-requests$/, 'npx petstore logs --stage STAGE --status 401'],
  [/^forbidden-requests$/, 'npx petstore logs --stage STAGE --status 403'],
  [/^client-errors/, 'npx petstore logs --stage STAGE --status 4xx'],
  [/^error-budget/, 'npx petstore logs --stage STAGE --status 5xx --since 24h'],
  [/^access-log-silent$/, 'npm run deploy petstore-STAGE'],
  [/^transaction-conflicts$/, 'npx petstore logs --stage STAGE --since 15m'],
  [/^inventory-entries$/, 'npx petstore costs check'],
  [/^account-concurrency$/, 'aws lambda get-account-settings'],
  [
    /^(lambda-throttles|reserved-concurrency)$/,
    'aws lambda get-function-concurrency --function-name petstore-STAGE-OPERATION',
  ],
];

function followAlarm({ firing: [first], mostRefused }: Facts): NextStep | undefined {
  if (!first) return undefined;
  const [, command] = commands.find(([name]) => name.test(first.name)) ?? [];
  return {
    why: `${first.name} fires. ${first.act}`,
    command: command?.replace('OPERATION', mostRefused ?? 'OPERATION'),
  };
}

function lookAgain(facts: Facts): NextStep {
  const { settings, isWhole, isMoving, withoutData, total } = facts;
  if (settings.raisesAlarms && total === 0) {
    const why = 'The stage has no alarms, so nobody is paged. Deploy them:';
    return { why, command: 'npm run deploy petstore-STAGE-watch' };
  }
  if (!isWhole || isMoving) {
    const why = isWhole
      ? 'Nothing fires. A deployment is under way, and takes itself back if its alarms fire. Look again:'
      : 'Something could not be read; its line above says why. When it can be, look again:';
    return { why, command: 'npx petstore night --stage STAGE' };
  }
  const why =
    withoutData > 0 && withoutData >= (total ?? 0) / 2
      ? `Nothing fires, but ${toCount(withoutData, 'alarm')} have no data: CloudWatch does not see the stage. Call the service from outside:`
      : 'Nothing fires. If you doubt it, call the service from outside:';
  return { why, command: 'npx petstore smoke --stage STAGE --light' };
}

/** Whether every part could be read. */
export function isWhole(night: Night): boolean {
  return Object.values(night).every((part) => 'value' in part);
}

export function toValue<Value>(part: Part<Value>): Value | undefined {
  return 'value' in part ? part.value : undefined;
}
