import { runCommand } from '../../cli/usage.ts';
import { checkStacks } from './checkAliases.ts';

/*
 * What the pipeline runs before it deploys: `node guard.cjs FOLDER STACK…`. Its jobs that deploy have no checkout, so
 * `npm run guard` bundles this beside the templates.
 */
void runCommand(async ([folder = '', ...names]) => checkStacks(folder, names));
