import { parseArgs } from 'node:util';
import { LambdaClient } from '@aws-sdk/client-lambda';
import { commands } from '../../cli/commands.ts';
import { confirm } from '../../cli/confirm.ts';
import { type LiveFunction, readLiveFunctions, toPercent } from '../../cli/liveFunctions.ts';
import { print, toColumns, toShortTime } from '../../cli/output.ts';
import { parseStage } from '../../cli/stageOption.ts';
import { readStack } from '../../cli/stageStack.ts';
import type { Stage } from '../../stages/stages.ts';
import {
  chooseMoves,
  choosePrevious,
  isDone,
  type Move,
  moveAliases,
  newestServed,
  parseTarget,
} from './aliases.ts';
import { refuseMovingStack, stopDeployments } from './deployments.ts';

export async function runRollback(args: string[]): Promise<void> {
  const { values, positionals } = parseArgs({
    args,
    options: commands.rollback.options,
    allowPositionals: true,
  });
  const stage = parseStage(values.stage);
  const target = parseTarget([...(values.to ?? []), ...positionals]);
  const isAgreed = async (question: string) => values.yes || (await confirm(question));

  const stack = await readStack(stage);
  if (await stopDeployments(stack, isAgreed)) return;
  refuseMovingStack(stack);
  const functions = await readLiveFunctions(stack);
  const moves = target ? chooseMoves(functions, target) : choosePrevious(functions);
  print(toVersionTable(functions, moves));
  if (!moves) {
    throw new Error(
      'Nothing was moved: no earlier commit has a version of every function, as on a stage that keeps only those in use. Say which versions, such as --to getPet=12, or deploy the good commit.',
    );
  }
  const ahead = moves.filter((move) => !isDone(move));
  if (ahead.length === 0) {
    print(
      '\nEvery alias is there already: nothing was moved. To go elsewhere, say where with --to.',
    );
  } else {
    const names = ahead.map(({ from }) => from.operationId).join(', ');
    if (!(await isAgreed(`\nMove the alias of ${names} in ${stage.name}?`))) {
      return print('Nothing was changed.');
    }
    await moveAliases(stack.open(LambdaClient), ahead);
  }
  print(toNextSteps(stage, functions, moves));
}

/** How many of the newest versions are shown of each function. */
const MAX_SHOWN = 4;

/** The live version of each function, earlier versions, and the target. */
function toVersionTable(
  functions: readonly LiveFunction[],
  moves: readonly Move[] | undefined = [],
): string {
  const rows = functions.flatMap((one) => {
    const target = moves.find(({ from }) => from === one)?.to;
    const shown = one.versions.filter(
      (version, index) =>
        index < MAX_SHOWN || one.served.has(version.version) || version === target,
    );
    return shown.map((version, index) => [
      index === 0 ? one.operationId : '',
      String(version.version),
      version.commit || '-',
      toShortTime(version.publishedAt),
      toMark(one.served.get(version.version), version === target),
    ]);
  });
  return toColumns([['OPERATION', 'VERSION', 'COMMIT', 'PUBLISHED', ''], ...rows]);
}

function toMark(share: number | undefined, isTarget: boolean): string {
  const live = share === undefined ? '' : share === 1 ? 'live' : `live, ${toPercent(share)}`;
  return `${live}${isTarget && share !== 1 ? ' <- goes here' : ''}`.trim();
}

/**
 * What to do so that the next deployment works, although the aliases were moved without it.
 * CloudFormation compares a template with the last template, never with an alias:
 * https://docs.aws.amazon.com/AWSCloudFormation/latest/UserGuide/using-cfn-updating-stacks.html
 * So deploying the last template again moves nothing. Any other template moves an alias to its new version.
 * With `atOnce`, it moves from any version. CodeDeploy stops while an alarm fires, and assumes that the
 * requests go to the version of the last template:
 * https://docs.aws.amazon.com/codedeploy/latest/userguide/reference-appspec-file-structure-resources.html
 */
function toNextSteps(
  { name: stage }: Stage,
  functions: readonly LiveFunction[],
  moves: readonly Move[],
): string {
  const toServed = (one: LiveFunction) =>
    moves.find(({ from }) => from === one)?.to.version ?? newestServed(one);
  if (functions.every((one) => toServed(one) === one.versions[0]?.version)) {
    return '\nThe aliases are where the last deployment put them: there is nothing else to do.';
  }
  const moved = moves.filter((move) => !isDone(move));
  const back = moved.map(({ from }) => `${from.operationId}=${newestServed(from)}`);
  return [
    '\nCloudFormation knows nothing of this: go on at "After a rollback" in infra/OPERATIONS.md.',
    `The next deployment must not be of ${functions[0]?.versions[0]?.commit || 'what was deployed last'}, and needs rollout: 'atOnce'.`,
    ...(moved.length === 0
      ? []
      : [`To undo: npx petstore rollback --stage ${stage} --to ${back.join(' ')}`]),
  ].join('\n');
}
