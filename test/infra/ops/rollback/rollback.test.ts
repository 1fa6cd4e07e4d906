import { chmodSync } from 'node:fs';
import { dirname } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { chooseStages } from '../../../../infra/ops/rollback/checkAliases.ts';
import { petstore } from '../../../../infra/petstore.ts';
import {
  mapOperations,
  type OperationId,
  operationIds,
} from '../../../../shared/contract/operations.ts';
import { skipBackOff } from '../../../support/faults/clock.ts';
import { openTemporaryFolder } from '../../../support/temporaryFolder.ts';
import { callOps, playScenarios, runOps } from '../opsProcess.ts';
import {
  a,
  b,
  c,
  cAgain,
  canaryOf,
  check,
  documents,
  every,
  fail,
  follow,
  guarded,
  histories,
  isBusy,
  leave,
  mend,
  production,
  refuse,
  type Step,
  screens,
  setStatus,
  withoutEntry,
} from './histories.ts';
import type { Deployment, Production } from './stackEngine.ts';

/** The versions that are live then, first those of most operations. */
function findLive({ functions }: Production): string {
  const byVersion = Map.groupBy(operationIds, (id) => {
    const { FunctionVersion, RoutingConfig } = functions[id].alias;
    return `${FunctionVersion} ${Object.keys(RoutingConfig?.AdditionalVersionWeights ?? {})}`.trim();
  });
  const [usual, ...others] = [...byVersion].toSorted(([, one], [, two]) => two.length - one.length);
  return [usual?.[0], ...others.map(([version, ids]) => `${version} of ${ids}`)].join(', ');
}

/** The calls that changed something. */
function listChanges({ aws }: Production): string {
  const changes = aws.calls
    .map(({ operation }) => operation)
    .filter((operation) => /^(PutParameter|Update|Stop)/.test(operation));
  return `called ${[...new Set(changes)].join(', ') || 'nothing'}`;
}

