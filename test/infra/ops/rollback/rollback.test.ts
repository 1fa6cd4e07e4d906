import { expect, it, onTestFinished } from 'vitest';
import { checkStacks } from '../../../../infra/ops/rollback/checkAliases.ts';
import { petstore } from '../../../../infra/petstore.ts';
import { stages } from '../../../../infra/stages/stages.ts';
import {
  mapOperations,
  type OperationId,
  operationIds,
  operations,
} from '../../../../shared/contract/operations.ts';
import { skipBackOff } from '../../../support/faults/clock.ts';
import { openTemporaryFolder } from '../../../support/temporaryFolder.ts';
import { AwsError, describeReleases, describeStack, type Responses, useAws } from '../aws.ts';
import { callOps, changeSettings, runOps, tellStories, toScreen } from '../opsProcess.ts';

const production = ['rollback', '--stage', 'production'];

interface Alias {
  FunctionVersion: string;
  RevisionId: string;
  RoutingConfig?: { AdditionalVersionWeights: Record<string, number> };
}

/** A commit with its code, by default its own, and the function that has no version of it. */
type Deployment = readonly [commit: string, code?: string, without?: OperationId];
type Production = Awaited<ReturnType<typeof open>>;
/** What production goes through: deployments, roll-backs as typed, such as `--to getPet=1 <y`, and other changes. */
type Step = Deployment | string | ((production: Production) => unknown);

const toVersion = (version: number, [Description, code = Description]: Deployment) => ({
  ...{ Version: `${version}`, Description, CodeSha256: `${code}=` },
  LastModified: `2026-12-0${version}T10:20:30.000+0000`,
});

/** The stack's last template, with the parts that aliases need; all parts of it stay as they are. */
function toTemplate() {
  // biome-ignore lint/suspicious/noTemplateCurlyInString: CloudFormation's own placeholders.
  const code = { 'Fn::Sub': 'cdk-assets-${AWS::AccountId}-${AWS::Region}' };
  const entries = operationIds.flatMap((id) => [
    [
      `${id}Function`,
      {
        Type: 'AWS::Lambda::Function',
        Properties: { FunctionName: `petstore-production-${id}`, Code: { S3Bucket: code } },
      },
    ],
    [
      `${id}Live`,
      {
        Type: 'AWS::Lambda::Alias',
        Properties: { FunctionName: { Ref: `${id}Function` }, FunctionVersion: '', Name: 'live' },
        UpdatePolicy: { CodeDeployLambdaAliasUpdate: {} },
      },
    ],
  ]);
  return { Description: 'The shop & its <data>', Resources: Object.fromEntries(entries) };
}

