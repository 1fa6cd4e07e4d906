import { spawnSync } from 'node:child_process';
import { runCommand } from '../../cli/usage.ts';
import { listStacks } from '../../stages/resourceNames.ts';
import { checkStacks, chooseStages } from './checkAliases.ts';

const folder = 'cdk.out';

/** `npm run deploy STACK…`: synthesizes their stages, checks what would move, and deploys just that assembly. */
await runCommand(async (typed) => {
  // The CDK bundles no other stack, and `buildApp.ts` builds no other stage.
  runCdk('synth', '--quiet', '--exclusively', ...chooseStages(typed).flatMap(listStacks));
  await checkStacks(folder, typed);
  runCdk('deploy', '--app', folder, ...typed);
});

/** The CDK shows its own errors, so this ends with its status. */
function runCdk(...args: string[]): void {
  const { status } = spawnSync('cdk', args, { stdio: 'inherit' });
  if (status !== 0) process.exit(status ?? 1);
}
