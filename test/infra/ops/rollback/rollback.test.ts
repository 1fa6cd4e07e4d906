import { setTimeout } from 'node:timers/promises';
import { afterEach, describe, expect, it, onTestFinished } from 'vitest';
import { runRollback } from '../../../../infra/ops/rollback/runRollback.ts';
import { stageNames } from '../../../../infra/stages/stages.ts';
import { type OperationId, operationIds } from '../../../../shared/contract/operations.ts';
import { skipBackOff } from '../../../support/faults/backOff.ts';
import { type Answers, AwsError, startAws } from '../aws.ts';
import { callOps, type Outcome, runOps } from '../opsProcess.ts';
import { defineDeployedFunctions } from './deployedFunctions.ts';

const script = 'infra/ops/rollback/rollback.ts';
const production = ['--stage', 'production'];
const stops: (() => void)[] = [];
afterEach(() => {
  for (const stop of stops.splice(0)) stop();
});

type Deployed = ReturnType<typeof defineDeployedFunctions>;

/** A deployed stage whose AWS answers some calls otherwise, and the command on it. */
async function open(
  change: (deployed: Deployed) => Answers = () => ({}),
  stack = 'petstore-production',
) {
  const deployed = defineDeployedFunctions(stack);
  const aws = await startAws({ ...deployed.answers, ...change(deployed) });
  stops.push(aws.close);
  const rollback = (...args: string[]) => callOps(runRollback, args, aws.variables);
  return { ...deployed, aws, rollback };
}

const everywhere = (version: string): Record<OperationId, string> =>
  Object.fromEntries(operationIds.map((id) => [id, version])) as Record<OperationId, string>;
const all = operationIds.length;