/** Production without deployments, as AWS describes it. */
async function open() {
  const functions = mapOperations(() => {
    const alias: Alias = { FunctionVersion: '', RevisionId: '' };
    return { versions: [] as ReturnType<typeof toVersion>[], alias };
  });
  /** The deployments that run, with their functions, and the parameter of the versions that were left. */
  const state = {
    status: 'UPDATE_COMPLETE',
    deployments: {} as Record<string, string>,
    left: undefined as string | undefined,
    template: toTemplate(),
    /** The version resources of the stack, as ARNs by logical id. */
    resources: {} as Record<string, string>,
    /** The versions between which the last deployment of each function moved its requests. */
    canaries: {} as Record<string, string>,
    uploads: {} as Record<string, string>,
  };
  /** CloudFormation knows the version that serves only by the last template. */
  const findNamed = (id: OperationId): string => {
    const { FunctionVersion } = state.template.Resources[`${id}Live`].Properties;
    const arn = state.resources[FunctionVersion['Fn::GetAtt']?.[0]];
    return arn?.split(':').at(-1) ?? FunctionVersion;
  };
  /** An update of the stack moves an alias that its template changes: by a canary if the new one has a policy. */
  const deploy = (id: OperationId, number: number, deployment: Deployment) => {
    const { versions } = functions[id];
    versions.push(toVersion(number, deployment));
    state.canaries[id] = `${findNamed(id)} → ${number}`;
    state.resources[`${id}Version${number}`] = `arn:aws:lambda:x:1:function:${id}:${number}`;
    Object.assign(state.template.Resources[`${id}Live`], {
      UpdatePolicy: { CodeDeployLambdaAliasUpdate: {} },
    });
    Object.assign(state.template.Resources[`${id}Live`].Properties, {
      FunctionVersion: { 'Fn::GetAtt': [`${id}Version${number}`, 'Version'] },
    });
    functions[id].alias = { FunctionVersion: `${number}`, RevisionId: `${number}` };
  };
  const find = ({ FunctionName }: Record<string, unknown>) =>
    functions[String(FunctionName).replace('petstore-production-', '') as OperationId];
  const updateAlias = (input: Record<string, unknown>) => {
    const { alias } = find(input);
    const { FunctionVersion, RoutingConfig, RevisionId } = input as unknown as Alias;
    if (RevisionId !== alias.RevisionId) {
      throw new AwsError('PreconditionFailedException', 'The Revision Id does not match', 412);
    }
    // Weights that are not named stay.
    if (RoutingConfig) alias.RoutingConfig = RoutingConfig;
    return Object.assign(alias, { FunctionVersion, RevisionId: `${RevisionId}+` });
  };
  const responses: Responses = {
    ...describeStack('petstore-production', {}, () => state.status),
    ...describeReleases(() => []),
    ListDeployments: ({ includeOnlyStatuses }) => ({
      deployments: Object.keys(state.deployments).filter((id) =>
        String(includeOnlyStatuses).includes(id.slice(2)),
      ),
    }),
    ListDeploymentTargets: ({ deploymentId }) => ({
      targetIds: [state.deployments[String(deploymentId)]],
    }),
    StopDeployment({ deploymentId }) {
      if (deploymentId !== 'd-Ready') return { status: 'Pending' };
      throw new AwsError('DeploymentAlreadyCompletedException', 'The deployment is complete');
    },
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
    ListVersionsByFunction(input) {
      const { versions } = find(input);
      const Versions = [...versions.slice(-1), { Version: '$LATEST' }, ...versions.slice(0, -1)];
      return { Versions };
    },
    UpdateAlias: updateAlias,
    GetTemplate: () => ({ TemplateBody: JSON.stringify(state.template) }),
    ListStackResources: () => ({
      StackResourceSummaries: Object.entries(state.resources).map(
        ([LogicalResourceId, PhysicalResourceId]) => ({ LogicalResourceId, PhysicalResourceId }),
      ),
    }),
    PutObject({ Bucket, Key, Body }) {
      state.uploads[`https://${Bucket}.s3.eu-west-1.amazonaws.com/${Key}`] = String(Body);
      return {};
    },
    UpdateStack({ TemplateBody, TemplateURL }) {
      const template = JSON.parse(String(TemplateBody ?? state.uploads[String(TemplateURL)]));
      for (const id of operationIds) {
        const { Properties, UpdatePolicy } = template.Resources[`${id}Live`];
        const number = Properties.FunctionVersion;
        // What names a version by its resource has not changed.
        if (typeof number !== 'string') continue;
        if (UpdatePolicy) throw new AwsError('ValidationError', 'It would be a canary');
        functions[id].alias.FunctionVersion = number;
      }
      Object.assign(state, { template, status: 'UPDATE_COMPLETE' });
      return { StackId: 'x' };
    },
  };
  const { UpdateStack: updateStack } = responses;
  return {
    aws: await useAws(responses),
    responses,
    state,
    functions,
    updateAlias,
    updateStack,
    deploy,
  };
}

/** Production after these steps, and what was seen of the last roll-back. */
async function follow(steps: readonly Step[]) {
  const stage = await open();
  const { aws } = stage;
  let screen = '';
  let deployed = 0;
  for (const step of steps) {
    if (typeof step === 'string') {
      aws.calls.length = 0;
      const [line = '', typed] = step.split('<');
      const words = line.split(' ').filter(Boolean);
      const args = [...production, ...words, ...(typed === undefined ? ['--yes'] : [])];
      const input = typed === 'no terminal' ? undefined : typed;
      screen = toScreen(args, await callOps(petstore, args, aws.variables, input));
      continue;
    }
    if (typeof step === 'function') {
      step(stage);
      continue;
    }
    deployed += 1;
    for (const id of operationIds.filter((one) => one !== step[2])) {
      stage.deploy(id, deployed, step);
    }
  }
  return { ...stage, screen };
}

