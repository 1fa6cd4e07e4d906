import { describe, expect, it, onTestFinished } from 'vitest';
import { runRollback } from '../../../../infra/ops/rollback/runRollback.ts';
import { stageNames } from '../../../../infra/stages/stages.ts';
import { type OperationId, operationIds } from '../../../../shared/contract/operations.ts';
import { skipBackOff } from '../../../support/faults/backOff.ts';
import { type Answers, AwsError, useAws } from '../aws.ts';
import { callOps, defineInterrupt, expectRefusal } from '../opsProcess.ts';
import { defineDeployedFunctions } from './deployedFunctions.ts';

const all = operationIds.length;
const getPet = 'petstore-production-getPet';

type Deployed = ReturnType<typeof defineDeployedFunctions>;
type Change = (deployed: Deployed) => unknown;

/** A deployed stage whose AWS answers some calls otherwise, and the command on it, which does not ask. */
async function open(
  change: (deployed: Deployed) => Answers = () => ({}),
  stage: 'production' | 'staging' = 'production',
) {
  const deployed = defineDeployedFunctions(`petstore-${stage}`);
  const aws = await useAws({ ...deployed.answers, ...change(deployed) });
  const call = (args: readonly string[], typed?: string) =>
    callOps(runRollback, ['--stage', stage, ...args], aws.variables, typed);
  const rollback = (...args: string[]) => call([...args, '--yes']);
  return { ...deployed, aws, call, rollback };
}

const everywhere = (version: string): Record<OperationId, string> =>
  Object.fromEntries(operationIds.map((id) => [id, version])) as Record<OperationId, string>;
const oneLine = (text: string) => expect.stringMatching(new RegExp(`^[^\n]*${text}[^\n]*\n$`));

/** Changes the versions of each function, newest last. */
function changeVersions(change: (versions: { Description: string }[]) => unknown): Change {
  return ({ versions }) => {
    for (const known of versions.values()) change(known);
  };
}
const describeSecond = (Description: string) =>
  changeVersions(([, second]) => Object.assign(second ?? {}, { Description }));
const leaveAlone: Change = () => {};
const dirty = describeSecond('aaaaaaaaaaa1-dirty');

describe('npm run rollback', () => {
  it('moves every alias to the commit before the live one, and says what to do next', async () => {
    const { rollback, live, aws } = await open();
    const { status, stdout, stderr } = await rollback();
    expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
    expect(live()).toEqual(everywhere('2'));
    expect(stdout).toMatch(/^listInventory +3 +ccccccccccc3 +2026-12-03 10:20Z +live$/m);
    expect(stdout).toMatch(/^ +2 +bbbbbbbbbbb2 +2026-12-02 10:20Z +<- goes here$/m);
    expect(stdout).toMatch(/^ +1 +aaaaaaaaaaa1 +2026-12-01 10:20Z$/m);
    expect(stdout).toContain('getPet goes to version 2.');
    expect(stdout).toContain("set rollout: 'atOnce' under production");
    expect(stdout).toContain('3. npm run deploy petstore-production\n  4. Put rollout back');
    expect(stdout).toContain('Not ccccccccccc3');

    const again = await rollback();
    expect(again).toMatchObject({ status: 0, stderr: '' });
    expect(again.stdout).toContain('nothing was moved');
    expect(again.stdout).toContain('npm run deploy petstore-production');
    expect(live()).toEqual(everywhere('2'));
    expect(aws.inputsOf('UpdateAlias')).toHaveLength(all);

    const undo = /^To undo: npm run rollback -- (.+)$/m.exec(stdout)?.[1]?.split(' ') ?? [];
    const undone = await rollback(...undo);
    expect(live()).toEqual(everywhere('3'));
    expect(undone.stdout).toContain('nothing else is to be done');
    expect(new Set(aws.calls.map(({ region }) => region))).toEqual(new Set(['eu-west-1']));
  });

  it.each<[string, Change, string, Partial<Record<OperationId, string>>]>([
    ['to a commit by its beginning', leaveAlone, '--to aaaaaaa', everywhere('1')],
    ['to a commit by its name', leaveAlone, '--to aaaaaaaaaaa1', everywhere('1')],
    ['to one by all digits', leaveAlone, `--to aaaaaaaaaaa1${'2'.repeat(28)}`, everywhere('1')],
    ['two', leaveAlone, '--to getPet=1 listOrders=2', { getPet: '1', listOrders: '2' }],
    ['to a commit, not to the same with changes', dirty, '--to aaaaaaaaaaa1', everywhere('1')],
    ['to a commit with changes', dirty, '--to aaaaaaaaaaa1-', everywhere('2')],
    [
      'past a commit that not every function has a version of',
      ({ versions }) => versions.get(getPet)?.splice(1, 1),
      '',
      everywhere('1'),
    ],
  ])('moves %s', async (what, change, typed, expected) => {
    const { rollback, live, ...deployed } = await open();
    change({ ...deployed, live });
    const { stdout } = await rollback(...typed.split(' ').filter(Boolean));
    expect(live()).toEqual({ ...everywhere('3'), ...expected });
    if (what === 'two') expect(stdout).toContain('--to getPet=3 listOrders=3');
  });

  it.each([
    ['finishes what an earlier run left half done', ['listInventory=2', 'getPet=2'], '2'],
    ['moves no function forth to where others go back', ['getPet=1'], '1'],
  ])('%s', async (_, moved, version) => {
    const { rollback, live } = await open();
    await rollback('--to', ...moved);
    await rollback();
    expect(live()).toEqual(everywhere(version));
  });

  it('gives all requests to one version where an earlier deployment left two', async () => {
    const { rollback, live, aliases } = await open();
    for (const alias of aliases.values()) {
      alias.FunctionVersion = '2';
      alias.RoutingConfig = { AdditionalVersionWeights: { 3: 0.1 } };
    }
    const { stdout } = await rollback();
    expect(stdout).toMatch(/^getPet +3 .+ live, 10%$/m);
    expect(stdout).toMatch(/^ +2 .+ live, 90% -> all$/m);
    expect(live()).toEqual(everywhere('2'));
  });

  it.each([
    ['yes\n', { ...everywhere('3'), getPet: '2' }, /npm run deploy/],
    ['n\n', everywhere('3'), /Nothing was changed\.\n$/],
    ['yess\n', everywhere('3'), /Nothing was changed\.\n$/],
    ['', everywhere('3'), /Nothing was changed\.\n$/],
  ])('asks, and goes by the answer %j', async (typed, expected, printed) => {
    const { call, live } = await open();
    const { status, stdout, stderr } = await call(['--to', 'getPet=2'], typed);
    expect(stderr).toContain('Move 1 alias of production? [y/N]');
    expect(stdout).toMatch(printed);
    expect(status).toBe(0);
    expect(live()).toEqual(expected);
  });
});

