import { runCommand } from '../cli/usage.ts';
import { runSecrets } from './runSecrets.ts';

await runCommand(runSecrets);
