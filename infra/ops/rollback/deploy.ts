import { spawnSync } from 'node:child_process';
import { runCommand } from '../../cli/usage.ts';
import { checkStacks } from './checkAliases.ts';

const folder = 'cdk.out';

/** `npm run deploy STACK…`: synthesizes, checks what would move, and deploys just that assembly. */
await runCommand(async (typed) => {
  runCdk('synth', '--quiet');
  await checkStacks(folder, typed);
  runCdk('deploy', '--app', folder, ...typed);
});

/** The CDK shows its own errors, so this ends with its status. */
function runCdk(...args: string[]): void {
  const { status } = spawnSync('cdk', args, { stdio: 'inherit' });
  if (status !== 0) process.exit(status ?? 1);
}
