import { spawnSync } from 'node:child_process';
import { runCommand, UsageError } from '../../cli/usage.ts';
import { hasStack, listStacks } from '../../stages/resourceNames.ts';
import { type Stage, stages } from '../../stages/stages.ts';
import { checkStacks, findStages } from './checkAliases.ts';

const folder = 'cdk.out';

/** `npm run deploy STACK…`: synthesizes their stages, checks what would move, and deploys just that assembly. */
await runCommand(async (typed) => {
  // The CDK bundles no other stack, and `buildApp.ts` builds no other stage.
  runCdk('synth', '--quiet', '--exclusively', ...chooseStages(typed).flatMap(listStacks));
  await checkStacks(folder, typed);
  runCdk('deploy', '--app', folder, ...typed);
});

/** @throws {UsageError} if there is no such stack: a name that is wrong fails before anything is built */
function chooseStages(typed: readonly string[]): Stage[] {
  const all = Object.values(stages);
  const firstOption = typed.findIndex((one) => one.startsWith('-'));
  // Behind an option, a word may be its value.
  const names = typed.slice(0, firstOption < 0 ? undefined : firstOption);
  const unknown = names.find((name) => !all.some((stage) => hasStack(stage, name)));
  const chosen = findStages(typed);
  if (unknown === undefined && chosen.length > 0) return chosen;
  const wrong = unknown === undefined ? 'no stack is named' : `"${unknown}" is no stack`;
  const known = all.flatMap(listStacks).join(', ');
  throw new UsageError(`Nothing was deployed: ${wrong}. The stacks are ${known}.`);
}

/** The CDK shows its own errors, so this ends with its status. */
function runCdk(...args: string[]): void {
  const { status } = spawnSync('cdk', args, { stdio: 'inherit' });
  if (status !== 0) process.exit(status ?? 1);
}
