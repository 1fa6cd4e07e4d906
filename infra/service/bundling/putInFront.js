// Puts index.mjs in front of a bundle: node putInFront.js FOLDER. Plain JavaScript, since it runs in the CDK's shell
// on whatever Node.js is found there.
import { copyFileSync, renameSync } from 'node:fs';
import { join } from 'node:path';

const [folder = '.'] = process.argv.slice(2);
renameSync(join(folder, 'index.js'), join(folder, 'function.cjs'));
copyFileSync(new URL('index.mjs', import.meta.url), join(folder, 'index.mjs'));
