import { runCommand } from '../cli/usage.ts';
import { runDocs } from './runDocs.ts';

await runCommand((args) => runDocs(args));