describe('npm run rollback', () => {
  it('moves every alias to the commit before the live one, and says what to do next', async () => {
    const { rollback, live, aws } = await open();
    const { status, stdout, stderr } = await rollback(...production, '--yes');
    expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
    expect(live()).toEqual(everywhere('2'));
    expect(stdout).toMatch(/^listInventory +3 +ccccccccccc3 +2026-12-03 10:20Z +live$/m);
    expect(stdout).toMatch(/^ +2 +bbbbbbbbbbb2 +2026-12-02 10:20Z +<- goes here$/m);
    expect(stdout).toMatch(/^ +1 +aaaaaaaaaaa1 +2026-12-01 10:20Z$/m);
    expect(stdout).toContain('getPet goes to version 2.');
    expect(stdout).toContain("set rollout: 'atOnce' under production");
    expect(stdout).toContain('npm run deploy petstore-production');
    expect(stdout).toContain('Not ccccccccccc3');
    const undo = /^To undo: npm run rollback -- (.+)$/m.exec(stdout)?.[1]?.split(' ') ?? [];
    const undone = await rollback(...undo, '--yes');
    expect(live()).toEqual(everywhere('3'));
    expect(undone.stdout).toContain('nothing else is to be done');
    expect(new Set(aws.calls.map(({ region }) => region))).toEqual(new Set(['eu-west-1']));
  });

  it('moves when the answer is yes', async () => {
    const { live, aws } = await open();
    const args = [...production, '--to', 'getPet=2'];
    const outcome = await callOps(runRollback, args, aws.variables, 'yes\n');
    expect(outcome).toMatchObject({
      status: 0,
      stderr: expect.stringContaining('Move 1 alias of'),
    });
    expect(live()).toEqual({ ...everywhere('3'), getPet: '2' });
  });

  it('goes no further when it is run again', async () => {
    const { rollback, live, aws } = await open();
    await rollback(...production, '--yes');
    const again = await rollback(...production, '--yes');
    expect(again).toMatchObject({ status: 0, stderr: '' });
    expect(again.stdout).toContain('nothing was moved');
    expect(again.stdout).toContain('npm run deploy petstore-production');
    expect(live()).toEqual(everywhere('2'));
    expect(aws.inputsOf('UpdateAlias')).toHaveLength(all);
  });

  it.each([
    ['its beginning', 'aaaaaaa'],
    ['its name', 'aaaaaaaaaaa1'],
    ['all of its digits', 'aaaaaaaaaaa1234567890123456789012345678'],
  ])('goes to a commit by %s', async (_, commit) => {
    const { rollback, live } = await open();
    expect(await rollback(...production, '--to', commit, '--yes')).toMatchObject({ status: 0 });
    expect(live()).toEqual(everywhere('1'));
  });

  it('moves only the functions that it is given versions of', async () => {
    const { rollback, live } = await open();
    const args = [...production, '--yes', '--to', 'getPet=1', 'listOrders=2'];
    const { stdout } = await rollback(...args);
    expect(live()).toEqual({ ...everywhere('3'), getPet: '1', listOrders: '2' });
    expect(stdout).toContain('--to getPet=3 listOrders=3');
    expect((await rollback(...args)).stdout).toContain('Every alias is there already');
  });

  it.each([
    ['finishes what an earlier run left half done', ['listInventory=2', 'getPet=2'], '2'],
    ['moves no function forth to where others go back', ['getPet=1'], '1'],
  ])('%s', async (_, moved, version) => {
    const { rollback, live } = await open();
    await rollback(...production, '--yes', '--to', ...moved);
    await rollback(...production, '--yes');
    expect(live()).toEqual(everywhere(version));
  });

  it('gives all requests to one version where an earlier deployment left two', async () => {
    const { rollback, live, aliases } = await open();
    for (const alias of aliases.values()) {
      alias.FunctionVersion = '2';
      alias.RoutingConfig = { AdditionalVersionWeights: { 3: 0.1 } };
    }
    const { stdout } = await rollback(...production, '--yes');
    expect(stdout).toMatch(/^getPet +3 .+ live, 10%$/m);
    expect(stdout).toMatch(/^ +2 .+ live, 90% -> all$/m);
    expect(live()).toEqual(everywhere('2'));
  });

  it('tells a commit from the same with changes', async () => {
    const { rollback, live, versions } = await open();
    for (const known of versions.values()) {
      if (known[1]) known[1].Description = 'aaaaaaaaaaa1-dirty';
    }
    await rollback(...production, '--to', 'aaaaaaaaaaa1', '--yes');
    expect(live()).toEqual(everywhere('1'));
    await rollback(...production, '--to', 'aaaaaaaaaaa1-', '--yes');
    expect(live()).toEqual(everywhere('2'));
  });

  it('passes over a commit that not every function has a version of', async () => {
    const { rollback, live, versions } = await open();
    versions.get('petstore-production-listOrders')?.splice(1, 1);
    await rollback(...production, '--yes');
    expect(live()).toEqual(everywhere('1'));
  });
});

