#!/usr/bin/env node
import { fileURLToPath } from 'node:url';

// The command `npx petstore`. run.js checks the version of Node.js first.
process.argv.splice(1, 1, 'run.js', fileURLToPath(new URL('main.ts', import.meta.url)));
await import('./run.js');
