import { runCommand } from './cli/usage.ts';
import { petstore } from './petstore.ts';

await runCommand(petstore);
// Open connections to the engine would keep the process running. A failed write is reported a moment later.
if (process.argv[2] === 'start') setImmediate(() => process.exit());
