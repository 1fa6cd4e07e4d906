import { LambdaClient } from '@aws-sdk/client-lambda';
import type { commands } from '../../cli/commands.ts';
import { confirm } from '../../cli/confirm.ts';
import { findMissing, type LiveFunction, type PublishedVersion } from '../../cli/liveFunctions.ts';
import { log, print, toColumns, toShortTime, writeOut } from '../../cli/output.ts';
import type { OptionValues } from '../../cli/program.ts';
import { openStage } from '../../cli/stageStack.ts';
import type { Release } from '../../stages/commit.ts';
import type { Stage } from '../../stages/stages.ts';
import {
  chooseMoves,
  choosePrevious,
  isDone,
  type Move,
  moveAliases,
  parseTarget,
} from './aliases.ts';
import { alignStack } from './alignStack.ts';
import { refuseMovingStack, stopDeployments } from './deployments.ts';
import { readCode, recordKnownBad } from './stageCode.ts';

export async function runRollback(values: OptionValues<typeof commands.rollback>): Promise<void> {
  const { stage } = values;
  const target = parseTarget(values.to ?? []);
  const say = values.json ? log : print;
  /** What was done, for a machine. */
  async function report(moves: readonly Move[], stopped: readonly string[] = []): Promise<void> {
    const moved = moves.map(({ from, to: { version }, commit }) => {
      return { operationId: from.operationId, from: from.live.version, to: version, commit };
    });
    if (values.json)
      await writeOut(`${JSON.stringify({ stage: stage.name, moved, stopped }, null, 2)}\n`);
  }
  const isAgreed = async (question: string) => values.yes || (await confirm(question));

  const stack = await openStage(stage);
  const { name, status } = stack;
  const stopped = await stopDeployments(stack, isAgreed, say);
  if (stopped) return report([], stopped);
  if ('value' in status) refuseMovingStack(name, status.value);
  else log(`The stack ${name} could not be read: ${status.unread}`);
  const { functions, releases, numbers, knownBad, unread } = await readCode(stack);
  for (const { what, why } of unread) log(`${what}, could not be read: ${why}`);
  const moves = target
    ? chooseMoves(functions, releases, target)
    : choosePrevious(functions, releases, knownBad);
  say(listVersions(functions, moves, knownBad));
  for (const id of findMissing(functions)) say(`${id} is not deployed.`);
  if (!moves) throw new Error(`Nothing was moved: ${suggestTarget(stage, functions, releases)}`);
  for (const from of functions) {
    if (typeof target === 'object' || moves.some((move) => move.from === from)) continue;
    say(`${from.operationId} was added after that commit, and stays as it is.`);
  }
  const ahead = moves.filter((move) => !isDone(move));
  if (ahead.length === 0) {
    say('\nEvery alias is there already: nothing was moved. To go elsewhere, say where with --to.');
  } else {
    const names = ahead.map(({ from }) => from.operationId).join(', ');
    if (!(await isAgreed(`\nMove the alias of ${names} in ${stage.name}?`))) {
      say('Nothing was changed.');
      return report([]);
    }
    if ('value' in numbers) await recordKnownBad(stack, numbers.value, ahead);
    await moveAliases(stack.open(LambdaClient), ahead, say);
  }
  const served = functions.map((from) => {
    const { to: live = from.live } = moves.find((move) => move.from === from) ?? {};
    return { ...from, live };
  });
  await alignStack(stack, served, say);
  if (ahead.length > 0) {
    const undo = ahead.map(({ from }) => `${from.operationId}=${from.live.version}`).join(' ');
    say(
      `Deploy the fix as usual. To undo: npx petstore rollback --stage ${stage.name} --to ${undo}`,
    );
  }
  await report(ahead);
}

/** Why there is no rollback target by itself, and what to type for the nearest one. */
function suggestTarget(
  { name }: Stage,
  functions: readonly LiveFunction[],
  releases: readonly Release[],
): string {
  const typed = `npx petstore rollback --stage ${name} --to`;
  const [move] = choosePrevious(functions, releases, new Set()) ?? [];
  if (move) return `every other code is known bad. To go there anyway: ${typed} ${move.commit}`;
  const versions = functions.flatMap(({ operationId, versions: [newest, ...others] }) => {
    const other = others.find(({ digest }) => digest !== newest?.digest);
    return other ? [`${operationId}=${other.version}`] : [];
  });
  return versions.length > 0
    ? `no earlier commit has a version of every function. To go to the one before of each: ${typed} ${versions.join(' ')}`
    : 'no function has a version with other code, as on a stage that keeps only those in use: deploy the good commit.';
}

/** How many of the newest versions are shown of each function. */
const MAX_SHOWN = 4;

function listVersions(
  functions: readonly LiveFunction[],
  moves: readonly Move[] | undefined = [],
  knownBad: ReadonlySet<PublishedVersion>,
): string {
  const rows = functions.flatMap((one) => {
    const target = moves.find(({ from }) => from === one)?.to;
    const describeState = (version: PublishedVersion): string => {
      const { share } = version;
      if (share === 1) return 'live';
      const arrow = version === target ? '<- goes here' : '';
      if (share > 0) return `live, ${Math.round(share * 100)}% ${arrow}`.trim();
      return `${knownBad.has(version) ? 'known bad' : ''} ${arrow}`.trim();
    };
    const shown = one.versions.filter(
      (version, index) => index < MAX_SHOWN || version.share > 0 || version === target,
    );
    return shown.map((version, index) => [
      index === 0 ? one.operationId : '',
      String(version.version),
      version.commit || '-',
      toShortTime(version.publishedAt),
      describeState(version),
    ]);
  });
  return toColumns([['OPERATION', 'VERSION', 'COMMIT', 'PUBLISHED', ''], ...rows]);
}
