import { runCommand } from '../../cli/usage.ts';
import { runImport } from './runImport.ts';

await runCommand(runImport);
