import { start } from './start.ts';

const status = await start(process.argv.slice(2));
// Connections that the functions keep open to the engine would hold the process for a while.
process.exit(status);
