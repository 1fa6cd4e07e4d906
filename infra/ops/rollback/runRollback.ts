import { parseArgs } from 'node:util';
import { LambdaClient } from '@aws-sdk/client-lambda';
import { confirm } from '../../cli/confirm.ts';
import { print } from '../../cli/output.ts';
import { parseStage, stageUsage, toRegion } from '../../cli/stageOption.ts';
import { readStack } from '../../cli/stageStack.ts';
import type { Stage } from '../../stages/stages.ts';
import { refuseMovingStack, stopDeployments } from './deployments.ts';
import { readLiveFunctions } from './liveFunctions.ts';
import { chooseMoves, choosePrevious, isDone, moveAliases, parseTarget } from './moves.ts';
import { toNextSteps, toVersionTable } from './rollbackText.ts';

const help = `npm run rollback -- ${stageUsage} [--to VERSION…] [--yes]

Sends the requests of a stage back to earlier code at once, without a deployment: shows what the alias
"live" of each function points at, asks, moves the aliases, and says what to do next. While a deployment
is still moving the requests, it offers to stop that, which moves them back.

  --to COMMIT                     the commit that all functions go to, at least its first 7 characters
  --to getPet=12 listOrders=7     the versions that some functions go to
                                  without --to: the commit that was deployed before the one that is live
  --yes                           do not ask
`;

const flags = {
  stage: { type: 'string' },
  to: { type: 'string', multiple: true },
  yes: { type: 'boolean' },
  help: { type: 'boolean', short: 'h' },
} as const;

/** Moves the aliases of a stage. @throws {UsageError} when what was typed makes no sense */
export async function runRollback(args: string[]): Promise<void> {
  const { values, positionals } = parseArgs({ args, options: flags, allowPositionals: true });
  if (values.help) return print(help.trimEnd());
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
  if (!moves) throw new Error(nothingEarlierText(stage));
  const ahead = moves.filter((move) => !isDone(move));
  if (ahead.length === 0) {
    print(
      '\nEvery alias is there already: nothing was moved. To go elsewhere, say where with --to.',
    );
  } else {
    if (
      !(await isAgreed(
        `\nMove ${ahead.length === 1 ? '1 alias' : `${ahead.length} aliases`} of ${stage.name}?`,
      ))
    ) {
      return print('Nothing was changed.');
    }
    if (!(await moveAliases(client, ahead))) return;
  }
  print(toNextSteps(stage, stack, functions, moves));
}

function nothingEarlierText({ name, settings }: Stage): string {
  return settings.protectsData
    ? 'Nothing was moved: no earlier commit has a version of every function. Say which versions: --to getPet=12 listOrders=7.'
    : `Nothing was moved: ${name} keeps only the versions in use. Check out the good commit and deploy it.`;
}
