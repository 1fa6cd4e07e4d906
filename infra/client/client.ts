import { join } from 'node:path';
import { buildClient, projectRoot } from './buildClient.ts';

console.log(await buildClient(join(projectRoot, 'dist/client')));
