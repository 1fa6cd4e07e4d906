import { runCommand } from '../../cli/usage.ts';
import { runLogs } from './runLogs.ts';

await runCommand(runLogs);
