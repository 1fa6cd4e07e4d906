import { join } from 'node:path';
import { buildClient } from './buildClient.ts';
import { projectRoot } from './bundleClient.ts';

console.log(await buildClient(join(projectRoot, 'dist/client')));
