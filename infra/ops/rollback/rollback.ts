import { runCommand } from '../../cli/usage.ts';
import { runRollback } from './runRollback.ts';

await runCommand(runRollback);
