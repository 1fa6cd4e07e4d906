import { checkStacks } from '../../../../infra/ops/rollback/checkAliases.ts';
import { petstore } from '../../../../infra/petstore.ts';
import { stages } from '../../../../infra/stages/stages.ts';
import { type OperationId, operationIds } from '../../../../shared/contract/operations.ts';
import { openTemporaryFolder } from '../../../support/temporaryFolder.ts';
import { AwsError } from '../aws.ts';
import { callOps, changeSettings, toScreen } from '../opsProcess.ts';
import {
  type Deployment,
  type Production,
  startProduction,
  toDigest,
  toTemplate,
} from './stackEngine.ts';

export const production = ['rollback', '--stage', 'production'];

/** What production goes through: deployments, roll-backs as typed, such as `--to getInventoryEntry=1 <y`, and other changes. */
export type Step = Deployment | string | ((production: Production) => unknown);

/** Production after these steps, and what was seen of the last roll-back. */
export async function follow(steps: readonly Step[]) {
  const stage = await startProduction();
  const { aws } = stage;
  let screen = '';
  for (const step of steps) {
    if (typeof step === 'string') {
      aws.calls.length = 0;
      const [line = '', typed] = step.split('<');
      const words = line.split(' ').filter(Boolean);
      const args = [...production, ...words, ...(typed === undefined ? ['--yes'] : [])];
      const input = typed === 'no terminal' ? undefined : typed;
      screen = toScreen(args, await callOps(petstore, args, aws.variables, input));
    } else if (typeof step === 'function') await step(stage);
    else stage.deploy(step);
  }
  return { ...stage, screen };
}

const { write, folder } = openTemporaryFolder();

/** What `npm run deploy` says of a deployment before CloudFormation begins. */
export async function check({ aws }: Production, next: Deployment, name = 'petstore-production') {
  write('petstore-production.template.json', JSON.stringify(toTemplate(next)));
  write('petstore-staging.template.json', '{"Resources":{}}');
  return await callOps((typed) => checkStacks(folder, typed), [name], aws.variables);
}

/** `npm run deploy`. A deployment alone is `npx cdk deploy`, which compares nothing. */
export const guarded = (next: Deployment) => async (production: Production) => {
  const { stderr, status } = await check(production, next);
  if (status !== 0) throw new Error(stderr);
  production.deploy(next);
};

export const [a, b, c] = [['aaaaaaaaaaa1'], ['bbbbbbbbbbb2'], ['ccccccccccc3']] as const;
const edit = (commit: string, digest: string): Deployment => [`${commit}-dirty-${digest}`];
export const documents: Deployment = ['ddddddddddd4', b[0]];
export const cAgain: Deployment = ['eeeeeeeeeee5', c[0]];
const aAgain: Deployment = ['fffffffffff6', a[0]];
export const withoutEntry = ([commit]: Deployment): Deployment => [
  commit,
  commit,
  { getInventoryEntry: '' },
];
const withEntryOfB = ([commit]: Deployment): Deployment => [
  commit,
  commit,
  { getInventoryEntry: b[0] },
];
/** Of getInventoryEntry, by hand. */
const deleteVersion =
  (version: number) =>
  ({ functions: { getInventoryEntry } }: Production) => {
    getInventoryEntry.versions = getInventoryEntry.versions.filter(
      ({ Version }) => Version !== `${version}`,
    );
  };
export const every = (version: number) => operationIds.map((id) => `${id}=${version}`).join(' ');
export const fail =
  (operation: string, error = 'AccessDeniedException', message = 'no') =>
  ({ responses }: Production) => {
    responses[operation] = () => {
      throw new AwsError(error, message);
    };
  };
/** The stack stays as it is, in CloudFormation's words: https://github.com/aws/aws-cdk/issues/20959 */
export const leave = fail(
  'UpdateStack',
  'ValidationError',
  "AccessDenied. User doesn't have permission to call ssm:GetParameters",
);
export const mend = ({ responses, updateStack }: Production) =>
  Object.assign(responses, { UpdateStack: updateStack });
export const setStatus =
  (status: string) =>
  ({ state }: Production) =>
    Object.assign(state, { status });
