import { runCommand } from '../../cli/usage.ts';
import { runRestore } from './runRestore.ts';

await runCommand((args) => runRestore(args));
