import { runCommand } from '../../cli/usage.ts';
import { runSmoke } from './runSmoke.ts';

await runCommand(runSmoke);