/** The versions that are live then, and the calls that changed something. */
function describeAfter({ functions, aws }: Production): string {
  const byVersion = Map.groupBy(operationIds, (id) => {
    const { FunctionVersion, RoutingConfig } = functions[id].alias;
    return `${FunctionVersion} ${Object.keys(RoutingConfig?.AdditionalVersionWeights ?? {})}`.trim();
  });
  const [usual, ...others] = [...byVersion].toSorted(([, one], [, two]) => two.length - one.length);
  const live = [usual?.[0], ...others.map(([version, ids]) => `${version} of ${ids}`)];
  const changes = aws.calls
    .filter(({ operation }) => /^(Put|Update|Stop)/.test(operation))
    .map(({ operation, input: { autoRollbackEnabled } }) =>
      autoRollbackEnabled ? `${operation} with autoRollbackEnabled` : operation,
    );
  return `Live: ${live.join(', ')}\nCalled: ${[...new Set(changes)].join(', ') || 'nothing'}\n`;
}

/** Leaves out the operations that the contract has beside getPet, of which there may be more. */
function withoutOthers(screen: string): string {
  const others = operationIds.filter((id) => id !== 'getPet');
  const ofOther = `^(?:! )?(${others.join('|')})`;
  const toTargets = (ids: readonly string[]) =>
    new RegExp(ids.map((id, index) => `${id}=${index ? '\\1' : '(\\d)'}`).join(' '), 'g');
  return screen
    .replaceAll(new RegExp(`${ofOther} +\\d.*\\n((! )? +\\d.*\\n)*`, 'gm'), '')
    .replaceAll(new RegExp(`${ofOther} goes to version \\d\\.\\n`, 'gm'), '')
    .replaceAll(toTargets(operationIds), 'EVERY=$1')
    .replaceAll(toTargets(others), 'OTHERS=$1')
    .replaceAll(operationIds.join(', '), 'EVERY')
    .replaceAll(`of ${operationIds.length} aliases`, 'of all aliases')
    .replaceAll(/(! )?OPERATION .*\n/g, '')
    .replaceAll(/(?<=The function petstore-production-)\w+/g, 'OPERATION')
    .replaceAll(/ {2,}/g, '  ');
}

const [a, b, c] = [['aaaaaaaaaaa1'], ['bbbbbbbbbbb2'], ['ccccccccccc3']] as const;
const edit = (commit: string, digest: string): Deployment => [`${commit}-dirty-${digest}`];
const documents: Deployment = ['ddddddddddd4', b[0]];
const cAgain: Deployment = ['eeeeeeeeeee5', c[0]];
const aAgain: Deployment = ['fffffffffff6', a[0]];
const unknown: Deployment = ['', 'first'];
/** Release 1.0.0 named no commit in its versions: each has its function's description. */
const describe100 = ({ functions }: Production) =>
  mapOperations((id) => {
    for (const version of functions[id].versions) version.Description = operations[id].summary;
  });
const withoutPet = ([commit]: Deployment): Deployment => [commit, commit, 'getPet'];
const every = (version: number) => operationIds.map((id) => `${id}=${version}`).join(' ');
const fail =
  (operation: string, error = 'AccessDeniedException', message = 'no') =>
  ({ responses }: Production) => {
    responses[operation] = () => {
      throw new AwsError(error, message);
    };
  };
/** An update of the stack that fails at its aliases, and takes nothing back. */
const failHalfWay = ({ responses, state }: Production) => {
  responses.UpdateStack = ({ TemplateBody }) => {
    Object.assign(state, { template: JSON.parse(String(TemplateBody)), status: 'UPDATE_FAILED' });
    return { StackId: 'x' };
  };
};
const mend = ({ responses, updateStack }: Production) =>
  Object.assign(responses, { UpdateStack: updateStack });
const setStatus =
  (status: string) =>
  ({ state }: Production) =>
    Object.assign(state, { status });
const deployTo =
  (targets: Record<string, string>) =>
  ({ state }: Production) =>
    Object.assign(state, { deployments: targets });