/** CloudFormation takes no update, and moves no alias. */
export const isBusy = setStatus('UPDATE_COMPLETE_CLEANUP_IN_PROGRESS');
const deployTo =
  (targets: Record<string, string>) =>
  ({ state }: Production) =>
    Object.assign(state, { deployments: targets });
const getInventoryEntry = 'petstore-production-getInventoryEntry';
const ofOthers = { 'd-Baking': `${getInventoryEntry}s` };
const canary = deployTo({
  ...Object.fromEntries(
    ['Created', 'Queued', 'InProgress', 'Baking', 'Succeeded'].map((one) => [
      `d-${one}`,
      getInventoryEntry,
    ]),
  ),
  'd-Ready': 'petstore-production-listOrders:live',
});
/** The next update of the stack cannot move this alias: a hook refuses its version, or Lambda refuses the move. */
export const refuse =
  (refused?: OperationId) =>
  ({ state }: Production) =>
    Object.assign(state, { toEnd: (id: OperationId) => (id === refused ? 'refused' : 'moved') });
/** A deployment whose new versions have a tenth of the requests. */
export const canaryOf =
  (deployment: Deployment) =>
  ({ state, deploy }: Production) => {
    Object.assign(state, { toEnd: () => 'runs' });
    deploy(deployment);
  };

/** A deployment ended with two versions of each function, the newer one with a tenth of the requests. */
const leaveTwo = ({ functions }: Production) => {
  for (const { alias } of Object.values(functions)) {
    const newer = alias.FunctionVersion;
    alias.FunctionVersion = `${Number(newer) - 1}`;
    alias.RoutingConfig = { AdditionalVersionWeights: { [newer]: 0.1 } };
  }
};

/** Shown as an operator sees them, at the beginning of `histories.txt`. */
export const screens: Readonly<Record<string, readonly Step[]>> = {
  'A, B back, C: from C to A, not to B': [a, b, '', c, ''],
  'from two versions, further than is shown': [
    ...[a, b, c, ['9999999999a9'] as const, aAgain, leaveTwo],
    '--to getInventoryEntry=1',
  ],
  'a canary in flight': [a, canaryOf(b), ''],
};

