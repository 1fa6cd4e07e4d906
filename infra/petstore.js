#!/usr/bin/env node
import { fileURLToPath } from 'node:url';

// What `npx petstore` runs, which looks at the version of Node.js first.
process.argv.splice(1, 1, 'run.js', fileURLToPath(new URL('main.ts', import.meta.url)));
await import('./run.js');
