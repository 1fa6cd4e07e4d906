import { describe, expect, it, onTestFinished } from 'vitest';
import { stages } from '../../../../infra/stages/stages.ts';
import {
  mapOperations,
  type OperationId,
  operationIds,
} from '../../../../shared/contract/operations.ts';
import { skipBackOff } from '../../../support/faults/clock.ts';
import { AwsError, describeStack, type Responses, useAws } from '../aws.ts';
import { callOps, defineCommand, expectRefusal, runOps } from '../opsProcess.ts';

const runRollback = defineCommand('rollback');
const all = operationIds.length;
const getPet = 'petstore-production-getPet';

interface Alias {
  FunctionVersion: string;
  RevisionId: string;
  RoutingConfig?: { AdditionalVersionWeights: Record<string, number> };
}

const commits = ['aaaaaaaaaaa1', 'bbbbbbbbbbb2', 'ccccccccccc3'];

/** By default, each commit has its own code. */
const toVersion = (version: number, Description: string, code = Description) => ({
  ...{ Version: String(version), Description, CodeSha256: `${code}=` },
  LastModified: `2026-12-0${version}T10:20:30.000+0000`,
});

/** Production: each function with the versions 1 to 3 of the same three commits, the newest live. */
function deploy() {
  const functions = mapOperations((id) => {
    const alias: Alias = { FunctionVersion: '3', RevisionId: `of-${id}` };
    return { versions: commits.map((commit, index) => toVersion(index + 1, commit)), alias };
  });
  /** The deployments that run, with their functions, and the parameter of the versions that were left. */
  const state = {
    status: 'UPDATE_COMPLETE',
    deployments: {} as Record<string, string>,
    left: undefined as string | undefined,
  };
  const find = ({ FunctionName }: Record<string, unknown>) =>
    functions[String(FunctionName).replace('petstore-production-', '') as OperationId];

  const responses: Responses = {
    ...describeStack('petstore-production', {}, () => state.status),
    ListDeployments: () => ({ deployments: Object.keys(state.deployments) }),
    ListDeploymentTargets: ({ deploymentId }) => ({
      targetIds: [state.deployments[String(deploymentId)]],
    }),
    GetParameter() {
      if (state.left === undefined) throw new AwsError('ParameterNotFound', 'no such parameter');
      return { Parameter: { Value: state.left } };
    },
    PutParameter({ Value }) {
      state.left = String(Value);
      return {};
    },
    GetAlias: (input) => find(input).alias,
    // In no order, with what is not published.
    ListVersionsByFunction: (input) => {
      const { versions } = find(input);
      return {
        Versions: [...versions.slice(-1), { Version: '$LATEST' }, ...versions.slice(0, -1)],
      };
    },
    UpdateAlias: (input) => {
      const { alias } = find(input);
      const { FunctionVersion, RoutingConfig, RevisionId } = input as unknown as Alias;
      if (RevisionId !== alias.RevisionId) {
        throw new AwsError('PreconditionFailedException', 'The Revision Id does not match', 412);
      }
      // Weights that are not named stay.
      if (RoutingConfig) alias.RoutingConfig = RoutingConfig;
      return Object.assign(alias, { FunctionVersion, RevisionId: `${RevisionId}+` });
    },
  };

  /** The version that each alias points at, with the shares of others. */
  function live() {
    return mapOperations((id) => {
      const { FunctionVersion, RoutingConfig } = functions[id].alias;
      const weights = Object.entries(RoutingConfig?.AdditionalVersionWeights ?? {});
      return weights.length > 0 ? { FunctionVersion, weights } : FunctionVersion;
    });
  }
  return { responses, state, functions, live };
}

type Change = (deployed: ReturnType<typeof deploy>) => unknown;

/** Production with some other responses of AWS, and its command with --yes. */
async function open(change: (deployed: ReturnType<typeof deploy>) => Responses = () => ({})) {
  const deployed = deploy();
  const aws = await useAws({ ...deployed.responses, ...change(deployed) });
  const call = (args: readonly string[], typed?: string) =>
    callOps(runRollback, ['--stage', 'production', ...args], aws.variables, typed);
  const rollback = (...args: string[]) => call([...args, '--yes']);
  return { ...deployed, aws, call, rollback };
}

const everywhere = (version: string) => mapOperations(() => version);
const oneLine = (text: string) => expect.stringMatching(new RegExp(`^[^\n]*${text}[^\n]*\n$`));

