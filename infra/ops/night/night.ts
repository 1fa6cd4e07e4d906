import { runCommand } from '../../cli/usage.ts';
import { runNight } from './runNight.ts';

await runCommand(runNight);
