import { runCommand } from '../../cli/usage.ts';
import { runKeys } from './runKeys.ts';

await runCommand(runKeys);
