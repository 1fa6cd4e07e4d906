import { mkdir, rm, writeFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { findBaseAddress, stages, stagesForClients } from '../stages/stages.ts';
import { buildSite } from './site.ts';

const folder = new URL('../../dist/docs/', import.meta.url);

const [first, ...others] = stagesForClients.flatMap(({ name, settings }) => {
  const baseUrl = findBaseAddress(settings);
  return baseUrl === undefined ? [] : [{ name, baseUrl, purpose: settings.purpose }];
});
if (first === undefined) throw new Error('No stage has an address that its settings tell.');
const { documentationAddress } = stages.production.settings;
const site = await buildSite({ documentationAddress, servers: [first, ...others] });
await rm(folder, { recursive: true, force: true });
await mkdir(folder, { recursive: true });
for (const [name, { body }] of site) await writeFile(new URL(name, folder), body);
process.stdout.write(`${site.size} files written to ${fileURLToPath(folder)}\n`);