describe('npm run rollback moves nothing', () => {
  it.each([
    ['', `--stage must be ${stageNames.join(' or ')}; it is missing`],
    ['--stage test', `--stage must be ${stageNames.join(' or ')}; it is "test"`],
    ['--stage production --to short', '--to must be a commit'],
    ['--stage production --to getPets=1', '--to must be a commit'],
    ['--stage production --to getPet=0', '--to must be a commit'],
    ['--stage production --to getPet=1 getPet=2', 'names an operation twice'],
    ['--stage production --to aaaaaaaaaaa1 getPet=2', '--to must be a commit'],
  ])('where "%s" makes no sense', (typed, message) =>
    expectRefusal(runRollback, typed.split(' ').filter(Boolean), message),
  );

  const tooFew = changeVersions((known) => known.splice(0, 2));
  const toStatus =
    (status: string): Change =>
    ({ state }) =>
      Object.assign(state, { status });
  const lackFirst: Change = ({ versions }) => versions.get(getPet)?.shift();
  it.each<[string, Change, string, number, string]>([
    ['nobody is there to ask', leaveAlone, '', 2, 'There is no terminal to ask on: add --yes'],
    ['no commit is that', leaveAlone, '--to dddddddd', 1, 'no function has a version of'],
    ['a version is not there', leaveAlone, '--to getPet=9', 1, 'getPet has no version 9'],
    ['one lacks the commit', lackFirst, '--to aaaaaaa', 1, 'getPet has no version of'],
    [
      'a commit may be several',
      describeSecond('aaaaaaaaaaa2'),
      '--to aaaaaaa',
      2,
      'may mean any of aaaaaaaaaaa2, aaaaaaaaaaa1',
    ],
    ['no earlier commit is to be had', tooFew, '--yes', 1, '--to getPet=12'],
    [
      'the stack is being updated',
      toStatus('UPDATE_IN_PROGRESS'),
      '--yes',
      1,
      'aws cloudformation cancel-update-stack --stack-name petstore-production',
    ],
    ['it is taken back', toStatus('UPDATE_ROLLBACK_IN_PROGRESS'), '', 1, 'Wait until it is done'],
  ])('where %s', async (_, change, typed, status, message) => {
    const { call, aws, ...deployed } = await open();
    change(deployed);
    const args = typed.split(' ').filter(Boolean);
    expect(await call(args)).toMatchObject({ status, stderr: oneLine(message) });
    expect(aws.inputsOf('UpdateAlias')).toEqual([]);
  });

  it('on staging, which keeps only the versions in use', async () => {
    const { rollback, ...deployed } = await open(undefined, 'staging');
    tooFew({ ...deployed });
    const { status, stdout, stderr } = await rollback();
    expect({ status, stderr }).toEqual({ status: 1, stderr: oneLine('staging keeps only') });
    expect(stdout).toMatch(/^getPet +3 +ccccccccccc3 .+ live$/m);
  });

  it('where AWS throttles, once it has asked three times', async () => {
    onTestFinished(skipBackOff());
    const { rollback, aws } = await open(() => ({
      ListVersionsByFunction() {
        throw new AwsError('TooManyRequestsException', 'Rate exceeded', 429);
      },
    }));
    expect(await rollback()).toMatchObject({ status: 1, stderr: oneLine('TooManyRequests') });
    const asked = Map.groupBy(aws.inputsOf('ListVersionsByFunction'), (one) => one.FunctionName);
    expect(Math.max(...[...asked.values()].map(({ length }) => length))).toBe(3);
  });
});

