import { runCommand } from '../../cli/usage.ts';
import { runExport } from './runExport.ts';

await runCommand(runExport);
