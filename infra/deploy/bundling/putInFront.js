// Puts index.mjs in front of a bundle: node putInFront.js FOLDER. It is plain JavaScript, since the CDK's shell may run
// it with any version of Node.js.
import { copyFileSync, renameSync } from 'node:fs';
import { join } from 'node:path';

const [folder = '.'] = process.argv.slice(2);
renameSync(join(folder, 'index.js'), join(folder, 'function.cjs'));
copyFileSync(new URL('index.mjs', import.meta.url), join(folder, 'index.mjs'));