describe('npm run rollback moves nothing', () => {
  async function expectNothing(
    changed: Answers,
    args: string[],
    expected: { status: number; stderr: unknown },
    prepare: (deployed: Deployed) => void = () => {},
  ): Promise<Outcome> {
    const stage = await open(() => changed);
    prepare(stage);
    const outcome = await stage.rollback(...args);
    expect({ status: outcome.status, stderr: outcome.stderr }).toEqual(expected);
    expect(stage.aws.inputsOf('UpdateAlias')).toEqual([]);
    return outcome;
  }
  const saying = (text: string) => expect.stringMatching(new RegExp(`^[^\n]*${text}[^\n]*\n$`));

  it.each([
    [[], `--stage must be ${stageNames.join(' or ')}; it is missing`],
    [['--stage', 'test'], `--stage must be ${stageNames.join(' or ')}; it is "test"`],
    [[...production, '--to', 'short'], '--to must be a commit'],
    [[...production, '--to', 'getPets=1'], '--to must be a commit'],
    [[...production, '--to', 'getPet=0'], '--to must be a commit'],
    [[...production, '--to', 'getPet=1', 'getPet=2'], 'names an operation twice'],
    [[...production, '--to', 'aaaaaaaaaaa1', 'getPet=2'], '--to must be a commit'],
    [production, 'There is no terminal to ask on: add --yes'],
  ])('where %j makes no sense', async (args, message) => {
    await expectNothing({}, args, { status: 2, stderr: saying(message) });
  });

  it('to a commit or a version that a function does not have', async () => {
    const expected = (text: string) => ({ status: 1, stderr: saying(text) });
    const to = (...words: string[]) => [...production, '--yes', '--to', ...words];
    await expectNothing({}, to('dddddddd'), expected('no function has a version of'));
    await expectNothing({}, to('getPet=9'), expected('getPet has no version 9'));
    await expectNothing({}, to('aaaaaaa'), expected('getPet has no version of'), ({ versions }) =>
      versions.get('petstore-production-getPet')?.shift(),
    );
  });

  it('to a commit that may be several', async () => {
    const expected = { status: 2, stderr: saying('may mean any of aaaaaaaaaaa2, aaaaaaaaaaa1') };
    const args = [...production, '--yes', '--to', 'aaaaaaa'];
    await expectNothing({}, args, expected, ({ versions }) => {
      for (const known of versions.values()) {
        if (known[1]) known[1].Description = 'aaaaaaaaaaa2';
      }
    });
  });

  it('where no earlier commit is to be had, and says what to do in its place', async () => {
    const expected = { status: 1, stderr: saying('--to getPet=12') };
    const { stdout } = await expectNothing({}, [...production, '--yes'], expected, (stage) => {
      for (const known of stage.versions.values()) known.splice(0, 2);
    });
    expect(stdout).toMatch(/^getPet +3 +ccccccccccc3 .+ live$/m);
  });

  it('where AWS throttles, once it has asked three times', async () => {
    onTestFinished(skipBackOff());
    const asked = new Map<unknown, number>();
    const ListVersionsByFunction = ({ FunctionName }: Record<string, unknown>) => {
      asked.set(FunctionName, (asked.get(FunctionName) ?? 0) + 1);
      throw new AwsError('TooManyRequestsException', 'Rate exceeded', 429);
    };
    const expected = { status: 1, stderr: saying('TooManyRequestsException') };
    await expectNothing({ ListVersionsByFunction }, [...production, '--yes'], expected);
    expect(Math.max(...asked.values())).toBe(3);
  });

  it.each([
    [
      'UPDATE_IN_PROGRESS',
      'aws cloudformation cancel-update-stack --stack-name petstore-production',
    ],
    ['UPDATE_ROLLBACK_IN_PROGRESS', 'Wait until it is done'],
  ])('while the stack is %s', async (status, advice) => {
    const expected = { status: 1, stderr: saying(advice) };
    await expectNothing({}, [...production, '--yes'], expected, ({ state }) => {
      state.StackStatus = status;
    });
  });

  it('on staging, which keeps only the versions in use', async () => {
    const { rollback, versions } = await open(undefined, 'petstore-staging');
    for (const known of versions.values()) known.splice(0, 2);
    const { status, stderr } = await rollback('--stage', 'staging', '--yes');
    expect({ status, stderr }).toEqual({ status: 1, stderr: saying('staging keeps only') });
  });

  it.each([
    ['no', 'n\n'],
    ['something else', 'yess\n'],
    ['nothing', ''],
  ])('when the answer is %s', async (_, typed) => {
    const { live, aws } = await open();
    const outcome = await callOps(runRollback, production, aws.variables, typed);
    expect(outcome).toMatchObject({
      status: 0,
      stdout: expect.stringMatching(/Nothing was changed\.\n$/),
      stderr: expect.stringContaining(`Move ${all} aliases of production? [y/N]`),
    });
    expect(live()).toEqual(everywhere('3'));
  });
});