const getPet = 'petstore-production-getPet';
const ofOthers = { 'd-Baking': `${getPet}s` };
const canary = deployTo({
  ...Object.fromEntries(
    ['Created', 'Queued', 'InProgress', 'Baking', 'Succeeded'].map((one) => [`d-${one}`, getPet]),
  ),
  'd-Ready': 'petstore-production-listOrders:live',
});

/** What production went through; `histories.txt` has what the last roll-back shows, and what is live after it. */
const histories: Readonly<Record<string, readonly Step[]>> = {
  'to the commit before': [a, b, c, ''],
  'the same again': [a, b, c, '', ''],
  'and undone': [a, b, c, '', `--to ${every(3)}`],
  'to a commit by its beginning': [a, b, c, '--to aaaaaaa'],
  'to one by all digits': [a, b, c, `--to ${a[0]}${'2'.repeat(28)}`],
  'two functions': [a, b, c, '--to getPet=1 listOrders=2'],
  'to a commit, not to the same with changes': [a, edit(a[0], '11111111'), c, `--to ${a[0]}`],
  'to a commit with changes': [a, edit(a[0], '11111111'), c, `--to ${a[0]}-dirty`],
  'from one edit to the one before': [a, edit(c[0], '11111111'), edit(c[0], '22222222'), ''],
  'past one that lacks a function': [a, withoutPet(b), c, ''],
  'what the last one moved': [a, b, withoutPet(c), ''],
  'what an earlier run left': [a, b, c, '--to getPet=2', ''],
  // Versions are known by their code, and by what roll-backs have left.
  'A, B back, C: from C to A, not to B': [a, b, '', c, ''],
  'A, B, documents alone: from these to A': [a, b, documents, ''],
  'A, B, documents, back, C: from C to A': [a, b, documents, '', c, ''],
  'A, B back, C twice: from C to A': [a, b, '', c, cAgain, ''],
  'A, B back in part, C: from C to A': [a, b, '--to getPet=1', c, ''],
  'release 1.0.0 and ours: to nowhere by itself': [unknown, describe100, b, ''],
  'A, B back, again: no further': [a, b, '', ''],
  'A, B back, B by --to: to A': [a, b, '', '--to bbbbbbb', ''],
  'A, B back, B by --to, C: to B': [a, b, '', '--to bbbbbbb', c, ''],
  'all but a new operation': [withoutPet(a), b, ''],
  'what was left, and what has the same code': [a, b, '', c, cAgain, '--to getPet=4'],
  'further than is shown': [a, b, c, cAgain, aAgain, '--to getPet=1', '--to getPet=2'],
  'a deployment that left two versions': [
    ...[a, b, c],
    ({ functions }) => {
      for (const { alias } of Object.values(functions)) {
        alias.FunctionVersion = '2';
        alias.RoutingConfig = { AdditionalVersionWeights: { 3: 0.1 } };
      }
    },
    '',
  ],
  // Where it cannot read or write everything.
  'without reading what was left': [a, b, c, fail('GetParameter'), ''],
  'without noting what was left': [a, b, c, fail('PutParameter'), ''],
  'without CloudFormation': [a, b, c, fail('DescribeStacks', 'Throttling'), ''],
  'an alias that changed since it was shown': [
    ...[a, b, c],
    ({ responses, functions, updateAlias }) => {
      responses.UpdateAlias = (input) => {
        functions.getPet.alias.RevisionId = 'changed';
        return updateAlias(input);
      };
    },
    '',
  ],
  // Questions, and JSON.
  'asked, yes': [a, b, c, '--to getPet=2 <yes\n'],
  'asked, no': [a, b, c, '--to getPet=2 <n\n'],
  'asked, a word that begins with yes': [a, b, c, '--to getPet=2 <yess\n'],
  'asked, nothing': [a, b, c, '--to getPet=2 <'],
  'nobody is there to ask': [a, b, c, '<no terminal'],
  'in JSON': [a, b, c, '--to getPet=1 --json'],
  'in JSON, again': [a, b, c, '--to getPet=1', '--to getPet=1 --json'],
  'in JSON, asked, no': [a, b, c, '--json <n\n'],
  // Nothing is moved.
  'no commit is that': [a, b, c, '--to dddddddd'],
  'no edit is that': [a, edit(a[0], '11111111'), c, `--to ${a[0]}-dirty-3`],
  'a version is not there': [a, b, c, '--to getPet=9'],
  'one lacks the commit': [withoutPet(a), b, c, '--to aaaaaaa'],
  'a commit may be several': [a, ['aaaaaaaaaaa2'], c, '--to aaaaaaa'],
  'no earlier commit is to be had': [a, ''],
  'there is no other code': [b, documents, ''],
  'the only other code was left': [a, b, '', aAgain, ''],
  'the only other code has no known commit': [b, unknown, '', documents, ''],
  'no commit has a version of each function': [
    ...[a, c],
    ({ functions }) => functions.getPet.versions.splice(0, 1, toVersion(1, documents)),
    '',
  ],
  'its stack is being updated': [a, b, c, setStatus('UPDATE_IN_PROGRESS'), ''],
  'it is taken back': [a, b, c, setStatus('UPDATE_ROLLBACK_IN_PROGRESS'), ''],
  // A canary is stopped instead.
  'during a canary': [a, b, c, setStatus('UPDATE_IN_PROGRESS'), canary, ''],
  'during a canary, asked, no': [a, b, c, canary, '<n\n'],
  'during a canary, in JSON': [a, b, c, canary, '--json'],
  'while only unused resources go, and others deploy': [
    ...[a, b, c, setStatus('UPDATE_COMPLETE_CLEANUP_IN_PROGRESS'), deployTo(ofOthers)],
    '',
  ],
  // At last, since the settings stay.
  'its functions are elsewhere': [
    ...[a, b, c],
    ({ responses }) => {
      changeSettings(stages.production, { region: 'eu-west-1' });
      const AliasArn = 'arn:aws:lambda:us-west-2:123456789012:function:x:live';
      responses.GetAlias = () => ({ FunctionVersion: '3', AliasArn });
    },
    '',
  ],
};

