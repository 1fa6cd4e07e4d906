import { join } from 'node:path';
import { print } from '../../cli/output.ts';
import { findBaseAddress, findDocumentationAddress } from '../../stages/addresses.ts';
import { projectRoot } from '../../stages/projectRoot.ts';
import { stagesForClients } from '../../stages/stages.ts';
import { buildClient } from './buildClient.ts';

const [{ settings }] = stagesForClients;
const documentationAddress = findDocumentationAddress(settings);
const folder = join(projectRoot, 'dist/client');
print(await buildClient(folder, documentationAddress, findBaseAddress(settings)));