describe('npm run rollback tells what it could not move', () => {
  /** What happens just before the first alias is moved. */
  const justBefore = (happen: (deployed: Deployed) => unknown) => (deployed: Deployed) => {
    let isFirst = true;
    return {
      async UpdateAlias(input: Record<string, unknown>) {
        if (isFirst) await happen(deployed);
        isFirst = false;
        return deployed.answers.UpdateAlias?.(input);
      },
    };
  };

  it('an alias that was changed by somebody else since it was shown', async () => {
    const { rollback, live } = await open(
      justBefore(({ aliases }) => {
        Object.assign(aliases.get('petstore-production-getPet') ?? {}, { RevisionId: 'changed' });
      }),
    );
    const { status, stdout, stderr } = await rollback(...production, '--yes');
    expect(status).toBe(1);
    expect(stderr).toMatch(/^getPet was not moved: PreconditionFailedException: /);
    expect(stderr).toContain(`\n1 of ${all} aliases were not moved; run the same command again.\n`);
    expect(stdout).toContain('listOrders goes to version 2.');
    expect(live()).toEqual({ ...everywhere('2'), getPet: '3' });
    expect(await rollback(...production, '--yes')).toMatchObject({ status: 0 });
    expect(live()).toEqual(everywhere('2'));
  });

  it('to a version that is gone since it was shown', async () => {
    const { rollback, live } = await open(
      justBefore(({ versions }) => versions.get('petstore-production-getPet')?.splice(1, 1)),
    );
    const { status, stderr } = await rollback(...production, '--yes');
    expect(status).toBe(1);
    expect(stderr).toMatch(/^getPet was not moved: There is no such function, version or alias/);
    expect(live()).toEqual({ ...everywhere('2'), getPet: '3' });
  });

  it('what was left when it was interrupted', async () => {
    let interrupt = () => {};
    const { live, aws } = await open(
      justBefore(async () => {
        interrupt();
        await setTimeout(200);
      }),
    );
    const outcome = await runOps(script, [...production, '--yes'], {
      variables: aws.variables,
      onStart: (child) => {
        interrupt = () => child.kill('SIGINT');
      },
    });
    expect(outcome.status).toBe(130);
    expect(outcome.stderr).toContain(`Interrupted: ${all - 1} of ${all} aliases were not moved`);
    expect(live()).toEqual({ ...everywhere('3'), listInventory: '2' });
  });
});

describe('npm run rollback during a canary', () => {
  const ours = [
    { deploymentId: 'd-1', deploymentGroupName: 'ours-getPet' },
    { deploymentId: 'd-2', deploymentGroupName: 'ours-listOrders' },
  ];
  const canary: Answers = {
    ListDeployments: () => ({ deployments: ['d-1', 'd-2', 'd-3'] }),
    BatchGetDeployments: () => ({
      deploymentsInfo: [...ours, { deploymentId: 'd-3', deploymentGroupName: 'theirs' }],
    }),
    StopDeployment: ({ deploymentId }) => {
      if (deploymentId === 'd-1') return { status: 'Pending' };
      throw new AwsError('DeploymentAlreadyCompletedException', 'The deployment is complete');
    },
  };

  async function openCanary() {
    const stage = await open(() => canary);
    stage.state.groups.push('ours-getPet', 'application|ours-listOrders', 'ours-others');
    stage.state.StackStatus = 'UPDATE_IN_PROGRESS';
    return stage;
  }

  it('stops it, with its roll-back, in place of moving aliases', async () => {
    const { rollback, aws } = await openCanary();
    const { status, stdout, stderr } = await rollback(...production, '--yes');
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
    const { rollback, aws } = await openCanary();
    const { status, stdout } = await rollback(...production);
    expect(status).toBe(2);
    expect(stdout).toContain(
      'aws deploy stop-deployment --auto-rollback-enabled --deployment-id d-1\n',
    );
    expect(stdout).not.toContain('d-3');
    expect(aws.inputsOf('StopDeployment')).toEqual([]);
  });

  it('lets the deployments of other services be', async () => {
    const { rollback, live, state } = await openCanary();
    state.groups.splice(0, 2);
    state.StackStatus = 'UPDATE_COMPLETE_CLEANUP_IN_PROGRESS';
    await rollback(...production, '--yes');
    expect(live()).toEqual(everywhere('2'));
  });
});