/** The versions that are live after what production went through; `histories.txt` has what was called and said. */
export const histories: Readonly<Record<string, readonly [live: string, ...Step[]]>> = {
  'to the commit before': ['2', a, b, c, ''],
  'to a commit by its beginning': ['1', a, b, c, '--to aaaaaaa'],
  'to one by all digits': ['1', a, b, c, `--to ${a[0]}${'2'.repeat(28)}`],
  'two functions': [
    '3, 1 of getInventoryEntry, 2 of listOrders',
    a,
    b,
    c,
    '--to getInventoryEntry=1 listOrders=2',
  ],
  'to a commit, not to the same with changes': ['1', a, edit(a[0], '11111111'), c, `--to ${a[0]}`],
  'to a commit with changes': ['2', a, edit(a[0], '11111111'), c, `--to ${a[0]}-dirty`],
  'from one edit to the one before': ['2', a, edit(c[0], '11111111'), edit(c[0], '22222222'), ''],
  'past one that lacks a version': ['1', a, b, c, deleteVersion(2), ''],
  'what the last one moved': ['2', a, b, withEntryOfB(c), ''],
  'what an earlier run left': ['2', a, b, c, '--to getInventoryEntry=2', ''],
  // Versions are known by their code, and by what roll-backs have left.
  'A, B, documents alone: from these to A': ['1', a, b, documents, ''],
  'A, B back, C twice: from C to A': ['1', a, b, '', c, cAgain, ''],
  'A, B back in part, C: from C to A': ['1', a, b, '--to getInventoryEntry=1', c, ''],
  'A, B back, again: no further': ['1', a, b, '', ''],
  'A, B back, B by --to, C: to B': ['2', a, b, '', '--to bbbbbbb', c, ''],
  'all but a new operation': ['1', withoutEntry(a), b, ''],
  'to a commit, all but a new operation': [
    '1, 2 of getInventoryEntry',
    withoutEntry(a),
    b,
    c,
    '--to aaaaaaa',
  ],
  'before a new operation is deployed': [
    '1,  of getInventoryEntry',
    withoutEntry(a),
    withoutEntry(b),
    '',
  ],
  'an operation that is not deployed': [
    '1,  of getInventoryEntry',
    withoutEntry(a),
    '--to getInventoryEntry=1',
  ],
  'what was left, and what has the same code': [
    '4, 1 of getInventoryEntry',
    a,
    b,
    '',
    c,
    aAgain,
    '--to getInventoryEntry=1',
    '--to getInventoryEntry=1',
  ],
  'a deployment that left two versions': ['2', a, b, c, leaveTwo, isBusy, ''],
  // Where it cannot read or write everything.
  'without reading what was left': ['2', a, b, c, fail('GetParameter'), ''],
  'without noting what was left': ['2', a, b, c, fail('PutParameter'), ''],
  'without CloudFormation': ['2', a, b, c, fail('DescribeStacks', 'Throttling'), ''],
  'without reading the parameter of the template': ['2', a, b, c, leave, ''],
  'an alias that changed since it was shown': [
    '2, 3 of getInventoryEntry',
    ...[a, b, c],
    ({ responses, functions, updateAlias }) => {
      responses.UpdateAlias = (input) => {
        functions.getInventoryEntry.alias.RevisionId = 'changed';
        return updateAlias(input);
      };
    },
    '',
  ],
  // Questions, and JSON.
  'asked, yes': ['3, 2 of getInventoryEntry', a, b, c, '--to getInventoryEntry=2 <yes\n'],
  'asked, a word that begins with yes': ['3', a, b, c, '--to getInventoryEntry=2 <yess\n'],
  'nobody is there to ask': ['3', a, b, c, '<no terminal'],
  'in JSON': ['3, 1 of getInventoryEntry', a, b, c, '--to getInventoryEntry=1 --json'],
  'in JSON, asked, no': ['3', a, b, c, '--json <n\n'],
  // Nothing is moved.
  'no commit is that': ['3', a, b, c, '--to dddddddd'],
  'no edit is that': ['3', a, edit(a[0], '11111111'), c, `--to ${a[0]}-dirty-3`],
  'no commit is a digest': ['2', a, b, `--to ${toDigest('getInventoryEntry', b[0])}`],
  'a version is not there': ['3', a, b, c, '--to getInventoryEntry=9'],
  'a version of the commit is deleted': ['3', a, b, c, deleteVersion(1), '--to aaaaaaa'],
  'a commit may be several': ['3', a, ['aaaaaaaaaaa2'], c, '--to aaaaaaa'],
  'no earlier commit is to be had': ['1', a, ''],
  'there is no other code': ['1', b, documents, ''],
  'the only other code was left': ['3', a, b, '', aAgain, ''],
  'no commit has a version of each function': [
    '2',
    ...[a, c],
    ({ functions }) =>
      Object.assign(functions.getInventoryEntry.versions[0] ?? {}, { Description: documents[0] }),
    '',
  ],
  'its stack is being updated': ['3', a, b, c, setStatus('UPDATE_IN_PROGRESS'), ''],
  'its stack is stuck': ['2', a, b, c, setStatus('UPDATE_ROLLBACK_FAILED'), ''],
  // A canary is stopped instead.
  'during a canary': ['3', a, b, c, setStatus('UPDATE_IN_PROGRESS'), canary, ''],
  'during a canary, asked, no': ['3', a, b, c, canary, '<n\n'],
  'during a canary, in JSON': ['3', a, b, c, canary, '--json'],
  'while only unused resources go, and others deploy': [
    '2',
    ...[a, b, c, isBusy, deployTo(ofOthers)],
    '',
  ],
  'its functions are elsewhere': [
    '3',
    ...[a, b, c],
    ({ responses }) => {
      changeSettings(stages.production, { region: 'eu-west-1' });
      const AliasArn = 'arn:aws:lambda:us-west-2:123456789012:function:x:live';
      responses.GetAlias = () => ({ FunctionVersion: '3', AliasArn });
    },
    '',
  ],
};