/** Changes the versions of each function, newest last. */
function changeVersions(change: (versions: { Description: string }[]) => unknown): Change {
  return ({ functions }) => {
    for (const { versions } of Object.values(functions)) change(versions);
  };
}
const describeSecond = (Description: string) =>
  changeVersions(([, second]) => Object.assign(second ?? {}, { Description }));
const leaveAlone: Change = () => {};
const lackSecond: Change = ({ functions: { getPet } }) => getPet.versions.splice(1, 1);
const getPetUnchanged: Change = ({ functions: { getPet } }) => {
  getPet.versions.pop();
  getPet.alias.FunctionVersion = '2';
};
const dirty = describeSecond('aaaaaaaaaaa1-dirty-11111111');
const twiceDirty = changeVersions(([, second, third]) => {
  Object.assign(second ?? {}, { Description: 'ccccccccccc3-dirty-11111111' });
  Object.assign(third ?? {}, { Description: 'ccccccccccc3-dirty-22222222' });
});

describe('npx petstore rollback', () => {
  it('moves every alias to the commit before the live one, and says what to do next', async () => {
    const { rollback, live, aws } = await open();
    const { status, stdout, stderr } = await rollback();
    expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
    expect(live()).toEqual(everywhere('2'));
    expect(stdout).toMatch(/^listInventory +3 +ccccccccccc3 +2026-12-03 10:20Z +live$/m);
    expect(stdout).toMatch(/^ +2 +bbbbbbbbbbb2 +2026-12-02 10:20Z +<- goes here$/m);
    expect(stdout).toMatch(/^ +1 +aaaaaaaaaaa1 +2026-12-01 10:20Z$/m);
    expect(stdout).toContain('getPet goes to version 2.');
    expect(stdout).toContain("must not be of ccccccccccc3, and needs rollout: 'atOnce'");

    const again = await rollback();
    expect(again).toMatchObject({ status: 0, stderr: '' });
    expect(again.stdout).toContain('nothing was moved');
    expect(again.stdout).toContain('"After a rollback" in infra/OPERATIONS.md');
    expect(live()).toEqual(everywhere('2'));
    expect(aws.inputsOf('UpdateAlias')).toHaveLength(all);

    const undo = /^To undo: npx petstore rollback (.+)$/m.exec(stdout)?.[1]?.split(' ') ?? [];
    const undone = await rollback(...undo);
    expect(live()).toEqual(everywhere('3'));
    expect(undone.stdout).toContain('there is nothing else to do');
    expect(new Set(aws.calls.map(({ region }) => region))).toEqual(new Set(['eu-west-1']));
  });

  it.each<[string, Change, string, Partial<Record<OperationId, string>>]>([
    ['to a commit by its beginning', leaveAlone, '--to aaaaaaa', everywhere('1')],
    ['to one by all digits', leaveAlone, `--to aaaaaaaaaaa1${'2'.repeat(28)}`, everywhere('1')],
    ['two', leaveAlone, '--to getPet=1 listOrders=2', { getPet: '1', listOrders: '2' }],
    ['to a commit, not to the same with changes', dirty, '--to aaaaaaaaaaa1', everywhere('1')],
    ['to a commit with changes', dirty, '--to aaaaaaaaaaa1-dirty', everywhere('2')],
    ['from one edit of a commit to the one before', twiceDirty, '', everywhere('2')],
    ['past a commit that not every function has a version of', lackSecond, '', everywhere('1')],
    ['those alone that the last deployment moved', getPetUnchanged, '', everywhere('2')],
  ])('moves %s', async (what, change, typed, expected) => {
    const { rollback, live, ...deployed } = await open();
    change({ ...deployed, live });
    const { stdout } = await rollback(...typed.split(' ').filter(Boolean));
    expect(live()).toEqual({ ...everywhere('3'), ...expected });
    if (what === 'two') expect(stdout).toContain('--to getPet=3 listOrders=3');
  });

  it('says in JSON what was moved or stopped, and the rest on standard error', async () => {
    const { rollback, state, call } = await open(() => ({ StopDeployment: () => ({}) }));
    const read = async (...args: string[]) => {
      const { stdout, stderr } = await rollback('--json', ...args);
      expect(stderr).toContain('\n');
      return JSON.parse(stdout);
    };
    const moved = [{ operationId: 'getPet', from: 3, to: 1, commit: 'aaaaaaaaaaa1' }];
    const nothing = { stage: 'production', moved: [], stopped: [] };
    expect(await read('--to', 'getPet=1')).toEqual({ ...nothing, moved });
    expect(await read('--to', 'getPet=1')).toEqual(nothing);
    state.deployments = { 'd-1': `${getPet}:live` };
    expect(await read()).toEqual({ ...nothing, stopped: ['d-1'] });
    expect(JSON.parse((await call(['--json'], 'n\n')).stdout)).toEqual(nothing);
  });

  it('finishes what an earlier run left half done', async () => {
    const { rollback, live } = await open();
    await rollback('--to', 'listInventory=2', 'getPet=2');
    await rollback();
    expect(live()).toEqual(everywhere('2'));
  });

  it('sends all requests to one version if a deployment left two', async () => {
    const { rollback, live, functions } = await open();
    for (const { alias } of Object.values(functions)) {
      alias.FunctionVersion = '2';
      alias.RoutingConfig = { AdditionalVersionWeights: { 3: 0.1 } };
    }
    const { stdout } = await rollback();
    expect(stdout).toMatch(/^getPet +3 .+ live, 10%$/m);
    expect(stdout).toMatch(/^ +2 .+ live, 90% <- goes here$/m);
    expect(live()).toEqual(everywhere('2'));
  });

  it.each(['yes\n', 'n\n', 'yess\n', ''])('asks, and goes by the response %j', async (typed) => {
    const { call, live } = await open();
    const { status, stdout, stderr } = await call(['--to', 'getPet=2'], typed);
    const isMoved = typed === 'yes\n';
    expect(stderr).toContain('Move the alias of getPet in production? [y/N]');
    expect(stdout).toMatch(isMoved ? /The next deployment/ : /Nothing was changed\.\n$/);
    expect(status).toBe(0);
    expect(live()).toEqual({ ...everywhere('3'), ...(isMoved && { getPet: '2' }) });
  });
});

