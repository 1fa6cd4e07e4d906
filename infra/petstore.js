#!/usr/bin/env node
const args = process.argv.splice(2);
// Without a file, this only checks the version of Node.js.
await import('./cli/run.js');
const { runCommand } = await import('./cli/usage.ts');
const { petstore } = await import('./petstore.ts');
await runCommand(petstore, args);
// Open connections to the engine would keep the process running. A failed write is reported a moment later.
if (args[0] === 'start') setImmediate(() => process.exit());