it('npx petstore rollback leads back from each history, and says what to do next', async () => {
  onTestFinished(skipBackOff());
  const screen = await tellStories(histories, async (steps) => {
    const { screen, ...stage } = await follow(steps);
    return `${screen}${describeAfter(stage)}`;
  });
  await expect(withoutOthers(screen)).toMatchFileSnapshot('histories.txt');
});

const all = (canary: string) => mapOperations(() => canary);
const enlarge = ({ state }: Production) =>
  Object.assign(state.template, { Metadata: 'x'.repeat(60_000) });

it.each<[string, readonly Step[], Record<OperationId, string>]>([
  ['a rollback', [a, b, '', c], all('1 → 3')],
  ['a rollback, and its repeat', [a, b, '', '', c], all('1 → 3')],
  ['a second rollback', [a, b, c, '', '--to aaaaaaa', cAgain], all('1 → 4')],
  ['a rollback, a fix and another', [a, b, '', c, '', cAgain], all('1 → 4')],
  ['a rollback of one function', [a, b, '--to getPet=1', c], { ...all('2 → 3'), getPet: '1 → 3' }],
  ['a rollback that was undone', [a, b, '', `--to ${every(2)}`, c], all('2 → 3')],
  ['a rollback of a large stack', [a, b, enlarge, '', c], all('1 → 3')],
  [
    'a rollback while CloudFormation is busy, and its repeat',
    [
      ...[a, b, setStatus('UPDATE_COMPLETE_CLEANUP_IN_PROGRESS'), ''],
      ...[setStatus('UPDATE_COMPLETE'), '', c],
    ],
    all('1 → 3'),
  ],
  [
    'a rollback whose update of the stack failed, and its repeat',
    [a, b, fail('UpdateStack', 'ValidationError'), '', setStatus('UPDATE_FAILED'), mend, '', c],
    all('1 → 3'),
  ],
  [
    'a rollback whose update of the stack failed half way, and its repeat',
    [a, b, failHalfWay, '', mend, '', c],
    all('1 → 3'),
  ],
  // Without the last step of a rollback, the canary starts from the version that was rolled back.
  ['a rollback that left the stack', [a, b, fail('UpdateStack'), '', c], all('2 → 3')],
])('the next canary after %s starts from the version that serves', async (_, steps, canaries) => {
  onTestFinished(skipBackOff());
  const { state } = await follow(steps);
  expect(state.canaries).toEqual(canaries);
  expect(state.status).toBe('UPDATE_COMPLETE');
});