/** What production went through: deployments of a commit with its code, and roll-backs as typed. */
type Step = readonly [commit: string, code: string] | string;

describe('npx petstore rollback knows versions by their code, and what it has left', () => {
  /** Plays the steps. @returns the last roll-back, and the commits that serve then */
  async function play(steps: readonly Step[], without: readonly OperationId[] = []) {
    const stage = await open();
    const { functions, rollback } = stage;
    for (const { versions } of Object.values(functions)) versions.splice(0);
    let count = 0;
    let outcome: Awaited<ReturnType<typeof rollback>> | undefined;
    for (const step of steps) {
      if (typeof step === 'string') {
        outcome = await rollback(...step.split(' ').filter(Boolean));
        continue;
      }
      count += 1;
      for (const id of operationIds) {
        if (count === 1 && without.includes(id)) continue;
        functions[id].versions.push(toVersion(count, ...step));
        functions[id].alias = { FunctionVersion: `${count}`, RevisionId: `${count}` };
      }
    }
    const commits = mapOperations((id) => {
      const { versions, alias } = functions[id];
      return versions.find(({ Version }) => Version === alias.FunctionVersion)?.Description;
    });
    return { ...stage, outcome, commits };
  }

  const good = ['aaaaaaaaaaa1', 'good'] as const;
  const bad = ['bbbbbbbbbbb2', 'bad'] as const;
  const documents = ['ddddddddddd4', 'bad'] as const;
  const fix = ['ccccccccccc3', 'fix'] as const;
  const fixAgain = ['eeeeeeeeeee5', 'fix'] as const;
  const goodAgain = ['fffffffffff6', 'good'] as const;
  const unknown = ['', 'first'] as const;
  const toGood = mapOperations(() => good[0]);

  it.each<[string, Step[], object]>([
    ['A, B back, C: from C to A, not to B', [good, bad, '', fix, ''], toGood],
    ['A, B, documents alone: from these to A', [good, bad, documents, ''], toGood],
    ['A, B, documents alone, back, C: from C to A', [good, bad, documents, '', fix, ''], toGood],
    ['A, B back, C twice: from C to A', [good, bad, '', fix, fixAgain, ''], toGood],
    ['A, B back in part, C: from C to A', [good, bad, '--to getPet=1', fix, ''], toGood],
    ['release 1.0.0 and ours: back to 1.0.0', [unknown, bad, ''], mapOperations(() => '')],
    ['A, B back, again: no further', [good, bad, '', ''], toGood],
    [
      'A, B back, B by --to, C: to B',
      [good, bad, '', '--to bbbbbbb', fix, ''],
      mapOperations(() => bad[0]),
    ],
  ])('%s', async (_, steps, expected) => {
    const { outcome, commits } = await play(steps);
    expect(outcome).toMatchObject({ status: 0, stderr: '' });
    expect(commits).toEqual(expected);
  });

  it('leaves a new operation as it is', async () => {
    const { outcome, commits } = await play([good, bad, ''], ['getPet']);
    expect(outcome).toMatchObject({ status: 0, stderr: '' });
    expect(commits).toEqual({ ...toGood, getPet: bad[0] });
    expect(outcome?.stdout).toContain('getPet is new: it has no earlier version, and stays.');
  });

  it.each<[string, Step[], string]>([
    ['the only other code was left', [good, bad, '', goodAgain, ''], '--to bbbbbbbbbbb2'],
    [
      'the only other code has no known commit',
      [bad, unknown, '', documents, ''],
      '--to listInventory=2 ',
    ],
    ['there is no other code', [bad, documents, ''], 'deploy the good commit'],
  ])('moves nothing where %s, and says how', async (_, steps, line) => {
    const { outcome, live } = await play(steps);
    expect(outcome).toMatchObject({ status: 1, stderr: oneLine(line) });
    expect(live()).toEqual(everywhere(String(steps.filter((step) => step !== '').length)));
  });

  it('prints one version each where no commit has them all', async () => {
    const { rollback, functions } = await open();
    for (const { versions } of Object.values(functions)) versions.splice(1, 1);
    functions.getPet.versions.splice(0, 1, toVersion(1, 'dddddddddddd'));
    const typed = operationIds.map((id) => `${id}=1`).join(' ');
    expect(await rollback()).toMatchObject({ status: 1, stderr: oneLine(`--to ${typed}`) });
    expect((await rollback('--to', ...typed.split(' '))).status).toBe(0);
  });

  it('marks what was left, and what has the same code', async () => {
    const { rollback } = await play([good, bad, '', fix, fixAgain]);
    const { stdout } = await rollback('--to', 'getPet=4');
    expect(stdout).toMatch(/^getPet +4 +eeeeeeeeeee5 .*Z +live$/m);
    expect(stdout).toMatch(/^ +3 +ccccccccccc3 .*Z +same code$/m);
    expect(stdout).toMatch(/^ +2 +bbbbbbbbbbb2 .*Z +left$/m);
  });

  const ofParameter = /^.*\/petstore-production\/left-versions.*AccessDeniedException.*\n$/;
  it.each([
    ['GetParameter', 'AccessDeniedException', ofParameter],
    ['PutParameter', 'AccessDeniedException', ofParameter],
    [
      'DescribeStacks',
      'Throttling',
      /^The stack petstore-production could not be read.*Throttling.*\n$/,
    ],
  ])('moves also without %s, and says so: %s', async (operation, error, line) => {
    onTestFinished(skipBackOff());
    const fail = () => {
      throw new AwsError(error, 'no');
    };
    const { rollback, live } = await open(() => ({ [operation]: fail }));
    const { status, stderr } = await rollback();
    expect(stderr).toMatch(line);
    expect(status).toBe(0);
    expect(live()).toEqual(everywhere('2'));
  });

  it('never calls functions of another account', async () => {
    const AliasArn = 'arn:aws:lambda:us-west-2:123456789012:function:x:live';
    const { rollback, live } = await open(({ responses }) => ({
      GetAlias: (input) => ({ ...(responses.GetAlias?.(input) as object), AliasArn }),
    }));
    const { settings } = stages.production;
    onTestFinished(() => void Object.assign(stages.production, { settings }));
    Object.assign(stages.production, { settings: { ...settings, region: 'eu-west-1' } });
    const { status, stderr } = await rollback();
    expect({ status, stderr }).toEqual({ status: 1, stderr: oneLine('us-west-2') });
    expect(live()).toEqual(everywhere('3'));
  });
});

