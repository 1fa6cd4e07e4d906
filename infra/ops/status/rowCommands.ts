import { isIP } from 'node:net';
import { findReservedConcurrency } from '../../stages/concurrency.ts';
import { findTableName, toBlockedOutput, toNames } from '../../stages/resourceNames.ts';
import type { Stage } from '../../stages/stages.ts';
import { tableNames } from '../../stages/tables.ts';
import type { Facts } from './readStatus.ts';

// The commands of the runbook's rows, filled in from what `status` shows.

export type Throttled = NonNullable<Facts['throttles']>[number];

/** A line of the AWS CLI, in the stage's region. */
function toAws({ settings: { region } }: Stage, line: string): string {
  return `aws ${line}${region ? ` --region ${region}` : ''}`;
}

/** For the state of each stack, as "A deployment failed" in infra/RUNBOOK.md. */
export function endDeployment({ stack = '', watch = '', live }: Facts, stage: Stage): string[] {
  const names = toNames(stage);
  // After a rollback, `rollback-stack` would bring the bad code back.
  const ofService =
    stack === 'UPDATE_FAILED' && live?.rolledBackFrom !== undefined
      ? [`npx petstore rollback --stage ${stage.name}`]
      : endUpdate(stage, names.stack, stack);
  return [...ofService, ...endUpdate(stage, names.watchStack, watch)];
}

function endUpdate(stage: Stage, stack: string, state: string): string[] {
  const toLine = (words: string) => [toAws(stage, `cloudformation ${words} --stack-name ${stack}`)];
  switch (state) {
    case 'UPDATE_ROLLBACK_COMPLETE':
      return ['# Fix what LIVE says. Then, as an administrator:', `npm run deploy ${stack}`];
    case 'UPDATE_ROLLBACK_FAILED':
      return toLine('continue-update-rollback');
    case 'UPDATE_ROLLBACK_IN_PROGRESS':
    case 'UPDATE_ROLLBACK_COMPLETE_CLEANUP_IN_PROGRESS':
      return toLine('wait stack-rollback-complete');
    case 'UPDATE_FAILED':
    case 'CREATE_FAILED':
      return toLine('rollback-stack');
    case 'DELETE_FAILED':
      return [
        '# Unblock what its events name. Then, as an administrator:',
        ...toLine('delete-stack'),
      ];
    default:
      return /ROLLBACK/.test(state)
        ? [`# ${stack}: "When a first deployment fails" in infra/OPERATIONS.md`]
        : [];
  }
}

export function undoStop({ stopped = [] }: Facts, stage: Stage): string[] {
  const lines = stopped.map((id) => {
    const usual = findReservedConcurrency(stage.settings, id);
    const words = usual
      ? `put-function-concurrency --reserved-concurrent-executions ${usual}`
      : 'delete-function-concurrency';
    return toAws(stage, `lambda ${words} --function-name ${toNames(stage).toFunction(id)}`);
  });
  return ['# Once whoever stopped it agrees:', ...lines];
}

/** Twice the maximum, or twice what was used where it has been raised already. */
export function raiseMaximum({ table, access, peak, maximum, limit }: Throttled, stage: Stage) {
  if (limit === 'AccountLimit')
    return [`# As an administrator, ask AWS for a higher quota of ${table}`];
  const option = access === 'read' ? 'MaxReadRequestUnits' : 'MaxWriteRequestUnits';
  const units = 2 * Math.max(maximum, Math.ceil(peak));
  const words = `--table-name ${table} --on-demand-throughput ${option}=${units}`;
  return [toAws(stage, `dynamodb update-table ${words}`)];
}

export function rollBack({ live, deployments }: Facts, stage: Stage): string[] {
  if (live?.rollbackTarget || deployments?.length !== 0) {
    return [`npx petstore rollback --stage ${stage.name}`];
  }
  const advice = '# There is no earlier version. From the last good commit, as an administrator:';
  return [advice, `npm run deploy ${toNames(stage).stack}`];
}

type Callers = NonNullable<Facts['addresses']>;

/** The key with the most responses of these statuses, by default of all. A key of an unknown id has no record. */
function findBusiestKey({ callers }: Facts, statuses = /./) {
  return rank(callers?.keys ?? [], statuses)
    .map((caller) => /^(?!unknown key )(.*) \((\w{10})\)$/.exec(caller) ?? [])
    .map(([, name = '', keyId = '']) => ({ name, keyId }))
    .find(({ keyId }) => keyId !== '');
}

function rank(callers: Callers, statuses: RegExp): string[] {
  const counted = callers.map(({ name, statuses: own }) => ({
    name,
    count: own.reduce((sum, { status, count }) => sum + (statuses.test(status) ? count : 0), 0),
  }));
  const found = counted.filter(({ count }) => count > 0);
  return found.sort((one, other) => other.count - one.count).map(({ name }) => name);
}

