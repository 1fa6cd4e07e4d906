import { runCommand } from '../../cli/usage.ts';
import { runCosts } from './runCosts.ts';

await runCommand(runCosts);