describe('npx petstore rollback moves nothing', () => {
  it.each([
    ['--stage production --to short', '--to must be a commit'],
    ['--stage production --to getPets=1', '--to must be a commit'],
    ['--stage production --to getPet=0', '--to must be a commit'],
    ['--stage production --to aaaaaaaaaaa1 getPet=2', '--to must be a commit'],
  ])('where "%s" makes no sense', (typed, message) =>
    expectRefusal(runRollback, typed.split(' ').filter(Boolean), message),
  );

  const tooFew = changeVersions((known) => known.splice(0, 2));
  const toStatus = (status: string) => (deployed: { state: object }) =>
    Object.assign(deployed.state, { status });
  const alike = describeSecond('aaaaaaaaaaa2');
  const cancel = 'aws cloudformation cancel-update-stack --stack-name petstore-production';
  const lackFirst: Change = ({ functions: { getPet } }) => getPet.versions.shift();
  it.each<[string, Change, string, number, string]>([
    ['nobody is there to ask', leaveAlone, '', 2, 'There is no terminal to ask on: add --yes'],
    ['no commit is that', leaveAlone, '--to dddddddd', 1, 'is the commit of no version'],
    ['no edit is that', dirty, '--to aaaaaaaaaaa1-dirty-3', 1, 'is the commit of no version'],
    ['a version is not there', leaveAlone, '--to getPet=9', 1, 'getPet has no version 9'],
    ['one lacks the commit', lackFirst, '--to aaaaaaa', 1, 'getPet has no version aaaaaaa'],
    ['a commit may be several', alike, '--to aaaaaaa', 1, 'several: aaaaaaaaaaa2, aaaaaaaaaaa1'],
    ['no earlier commit is to be had', tooFew, '--yes', 1, 'deploy the good commit'],
    ['its stack is being updated', toStatus('UPDATE_IN_PROGRESS'), '--yes', 1, cancel],
    ['it is taken back', toStatus('UPDATE_ROLLBACK_IN_PROGRESS'), '', 1, 'Wait until it is'],
  ])('where %s', async (_, change, typed, status, message) => {
    const { call, aws, ...deployed } = await open();
    change(deployed);
    const args = typed.split(' ').filter(Boolean);
    expect(await call(args)).toMatchObject({ status, stderr: oneLine(message) });
    expect(aws.inputsOf('UpdateAlias')).toEqual([]);
  });
});