export function stopClient(facts: Facts, stage: Stage, mayBeKey: boolean): string[] {
  const key = mayBeKey ? findBusiestKey(facts) : undefined;
  const address = rank(facts.addresses ?? [], /^429$/).find(isIP);
  return [
    ...(key
      ? [
          `# If ${key.name} is not a known client, revoke its key. It asks first:`,
          `npx petstore keys revoke ${key.keyId} --stage ${stage.name}`,
          '# If it is known, and must be stopped, replace its key, and send its owner the new one:',
          rotateCommand(stage, key.keyId),
        ]
      : []),
    ...blockAddress(stage, address),
  ];
}

/** Behind a proxy, the firewall sees only the proxy's address, which must not be blocked. */
function blockAddress(stage: Stage, address?: string): string[] {
  const { firewall, baseAddress } = stage.settings;
  if (!address || !firewall || baseAddress) {
    const one = address ?? 'the busiest address';
    return [`# If no known client has ${one}, block it: "Stop a client" in infra/RUNBOOK.md`];
  }
  const family = isIP(address) === 6 ? 6 : 4;
  const names = toNames(stage);
  const set = `--scope REGIONAL --name ${names.toBlockedSet(family)}`;
  const output = `"Stacks[0].Outputs[?OutputKey=='${toBlockedOutput(family)}'].OutputValue"`;
  const id = toAws(
    stage,
    `cloudformation describe-stacks --stack-name ${names.stack} --query ${output} --output text`,
  );
  const read = toAws(
    stage,
    `wafv2 get-ip-set ${set} --id "$(${id})" --query '[LockToken, IPSet.Id, IPSet.Addresses][]' --output text`,
  );
  return [
    `# If no known client has ${address}, block it. The second line keeps what is blocked already:`,
    `set -- $(${read})`,
    toAws(
      stage,
      `wafv2 update-ip-set ${set} --lock-token "$1" --id "$2" --addresses "\${@:3}" ${toRange(address)}`,
    ),
  ];
}

/** One address, or of IPv6 the /64 that its client usually has. WAF takes the first address of a range only. */
function toRange(address: string): string {
  if (isIP(address) === 4) return `${address}/32`;
  const [left = [], right = []] = address
    .split('::')
    .map((part) => part.split(':').filter((group) => group !== ''));
  const zeros = Array.from({ length: 8 - left.length - right.length }, () => '0');
  return `${[...left, ...zeros, ...right].slice(0, 4).join(':')}::/64`;
}

export function replaceKey(facts: Facts, stage: Stage): string[] {
  const key = findBusiestKey(facts, /^40[13]$/);
  const leaked = key ? `the key of ${key.name}` : 'a key';
  return [`# If ${leaked} leaked, replace it. It asks first:`, rotateCommand(stage, key?.keyId)];
}

/** @param key a leaked one, which stops working within a minute; its successor goes to its owner */
export function rotateCommand({ name }: Stage, key = 'KEY'): string {
  return `npx petstore keys rotate ${key} --grace 0s --stage ${name}`;
}

export function restoreTables({ tables = [] }: Facts, stage: Stage): string[] {
  const { maximumUnitsPerSecond, protectsData } = stage.settings;
  // Settings may be wrong here.
  const maximums: Partial<typeof maximumUnitsPerSecond> = maximumUnitsPerSecond ?? {};
  const missing = tableNames.filter((name) =>
    tables.some(({ table, state }) => state === 'missing' && table === findTableName(stage, name)),
  );
  const lines = missing.flatMap((name) => {
    const table = findTableName(stage, name);
    const { read, write } = maximums[name] ?? {};
    const option = ` --on-demand-throughput-override MaxReadRequestUnits=${read},MaxWriteRequestUnits=${write}`;
    const backup = `$(${toAws(stage, `dynamodb list-backups --backup-type SYSTEM --table-name "$restored" --query 'sort_by(BackupSummaries,&BackupCreationDateTime)[-1].BackupArn' --output text`)})`;
    const words = `--target-table-name "$restored"${maximums[name] ? option : ''} --backup-arn "${backup}"`;
    // The lines that follow in infra/OPERATIONS.md need the variable.
    return [`restored=${table}`, toAws(stage, `dynamodb restore-table-from-backup ${words}`)];
  });
  return [
    ...(lines.length > 0 && protectsData ? ['# As an administrator:', ...lines] : []),
    '# The next lines: "A deleted table" in infra/OPERATIONS.md. Wrong items: "Restore a table" there',
  ];
}