/** Leaves out the operations that the contract has beside getInventoryEntry, of which there may be more. */
function withoutOthers(screen: string): string {
  const others = operationIds.filter((id) => id !== 'getInventoryEntry');
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

/** The end of a row about a screen: how to undo it, and lines for what the screens in full do not have. */
function toUnusual(screen: string): string {
  const usual =
    /^(\$ |getInventoryEntry +\d| +|\w+ goes to version|The stack \S+ names the live|Deploy the fix|CodeDeploy moves|Then look|$)/;
  const [, undo] = /^Deploy the fix .*--to (.+)$/m.exec(screen) ?? [];
  const [json = ''] = /^\{\n.*?^\}\n/ms.exec(screen) ?? [];
  const lines = screen.replace(json, json && `${JSON.stringify(JSON.parse(json))}\n`).split('\n');
  const unusual = lines.filter((line) => !usual.test(line.replace(/^! ?/, '')));
  return [undo ? `; to undo ${undo}` : '', ...unusual].join('\n  ');
}

const rows: string[] = [];

it.each(Object.entries(histories))('npx petstore rollback: %s', async (name, [live, ...steps]) => {
  onTestFinished(skipBackOff());
  const { screen, ...stage } = await follow(steps);
  expect(findLive(stage)).toBe(live);
  rows.push(`${name}: ${listChanges(stage)}${toUnusual(withoutOthers(screen))}`);
});

it('npx petstore rollback says what it did, and what to do next', async () => {
  onTestFinished(skipBackOff());
  const seen = await playScenarios(screens, async (steps) => (await follow(steps)).screen);
  await expect(`${withoutOthers(seen)}\n${rows.join('\n')}\n`).toMatchFileSnapshot('histories.txt');
});

type Canaries = Partial<Record<OperationId, string | undefined>>;
const all = (canary: string): Canaries => mapOperations(() => canary);

const moveByHand = ({ functions }: Production) =>
  Object.assign(functions.getInventoryEntry.alias, { FunctionVersion: '1' });
const isIdle = setStatus('UPDATE_COMPLETE');
const ofOrders: Deployment = [c[0], b[0], { listOrders: c[0] }];
const left =
  'version 1 of getInventoryEntry serves, but the stack petstore-production names version 2';
/** The CDK would then take the stack back first, and its aliases with it. */
const failed = 'the stack petstore-production is UPDATE_FAILED';

it.each<[string, readonly Step[], Deployment, Canaries | string]>([
  ['a deployment', [a, b], c, all('2 → 3')],
  ['no deployment', [], a, {}],
  [
    'a deployment without getInventoryEntry',
    [withoutEntry(a)],
    b,
    { ...all('1 → 2'), getInventoryEntry: undefined },
  ],
  ['a rollback', [a, b, ''], c, all('1 → 3')],
  ['a rollback, a fix and another', [a, b, '', c, ''], ['9'], all('1 → 4')],
  [
    'a rollback of getInventoryEntry',
    [a, b, '--to getInventoryEntry=1'],
    c,
    { ...all('2 → 3'), getInventoryEntry: '1 → 3' },
  ],
  ['a rollback that was undone', [a, b, '', `--to ${every(2)}`], c, all('2 → 3')],
  // Nothing refuses the code that was rolled back.
  ['a rollback, of documents on that code', [a, b, ''], documents, all('1 → 2')],
  [
    'a rollback of getInventoryEntry, of documents',
    [a, b, '--to getInventoryEntry=1'],
    documents,
    { getInventoryEntry: '1 → 2' },
  ],
  ['a deployment, of documents', [a, b], documents, {}],
  // CloudFormation takes a deployment back by its template before.
  ['a canary that was stopped', [a, canaryOf(b), ''], c, all('1 → 3')],
  ['a hook that refused', [a, refuse('listOrders'), b], c, all('1 → 3')],
  [
    'a hook that refused the fix',
    [a, b, '', refuse('listOrders'), guarded(c)],
    cAgain,
    all('1 → 4'),
  ],
  // Not everything can be done at once.
  [
    'a rollback while CloudFormation is busy',
    [a, b, isBusy, '--to getInventoryEntry=1', isIdle],
    c,
    left,
  ],
  ['the same, and its repeat', [a, b, isBusy, '', isIdle, ''], c, all('1 → 3')],
  ['a rollback that left the stack', [a, b, leave, '--to getInventoryEntry=1'], c, left],
  [
    'the same, of another function',
    [a, b, leave, '--to getInventoryEntry=1'],
    ofOrders,
    { listOrders: '2 → 3' },
  ],
  ['the same, of documents', [a, b, leave, '--to getInventoryEntry=1'], documents, {}],
  [
    'the same, without getInventoryEntry',
    [a, b, leave, '--to getInventoryEntry=1'],
    withoutEntry(c),
    { ...all('2 → 3'), getInventoryEntry: undefined },
  ],
  ['the same, and its repeat', [a, b, leave, '', mend, ''], c, all('1 → 3')],
  ['a rollback that failed half way', [a, b, refuse('getInventoryEntry'), ''], documents, failed],
  [
    'the same, and its repeat',
    [a, b, refuse('getInventoryEntry'), '', refuse(), ''],
    c,
    all('1 → 3'),
  ],
  ['an alias that was moved by hand', [a, b, moveByHand], c, left],
  [
    'the loss of all aliases',
    [a, b, fail('GetAlias', 'ResourceNotFoundException')],
    c,
    all('2 → 3'),
  ],
])(
  'npm run deploy after %s starts from what serves, or not at all',
  async (_, steps, next, expected) => {
    onTestFinished(skipBackOff());
    const stage = await follow(steps);
    const { stderr, status } = await check(stage, next);
    if (typeof expected === 'string')
      return expect([stderr, status]).toEqual([expect.stringContaining(expected), 1]);
    expect([stderr, status]).toEqual(['', 0]);
    stage.deploy(next);
    expect(stage.state.canaries).toEqual(expected);
    expect(stage.state.status).toBe('UPDATE_COMPLETE');
    // Documents alone change this and an output.
    expect(stage.state.releases.at(-1)?.commit).toBe(next[0]);
  },
);

it.each([
  ['petstore-production-watch', ['production'], 1],
  ['petstore-staging*', ['staging'], 0],
])('npm run deploy %s checks the stages of its stacks', async (name, checked, expected) => {
  const stage = await follow([a, b, moveByHand]);
  expect((await check(stage, c, name)).status).toBe(expected);
  const stacks = stage.aws.inputsOf('DescribeStacks').map(({ StackName }) => StackName);
  expect(stacks).toEqual(checked.map((one) => `petstore-${one}`));
});

it('an update of the stack after a rollback changes nothing but the aliases that were moved', async () => {
  const { state, aws } = await follow([a, b]);
  const { template = { Resources: {} } } = state.stack ?? {};
  await callOps(petstore, [...production, '--yes', '--to', 'getInventoryEntry=1'], aws.variables);
  const id =
    Object.keys(template.Resources).find((one) => one.startsWith('getInventoryEntryLive')) ?? '';
  const { UpdatePolicy: _, ...alias } = template.Resources[id];
  const Properties = { ...alias.Properties, FunctionVersion: '1' };
  expect(state.stack?.template).toEqual({
    ...template,
    Resources: { ...template.Resources, [id]: { ...alias, Properties } },
  });
  const [update] = aws.inputsOf('UpdateStack');
  expect(update).toMatchObject({
    StackName: 'petstore-production',
    DisableRollback: 'true',
    'Parameters.member.1.ParameterKey': 'BootstrapVersion',
    'Parameters.member.1.UsePreviousValue': 'true',
  });
  expect(update?.TemplateURL).toContain('https://cdk-hnb659fds-assets-123456789012-eu-west-1.s3.');
});

it('npx petstore rollback whose reader leaves still moves all aliases, and ends silently', async () => {
  const stage = await follow([a, b, c]);
  const options = { stdout: 'left', variables: stage.aws.variables } as const;
  const outcome = await runOps(['infra/petstore.js', ...production, '--yes'], options);
  expect(findLive(stage)).toBe('2');
  expect(outcome).toEqual({ status: 141, stdout: '', stderr: '' });
});

const { folder, write, toPath } = openTemporaryFolder();

/** Types `npm run deploy`, with a CDK that shows its arguments and fails. */
async function deploy(...typed: string[]) {
  write('cdk', '#!/bin/sh\necho "cdk $*"\nexit 3\n');
  chmodSync(toPath('cdk'), 0o755);
  const variables = { PATH: `${folder}:${dirname(process.execPath)}:/usr/bin:/bin` };
  return await runOps(['infra/ops/rollback/deploy.ts', ...typed], { variables });
}

const stacks =
  'petstore-staging, petstore-staging-watch, petstore-production, petstore-production-watch';

it('npm run deploy builds the stages that it deploys, and ends as the CDK does', async () => {
  expect(await deploy('petstore-staging-watch', '--require-approval', 'never')).toEqual({
    status: 3,
    stdout: 'cdk synth --quiet --exclusively petstore-staging petstore-staging-watch\n',
    stderr: '',
  });
});

it.each([
  [['petstore-staging'], ['staging']],
  [['--require-approval', 'never', 'petstore-staging-watch'], ['staging']],
  [['petstore-production*'], ['production']],
  [
    ['petstore-staging', 'petstore-production'],
    ['staging', 'production'],
  ],
  [['--all'], ['staging', 'production']],
])('npm run deploy %j builds %j', (typed, built) => {
  expect(chooseStages(typed).map(({ name }) => name)).toEqual(built);
});

it.each([
  [['petstore-stagin'], '"petstore-stagin" is no stack'],
  [['staging', '--require-approval', 'never'], '"staging" is no stack'],
  [['petstore-staging', 'petstore-production-backup'], '"petstore-production-backup" is no stack'],
  [['--require-approval', 'never'], 'no stack is named'],
])('npm run deploy %j is wrong: %s', (typed, wrong) => {
  expect(() => chooseStages(typed)).toThrow(
    `Nothing was deployed: ${wrong}. The stacks are ${stacks}.`,
  );
});