it.each<[string, Change, string, object, number]>([
  [
    'an alias that was changed by somebody else since it was shown',
    ({ aliases }) => Object.assign(aliases.get(getPet) ?? {}, { RevisionId: 'changed' }),
    `getPet was not moved: PreconditionFailedException: The Revision Id does not match\n1 of ${all} aliases`,
    { ...everywhere('2'), getPet: '3' },
    1,
  ],
  [
    'a version that is gone since it was shown',
    ({ versions }) => versions.get(getPet)?.splice(1, 1),
    'getPet was not moved: There is no such function, version or alias',
    { ...everywhere('2'), getPet: '3' },
    1,
  ],
  [
    'what was left when it was interrupted',
    defineInterrupt(),
    `Interrupted: ${all - 1} of ${all} aliases were not moved; run the same command again.\n`,
    { ...everywhere('3'), listInventory: '2' },
    130,
  ],
])('npm run rollback tells %s', async (_, happen, told, expected, status) => {
  let isFirst = true;
  const { rollback, live } = await open((deployed) => ({
    UpdateAlias(input) {
      if (isFirst) happen(deployed);
      isFirst = false;
      return deployed.answers.UpdateAlias?.(input);
    },
  }));
  const outcome = await rollback();
  expect(outcome.stderr.startsWith(told)).toBe(true);
  expect(outcome.status).toBe(status);
  expect(live()).toEqual(expected);
});

describe('npm run rollback during a canary', () => {
  async function openCanary() {
    const stage = await open(() => ({
      ListDeployments: () => ({ deployments: ['d-1', 'd-2', 'd-3'] }),
      BatchGetDeployments: () => ({
        deploymentsInfo: ['ours-getPet', 'ours-listOrders', 'theirs'].map((group, index) => ({
          deploymentId: `d-${index + 1}`,
          deploymentGroupName: group,
        })),
      }),
      StopDeployment: ({ deploymentId }) => {
        if (deploymentId === 'd-1') return { status: 'Pending' };
        throw new AwsError('DeploymentAlreadyCompletedException', 'The deployment is complete');
      },
    }));
    stage.state.groups.push('ours-getPet', 'application|ours-listOrders', 'ours-others');
    stage.state.status = 'UPDATE_IN_PROGRESS';
    return stage;
  }

  it('stops it, with its roll-back, in place of moving aliases', async () => {
    const { rollback, aws } = await openCanary();
    const { status, stdout, stderr } = await rollback();
    expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
    expect(aws.inputsOf('StopDeployment')).toEqual([
      { deploymentId: 'd-1', autoRollbackEnabled: true },
      { deploymentId: 'd-2', autoRollbackEnabled: true },
    ]);
    expect(aws.inputsOf('UpdateAlias')).toEqual([]);
    expect(stdout).toContain('d-1 is stopped.\nd-2 was over already.\n');
    expect(stdout).toContain('stack-rollback-complete --stack-name petstore-production');
    expect(aws.inputsOf('ListDeployments')).toEqual([
      { includeOnlyStatuses: ['Created', 'Queued', 'InProgress', 'Baking', 'Ready'] },
    ]);
  });

  it('asks first, and says how to stop it by hand', async () => {
    const { call, aws } = await openCanary();
    const { stdout, stderr } = await call([], 'n\n');
    expect(stderr).toContain('Stop it (2 deployments), and move back?');
    const line = 'aws deploy stop-deployment --auto-rollback-enabled --deployment-id';
    expect(stdout).toContain(`${line} d-1\n`);
    expect(stdout).not.toContain('d-3');
    expect(stdout).toContain('Nothing was changed.');
    expect(aws.inputsOf('StopDeployment')).toEqual([]);
  });

  it('lets the deployments of other services be', async () => {
    const { rollback, live, state } = await openCanary();
    state.groups.splice(0, 2);
    state.status = 'UPDATE_COMPLETE_CLEANUP_IN_PROGRESS';
    await rollback();
    expect(live()).toEqual(everywhere('2'));
  });
});
