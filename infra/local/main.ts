import { brokenOutput, watchOutput } from '../cli/output.ts';
import { start } from './start.ts';

watchOutput();
const status = await start(process.argv.slice(2));
// Connections that the functions keep open to the engine would hold the process for a while. A write that
// failed is heard of a moment later.
setImmediate(() => process.exit(status || brokenOutput.status));
