import { isScript } from './cli/swallowedOptions.ts';
import { runCommand } from './cli/usage.ts';
import { petstore } from './petstore.ts';

const [name = ''] = process.argv.slice(2);
await runCommand(async (args) => {
  const { INIT_CWD } = process.env;
  // npm runs scripts in the project's folder. File names are relative to the folder of the person.
  if (INIT_CWD && isScript(name, process.env)) process.chdir(INIT_CWD);
  await petstore(args);
});
// Open connections to the engine would keep the process running. A failed write is reported a moment later.
if (name === 'start') setImmediate(() => process.exit());
