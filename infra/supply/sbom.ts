import { runCommand } from '../cli/usage.ts';
import { runSbom } from './runSbom.ts';

await runCommand(runSbom);
