import { runCommand } from '../cli/usage.ts';
import { start } from './start.ts';

await runCommand(start);
// Connections that the functions keep open to the engine would hold the process for a while. A write that
// failed is heard of a moment later.
setImmediate(() => process.exit());
