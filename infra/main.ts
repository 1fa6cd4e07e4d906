import { isScript } from './cli/swallowedOptions.ts';
import { runCommand } from './cli/usage.ts';
import { petstore } from './petstore.ts';

const [name = ''] = process.argv.slice(2);
const { env } = process;
// npm runs scripts in the project's folder; files are named as the person sees them.
if (isScript(name, env) && env.INIT_CWD) process.chdir(env.INIT_CWD);
await runCommand(petstore);
// Connections that the functions keep open to the engine would hold the process for a while. A write that
// failed is heard of a moment later.
if (name === 'start') setImmediate(() => process.exit());
