import { mkdir, rm, writeFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { toErrorLine } from '../cli/errorLine.ts';
import { log, print } from '../cli/output.ts';
import { readOutput, readStack } from '../cli/stageStack.ts';
import { findBaseAddress, findExampleSettings, publicSettings } from '../stages/addresses.ts';
import { checkStageSettings } from '../stages/checkStageSettings.ts';
import { type Stage, stagesForClients } from '../stages/stages.ts';
import { buildSite } from './buildSite.ts';
import { repository } from './client/buildClient.ts';
import type { Server } from './page.ts';

/**
 * Writes the documentation to publish.
 * @param deployments in the order for clients; all, except in a test
 * @param sources the address of the repository, except in a test
 */
export async function runDocs(
  deployments: readonly Stage[] = stagesForClients,
  folder = new URL('../../dist/docs/', import.meta.url),
  sources: unknown = repository,
): Promise<void> {
  const servers = await findServers(deployments);
  const [first, ...others] = servers;
  if (first === undefined) {
    throw new Error(
      'There is no address to publish: deploy a stage, and run this with AWS credentials of its account.',
    );
  }
  const [example] = servers.flatMap((one) => findExampleSettings(one, publicSettings) ?? []);
  if (example !== undefined) throw new Error(example);
  if (!sources) {
    throw new Error('package.json: set "repository". The client\'s package names it.');
  }
  const { documentationAddress, contact, statusPage } = first.settings;
  const site = await buildSite({
    documentationAddress,
    servers: [first, ...others],
    contact,
    ...(statusPage !== undefined && { statusPage }),
  });
  await rm(folder, { recursive: true, force: true });
  await mkdir(folder, { recursive: true });
  for (const [name, { body }] of site) {
    await writeFile(new URL(name, folder), typeof body === 'function' ? await body() : body);
  }
  print(`${site.size} files written to ${fileURLToPath(folder)}`);
}

async function findServers(deployments: readonly Stage[]) {
  const servers: (Stage & Server)[] = [];
  for (const stage of deployments) {
    checkStageSettings(stage);
    const { name, settings } = stage;
    try {
      const baseUrl = findBaseAddress(settings) ?? readOutput(await readStack(stage), 'BaseUrl');
      servers.push({ name, settings, baseUrl, purpose: settings.purpose });
    } catch (error) {
      log(`${name} is left out, since its address is not known: ${toErrorLine(error)}`);
    }
  }
  return servers;
}
