import { join } from 'node:path';
import { print } from '../../cli/output.ts';
import { findDocumentationAddress } from '../../stages/addresses.ts';
import { projectRoot } from '../../stages/projectRoot.ts';
import { stagesForClients } from '../../stages/stages.ts';
import { buildClient } from './buildClient.ts';

const address = findDocumentationAddress(stagesForClients[0].settings);
print(await buildClient(join(projectRoot, 'dist/client'), address));
