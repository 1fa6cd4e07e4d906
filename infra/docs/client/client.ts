import { join } from 'node:path';
import { findDocumentationAddress } from '../../stages/addresses.ts';
import { projectRoot } from '../../stages/projectRoot.ts';
import { stagesForClients } from '../../stages/stages.ts';
import { buildClient } from './buildClient.ts';

const address = findDocumentationAddress(stagesForClients[0].settings);
console.log(await buildClient(join(projectRoot, 'dist/client'), address));
