import { runCommand } from '../cli/usage.ts';
import { start } from './start.ts';

await runCommand(start);
// The functions' open connections to the engine would keep the process alive for a while. The error of a failed write
// arrives a moment later.
setImmediate(() => process.exit());