it('an update of the stack after a rollback changes nothing but the aliases that were moved', async () => {
  const { state, aws } = await follow([a, b, enlarge]);
  const before = structuredClone(state.template);
  const args = [...production, '--yes', '--to', 'getPet=1'];
  await callOps(petstore, args, aws.variables);
  const { UpdatePolicy: _, ...alias } = before.Resources.getPetLive;
  const Properties = { ...alias.Properties, FunctionVersion: '1' };
  expect(state.template).toEqual({
    ...before,
    Resources: { ...before.Resources, getPetLive: { ...alias, Properties } },
  });
  const [update] = aws.inputsOf('UpdateStack');
  expect(update).toMatchObject({ StackName: 'petstore-production', DisableRollback: 'true' });
  expect(update?.TemplateURL).toContain('https://cdk-assets-123456789012-eu-west-1.s3.');
});

const { write, folder } = openTemporaryFolder();

/** The template of a further deployment, in which each of these functions has new code. */
function writeNext({ state }: Production, moved: readonly OperationId[] = operationIds): void {
  const next = structuredClone(state.template);
  for (const id of moved) {
    next.Resources[`${id}Live`].Properties.FunctionVersion = { 'Fn::GetAtt': [`${id}Next`, 'V'] };
  }
  write('petstore-production.template.json', JSON.stringify(next));
}

const left = 'version 1 of getPet serves, but the stack petstore-production names version 2';
const leaves = fail('UpdateStack');
/** The CDK would then take the stack back first, and its aliases with it. */
const failed = 'the stack petstore-production is UPDATE_FAILED';

it.each<[string, readonly Step[], OperationId[] | undefined, string]>([
  ['a deployment', [a, b], undefined, ''],
  ['a rollback', [a, b, ''], undefined, ''],
  ['a rollback that left the stack', [a, b, leaves, '--to getPet=1'], undefined, left],
  [
    'the same, and moves another function alone',
    [a, b, leaves, '--to getPet=1'],
    ['listOrders'],
    '',
  ],
  ['the same, and moves nothing', [a, b, leaves, '--to getPet=1'], [], ''],
  ['a rollback whose update of the stack failed half way', [a, b, failHalfWay, ''], [], failed],
  ['the same, and its repeat', [a, b, failHalfWay, '', mend, ''], undefined, ''],
  ['a deployment without that function', [withoutPet(a), b], undefined, ''],
  [
    'an alias that was moved by hand',
    [a, b, ({ functions }) => Object.assign(functions.getPet.alias, { FunctionVersion: '1' })],
    undefined,
    left,
  ],
  [
    'a deployment that failed before its aliases',
    [a, b, fail('GetAlias', 'ResourceNotFoundException')],
    undefined,
    '',
  ],
  [
    'no deployment',
    [fail('DescribeStacks', 'ValidationError', 'Stack with id x does not exist')],
    undefined,
    '',
  ],
])('npm run deploy after %s begins only from what serves', async (_, steps, moved, refusal) => {
  onTestFinished(skipBackOff());
  const stage = await follow(steps);
  writeNext(stage, moved);
  write('petstore-staging.template.json', '{"Resources":{}}');
  const check = (typed: string[]) => checkStacks(folder, typed);
  // As the CDK selects stacks.
  for (const name of [
    'petstore-production',
    'petstore-production-watch',
    '--all',
    '*-production',
  ]) {
    const { stderr, status } = await callOps(check, [name], stage.aws.variables);
    expect([status, stderr]).toEqual([refusal ? 1 : 0, expect.stringContaining(refusal)]);
  }
  for (const name of ['petstore-backup', 'petstore-staging*', 'production']) {
    const others = await callOps(
      check,
      [name],
      name.includes('staging') ? stage.aws.variables : {},
    );
    expect(others.status).toBe(0);
  }
});

it('npx petstore rollback whose reader leaves still moves all aliases', async () => {
  const stage = await follow([a, b, c]);
  const options = { stdout: 'left', variables: stage.aws.variables } as const;
  const { status } = await runOps(['infra/petstore.js', ...production, '--yes'], options);
  expect(describeAfter(stage)).toMatch(/^Live: 2\n/);
  expect(status).toBe(141);
});
