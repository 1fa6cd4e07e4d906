import { describe, expect, it, onTestFinished } from 'vitest';
import { stages } from '../../../../infra/stages/stages.ts';
import {
  mapOperations,
  type OperationId,
  operationIds,
} from '../../../../shared/contract/operations.ts';
import { skipBackOff } from '../../../support/faults/clock.ts';
import { AwsError, describeStack, type Responses, useAws } from '../aws.ts';
import { callOps, changeSettings, defineCommand, runOps } from '../opsProcess.ts';

const runRollback = defineCommand('rollback');
const all = operationIds.length;
const getPet = 'petstore-production-getPet';

interface Alias {
  FunctionVersion: string;
  RevisionId: string;
  RoutingConfig?: { AdditionalVersionWeights: Record<string, number> };
}

/** A commit with its code, by default its own, and the function that has no version of it. */
type Deployment = readonly [commit: string, code?: string, without?: OperationId];
/** What production went through: deployments, and roll-backs as typed. */
type Step = Deployment | string;

const toVersion = (version: number, [Description, code = Description]: Deployment) => ({
  ...{ Version: String(version), Description, CodeSha256: `${code}=` },
  LastModified: `2026-12-0${version}T10:20:30.000+0000`,
});

/** Production without deployments, as AWS describes it. */
function build() {
  const functions = mapOperations(() => {
    const alias: Alias = { FunctionVersion: '', RevisionId: '' };
    return { versions: [] as ReturnType<typeof toVersion>[], alias };
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

const [a, b, c] = [['aaaaaaaaaaa1'], ['bbbbbbbbbbb2'], ['ccccccccccc3']] as const;

/** Production after these steps, with some other responses of AWS, its command, and the last roll-back. */
async function open(
  steps: readonly Step[] = [a, b, c],
  change: (production: ReturnType<typeof build>) => Responses = () => ({}),
) {
  const production = build();
  const { functions } = production;
  const aws = await useAws({ ...production.responses, ...change(production) });
  const call = (args: readonly string[], typed?: string) =>
    callOps(runRollback, ['--stage', 'production', ...args], aws.variables, typed);
  const rollback = (typed = '') => call([...typed.split(' ').filter(Boolean), '--yes']);
  let outcome: Awaited<ReturnType<typeof rollback>> | undefined;
  let version = 0;
  for (const step of steps) {
    if (typeof step === 'string') {
      outcome = await rollback(step);
      continue;
    }
    version += 1;
    for (const id of operationIds.filter((one) => one !== step[2])) {
      functions[id].versions.push(toVersion(version, step));
      functions[id].alias = { FunctionVersion: `${version}`, RevisionId: `${version}` };
    }
  }
  return { ...production, aws, call, rollback, outcome };
}

const everywhere = (version: string) => mapOperations(() => version);
const oneLine = (text: string) => expect.stringMatching(new RegExp(`^[^\n]*${text}[^\n]*\n$`));
const edit = (commit: string, digest: string): Deployment => [`${commit}-dirty-${digest}`];
const documents: Deployment = ['ddddddddddd4', b[0]];
const cAgain: Deployment = ['eeeeeeeeeee5', c[0]];
const aAgain: Deployment = ['fffffffffff6', a[0]];
const unknown: Deployment = ['', 'first'];

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

    const [, undo] = /^To undo: npx petstore rollback --stage production (.+)$/m.exec(stdout) ?? [];
    const undone = await rollback(undo);
    expect(live()).toEqual(everywhere('3'));
    expect(undone.stdout).toContain('there is nothing else to do');
    expect(new Set(aws.calls.map(({ region }) => region))).toEqual(new Set(['eu-west-1']));
  });

  it.each<[string, Step[], Partial<Record<OperationId, string>>]>([
    ['to a commit by its beginning', [a, b, c, '--to aaaaaaa'], everywhere('1')],
    ['to one by all digits', [a, b, c, `--to ${a[0]}${'2'.repeat(28)}`], everywhere('1')],
    ['two', [a, b, c, '--to getPet=1 listOrders=2'], { getPet: '1', listOrders: '2' }],
    [
      'to a commit, not to the same with changes',
      [a, edit(a[0], '11111111'), c, `--to ${a[0]}`],
      everywhere('1'),
    ],
    [
      'to a commit with changes',
      [a, edit(a[0], '11111111'), c, `--to ${a[0]}-dirty`],
      everywhere('2'),
    ],
    [
      'from one edit of a commit to the one before',
      [a, edit(c[0], '11111111'), edit(c[0], '22222222'), ''],
      everywhere('2'),
    ],
    ['past one that lacks a function', [a, [b[0], b[0], 'getPet'], c, ''], everywhere('1')],
    ['what the last one moved', [a, b, [c[0], c[0], 'getPet'], ''], everywhere('2')],
    ['what an earlier run left', [a, b, c, '--to listInventory=2 getPet=2', ''], everywhere('2')],
    // Versions are known by their code, and by what roll-backs have left.
    ['A, B back, C: from C to A, not to B', [a, b, '', c, ''], everywhere('1')],
    ['A, B, documents alone: from these to A', [a, b, documents, ''], everywhere('1')],
    ['A, B, documents, back, C: from C to A', [a, b, documents, '', c, ''], everywhere('1')],
    ['A, B back, C twice: from C to A', [a, b, '', c, cAgain, ''], everywhere('1')],
    ['A, B back in part, C: from C to A', [a, b, '--to getPet=1', c, ''], everywhere('1')],
    ['release 1.0.0 and ours: back to 1.0.0', [unknown, b, ''], everywhere('1')],
    ['A, B back, again: no further', [a, b, '', ''], everywhere('1')],
    ['A, B back, B by --to: to A', [a, b, '', '--to bbbbbbb', ''], everywhere('1')],
    ['A, B back, B by --to, C: to B', [a, b, '', '--to bbbbbbb', c, ''], everywhere('2')],
    [
      'all but a new operation',
      [[a[0], a[0], 'getPet'], b, ''],
      { ...everywhere('1'), getPet: '2' },
    ],
  ])('moves %s', async (what, steps, expected) => {
    const { live, outcome } = await open(steps);
    expect(outcome).toMatchObject({ status: 0, stderr: '' });
    expect(live()).toEqual({ ...everywhere('3'), ...expected });
    if (what === 'two') expect(outcome?.stdout).toContain('--to getPet=3 listOrders=3');
    expect(outcome?.stdout.includes('getPet is new: it has no earlier version, and stays.')).toBe(
      what.endsWith('new operation'),
    );
  });

  it('marks what was left, and what has the same code', async () => {
    const { outcome } = await open([a, b, '', c, cAgain, '--to getPet=4']);
    expect(outcome?.stdout).toMatch(/^getPet +4 +eeeeeeeeeee5 .*Z +live$/m);
    expect(outcome?.stdout).toMatch(/^ +3 +ccccccccccc3 .*Z +same code$/m);
    expect(outcome?.stdout).toMatch(/^ +2 +bbbbbbbbbbb2 .*Z +left$/m);
    const { outcome: later } = await open([
      a,
      b,
      c,
      cAgain,
      aAgain,
      '--to getPet=1',
      '--to getPet=2',
    ]);
    expect(later?.stdout).toMatch(/^ +1 +aaaaaaaaaaa1 .*Z +live$/m);
  });

  it('says in JSON what was moved or stopped, and the rest on standard error', async () => {
    const { rollback, state, call } = await open(undefined, () => ({ StopDeployment: () => ({}) }));
    const read = async (typed: string) => {
      const { stdout, stderr } = await rollback(`--json ${typed}`);
      expect(stderr).toContain('\n');
      return JSON.parse(stdout);
    };
    const moved = [{ operationId: 'getPet', from: 3, to: 1, commit: a[0] }];
    const nothing = { stage: 'production', moved: [], stopped: [] };
    expect(await read('--to getPet=1')).toEqual({ ...nothing, moved });
    expect(await read('--to getPet=1')).toEqual(nothing);
    state.deployments = { 'd-1': `${getPet}:live` };
    expect(await read('')).toEqual({ ...nothing, stopped: ['d-1'] });
    expect(JSON.parse((await call(['--json'], 'n\n')).stdout)).toEqual(nothing);
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

  const ofParameter = /^.*\/petstore-production\/left-versions.*AccessDeniedException.*\n$/;
  const ofStack = /^The stack petstore-production could not be read.*Throttling.*\n$/;
  it.each([
    ['GetParameter', 'AccessDeniedException', ofParameter],
    ['PutParameter', 'AccessDeniedException', ofParameter],
    ['DescribeStacks', 'Throttling', ofStack],
  ])('moves also without %s, and says so: %s', async (operation, error, line) => {
    onTestFinished(skipBackOff());
    const fail = () => {
      throw new AwsError(error, 'no');
    };
    const { outcome, live } = await open([a, b, c, ''], () => ({ [operation]: fail }));
    expect(outcome).toMatchObject({ status: 0, stderr: expect.stringMatching(line) });
    expect(live()).toEqual(everywhere('2'));
  });

  it('never calls functions of another account', async () => {
    const AliasArn = 'arn:aws:lambda:us-west-2:123456789012:function:x:live';
    changeSettings(stages.production, { region: 'eu-west-1' });
    const { outcome, live } = await open([a, b, c, ''], ({ responses }) => ({
      GetAlias: (input) => ({ ...(responses.GetAlias?.(input) as object), AliasArn }),
    }));
    expect(outcome).toMatchObject({ status: 1, stderr: oneLine('us-west-2') });
    expect(live()).toEqual(everywhere('3'));
  });

  it('reports an alias that changed since it was shown, and continues', async () => {
    const { outcome, live } = await open([a, b, c, ''], ({ responses, functions }) => ({
      UpdateAlias(input) {
        functions.getPet.alias.RevisionId = 'changed';
        return responses.UpdateAlias?.(input);
      },
    }));
    expect(outcome?.stderr).toContain(
      'getPet was not moved: Lambda: PreconditionFailedException: ',
    );
    expect(outcome?.stderr).toContain(
      `\n1 of ${all} aliases were not moved; run the same command again.\n`,
    );
    expect(outcome?.status).toBe(1);
    expect(live()).toEqual({ ...everywhere('2'), getPet: '3' });
  });
});

describe('npx petstore rollback moves nothing', () => {
  const lackFirst: Step[] = [[a[0], a[0], 'getPet'], b, c];
  it.each<[string, Step[], string]>([
    ['no commit is that', [a, b, c, '--to dddddddd'], 'is the commit of no version'],
    [
      'no edit is that',
      [a, edit(a[0], '11111111'), c, `--to ${a[0]}-dirty-3`],
      'is the commit of no version',
    ],
    ['a version is not there', [a, b, c, '--to getPet=9'], 'getPet has no version 9'],
    ['one lacks the commit', [...lackFirst, '--to aaaaaaa'], 'getPet has no version aaaaaaa'],
    [
      'a commit may be several',
      [a, ['aaaaaaaaaaa2'], c, '--to aaaaaaa'],
      'several: aaaaaaaaaaa2, aaaaaaaaaaa1',
    ],
    ['no earlier commit is to be had', [a, ''], 'deploy the good commit'],
    ['there is no other code', [b, documents, ''], 'deploy the good commit'],
    ['the only other code was left', [a, b, '', aAgain, ''], '--to bbbbbbbbbbb2'],
    [
      'the only other code has no known commit',
      [b, unknown, '', documents, ''],
      '--to listInventory=2 ',
    ],
  ])('where %s, and says how', async (_, steps, line) => {
    const { outcome, live } = await open(steps);
    expect(outcome).toMatchObject({ status: 1, stderr: oneLine(line) });
    expect(live()).toEqual(
      everywhere(`${steps.filter((step) => typeof step !== 'string').length}`),
    );
  });

  it('where no commit has a version of each function, and prints one each', async () => {
    const { rollback, functions } = await open([a, c]);
    functions.getPet.versions.splice(0, 1, toVersion(1, documents));
    const typed = `--to ${operationIds.map((id) => `${id}=1`).join(' ')}`;
    expect(await rollback()).toMatchObject({ status: 1, stderr: oneLine(typed) });
    expect((await rollback(typed)).status).toBe(0);
  });

  const cancel = 'aws cloudformation cancel-update-stack --stack-name petstore-production';
  it.each([
    ['nobody is there to ask', undefined, 2, 'There is no terminal to ask on: add --yes'],
    ['its stack is being updated', 'UPDATE_IN_PROGRESS', 1, cancel],
    ['it is taken back', 'UPDATE_ROLLBACK_IN_PROGRESS', 1, 'Wait until it is'],
  ])('where %s', async (_, stackStatus, status, message) => {
    const { call, aws, state } = await open();
    state.status = stackStatus ?? state.status;
    expect(await call([])).toMatchObject({ status, stderr: oneLine(message) });
    expect(aws.inputsOf('UpdateAlias')).toEqual([]);
  });
});

describe('npx petstore rollback during a canary', () => {
  async function openCanary() {
    const stage = await open(undefined, () => ({
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
