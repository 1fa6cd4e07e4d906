import { parseArgs } from 'node:util';
import { LambdaClient } from '@aws-sdk/client-lambda';
import { confirm } from '../../cli/confirm.ts';
import { print, toColumns, toShortTime } from '../../cli/output.ts';
import { parseStage, stageUsage, toRegion } from '../../cli/stageOption.ts';
import { readStack, type StageStack } from '../../cli/stageStack.ts';
import { type Stage, stagesFile } from '../../stages/stages.ts';
import {
  chooseMoves,
  choosePrevious,
  isDone,
  type LiveFunction,
  type Move,
  moveAliases,
  newestServed,
  type PublishedVersion,
  parseTarget,
  readLiveFunctions,
} from './aliases.ts';
import { refuseMovingStack, stopDeployments } from './deployments.ts';

const help = `npm run rollback -- ${stageUsage} [--to VERSION…] [--yes]

Sends the requests of a stage back to earlier code at once, without a deployment: shows what the alias
"live" of each function points at, asks, moves the aliases, and says what to do next. While a deployment
is still moving the requests, it offers to stop that, which moves them back.

  --to COMMIT                     the commit that all functions go to, at least its first 7 characters
  --to getPet=12 listOrders=7     the versions that some functions go to
                                  without --to: the commit that was deployed before the one that is live
  --yes                           do not ask`;

const flags = {
  stage: { type: 'string' },
  to: { type: 'string', multiple: true },
  yes: { type: 'boolean' },
  help: { type: 'boolean', short: 'h' },
} as const;

/** Moves the aliases of a stage. */
export async function runRollback(args: string[]): Promise<void> {
  const { values, positionals } = parseArgs({ args, options: flags, allowPositionals: true });
  if (values.help) return print(help);
  const stage = parseStage(values.stage);
  const target = parseTarget([...(values.to ?? []), ...positionals]);
  const isAgreed = async (question: string) => values.yes || (await confirm(question));

  const stack = await readStack(stage);
  if (await stopDeployments(stage, stack, isAgreed)) return;
  refuseMovingStack(stack);
  const client = new LambdaClient(toRegion(stage));
  const functions = await readLiveFunctions(client, stage);
  const moves = target ? chooseMoves(functions, target) : choosePrevious(functions);
  print(toVersionTable(functions, moves));
  if (!moves) {
    throw new Error(
      stage.settings.protectsData
        ? 'Nothing was moved: no earlier commit has a version of every function. Say which versions: --to getPet=12 listOrders=7.'
        : `Nothing was moved: ${stage.name} keeps only the versions in use. Check out the good commit and deploy it.`,
    );
  }
  const ahead = moves.filter((move) => !isDone(move));
  if (ahead.length === 0) {
    print(
      '\nEvery alias is there already: nothing was moved. To go elsewhere, say where with --to.',
    );
  } else {
    const aliases = ahead.length === 1 ? '1 alias' : `${ahead.length} aliases`;
    if (!(await isAgreed(`\nMove ${aliases} of ${stage.name}?`))) {
      return print('Nothing was changed.');
    }
    if (!(await moveAliases(client, ahead))) return;
  }
  print(toNextSteps(stage, stack, functions, moves));
}

/** How many versions before the live one are shown of each function. */
const MAX_EARLIER = 3;

/** What each function serves, what it served before, and where it is to go. */
function toVersionTable(
  functions: readonly LiveFunction[],
  moves: readonly Move[] | undefined = [],
): string {
  const rows = functions.flatMap((one) => {
    const target = moves.find(({ from }) => from === one)?.to;
    return toShown(one, target).map((version, index) => [
      index === 0 ? one.operationId : '',
      String(version.version),
      version.commit || '-',
      toShortTime(version.publishedAt),
      toMark(one, version, target),
    ]);
  });
  return toColumns([['OPERATION', 'VERSION', 'COMMIT', 'PUBLISHED', ''], ...rows]);
}

function toShown(one: LiveFunction, target: PublishedVersion | undefined): PublishedVersion[] {
  const newest = newestServed(one);
  const earlier = one.versions.filter(({ version }) => version < newest).slice(0, MAX_EARLIER);
  return one.versions.filter(
    (version) => one.served.has(version.version) || version === target || earlier.includes(version),
  );
}

function toMark(
  { served }: LiveFunction,
  version: PublishedVersion,
  target: PublishedVersion | undefined,
): string {
  const share = served.get(version.version);
  const percent = `${Math.round((share ?? 0) * 100)}%`;
  const live = share === undefined ? '' : share === 1 ? 'live' : `live, ${percent}`;
  if (version !== target || share === 1) return live;
  return live ? `${live} -> all` : '<- goes here';
}

/**
 * What keeps the next deployment from being confused by aliases that were moved without it.
 * CloudFormation compares a template with the last one, never with what an alias points at:
 * https://docs.aws.amazon.com/AWSCloudFormation/latest/UserGuide/using-cfn-updating-stacks.html
 * So the last template, deployed again, moves nothing. Any other moves an alias to its new version:
 * with `atOnce` from wherever it is; else through CodeDeploy, which stops while an alarm fires, and which
 * takes the version of the last template for the one that the requests go to:
 * https://docs.aws.amazon.com/codedeploy/latest/userguide/reference-appspec-file-structure-resources.html
 */
function toNextSteps(
  { name: stage, settings }: Stage,
  { name, outputs }: StageStack,
  functions: readonly LiveFunction[],
  moves: readonly Move[],
): string {
  const toServed = (one: LiveFunction) =>
    moves.find(({ from }) => from === one)?.to.version ?? newestServed(one);
  if (functions.every((one) => toServed(one) === one.versions[0]?.version)) {
    return `\nThe aliases are where the last deployment put them: nothing else is to be done.`;
  }
  const isGradual = settings.rollout !== 'atOnce';
  const last = outputs.Commit ?? 'what was deployed last';
  const steps = [
    `Check out the good commit, or one that fixes the error, and npm ci. Not ${last},\n     which was deployed last: again it changes nothing, and the aliases stay where they are.`,
    ...(isGradual
      ? [
          `In ${stagesFile}, set rollout: 'atOnce' under ${stage}: CodeDeploy stops while an alarm\n     fires, and takes the aliases to be where the last deployment put them.`,
        ]
      : []),
    `npm run deploy ${name}`,
    ...(isGradual ? ['Put rollout back, and deploy once more.'] : []),
  ];
  const moved = moves.filter((move) => !isDone(move));
  const back = moved.map(({ from }) => `${from.operationId}=${newestServed(from)}`);
  return [
    '\nCloudFormation knows nothing of this. The next deployment:',
    ...steps.map((step, index) => `  ${index + 1}. ${step}`),
    'The aliases need not be put back before.',
    ...(moved.length === 0
      ? []
      : [`To undo: npm run rollback -- --stage ${stage} --to ${back.join(' ')}`]),
  ].join('\n');
}
