import { mkdir, rm, writeFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { buildSite } from './site.ts';

const folder = new URL('../../dist/docs/', import.meta.url);

const site = await buildSite();
await rm(folder, { recursive: true, force: true });
await mkdir(folder, { recursive: true });
for (const [name, { body }] of site) await writeFile(new URL(name, folder), body);
process.stdout.write(`${site.size} files written to ${fileURLToPath(folder)}\n`);