it('npx petstore rollback reports an alias that changed since it was shown, and continues', async () => {
  const { rollback, live } = await open(({ responses, functions }) => ({
    UpdateAlias(input) {
      functions.getPet.alias.RevisionId = 'changed';
      return responses.UpdateAlias?.(input);
    },
  }));
  const { status, stderr } = await rollback();
  expect(stderr).toContain('getPet was not moved: Lambda: PreconditionFailedException: ');
  expect(stderr).toContain(`\n1 of ${all} aliases were not moved; run the same command again.\n`);
  expect(status).toBe(1);
  expect(live()).toEqual({ ...everywhere('2'), getPet: '3' });
});

describe('npx petstore rollback during a canary', () => {
  async function openCanary() {
    const stage = await open(() => ({
      StopDeployment: ({ deploymentId }) => {
        if (deploymentId === 'd-1') return { status: 'Pending' };
        throw new AwsError('DeploymentAlreadyCompletedException', 'The deployment is complete');
      },
    }));
    stage.state.deployments = {
      'd-1': getPet,
      'd-2': 'petstore-production-listOrders:live',
      'd-3': 'petstore-production-getPets',
    };
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

  it('asks first', async () => {
    const { call, aws } = await openCanary();
    const { stdout, stderr } = await call([], 'n\n');
    expect(stderr).toContain('Stop it (2 deployments), and move back?');
    expect(stdout).toContain('is being moved to new code, by d-1, d-2.\n');
    expect(stdout).toContain('Nothing was changed.');
    expect(aws.inputsOf('StopDeployment')).toEqual([]);
  });

  it('ignores deployments of other services', async () => {
    const { rollback, live, state } = await openCanary();
    state.deployments = { 'd-3': 'petstore-production-getPets' };
    state.status = 'UPDATE_COMPLETE_CLEANUP_IN_PROGRESS';
    await rollback();
    expect(live()).toEqual(everywhere('2'));
  });
});

describe('npx petstore rollback whose reader leaves', () => {
  const typed = ['infra/petstore.js', 'rollback', '--stage', 'production'];

  it('still moves all aliases', async () => {
    const { aws, live } = await open();
    const options = { stdout: 'left', variables: aws.variables } as const;
    const { status } = await runOps([...typed, '--yes'], options);
    expect(live()).toEqual(everywhere('2'));
    expect(status).toBe(141);
  });

  it('does not wait for a yes or no if nobody can see the question', async () => {
    const { aws } = await open();
    const terminal = 'data:text/javascript,process.stdin.isTTY=true';
    const options = { stderr: 'left', variables: aws.variables } as const;
    const { status } = await runOps(['--import', terminal, ...typed], options);
    expect(aws.inputsOf('UpdateAlias')).toEqual([]);
    expect(status).toBe(141);
  });
});
