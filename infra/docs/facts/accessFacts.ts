import { operationIds } from '../../../shared/contract/operations.ts';
import { readClientChangelog, readClientReadme, tarballName } from '../../client/buildClient.ts';
import { readClientTypes } from '../../client/clientTypes.ts';
import { operationSettings, stagesForClients } from '../../stages/stages.ts';
import { type Placeholders, toTable } from '../guide.ts';
import type { Access, Server } from '../page.ts';

/** The stages' addresses and throttles. */
export function toStageFacts({ servers, apiKey }: Access): Placeholders {
  const toAddress = ({ name, baseUrl, purpose }: Server) =>
    `- **${name}**: \`${baseUrl}\`, ${purpose}`;
  return {
    addresses: () => servers.map(toAddress).join('\n'),
    baseAddress: () => servers[0].baseUrl,
    apiKey: () => apiKey ?? 'psk_…',
    whichKey: () => (apiKey === undefined ? DEPLOYED_KEY : LOCAL_KEY),
    throttles: () => toThrottleTable(servers),
    timeout: (operationId) =>
      String(operationSettings[operationId as keyof typeof operationSettings].timeoutSeconds),
  };
}

const LOCAL_KEY =
  'These pages come from the stage on your own machine and contain its key. The key has write permission, is new at ' +
  'each start, and works nowhere else. The keys of a deployed stage come from those who run it.';
const DEPLOYED_KEY =
  'Keys come from those who run the service, one for each client and stage. In the examples below, replace `psk_…` ' +
  'with yours. To try the service without one, run it on your own machine: `npm start` prints a key.';

/** For the stages that readers can call; in the local documentation, for all. */
function toThrottleTable(servers: readonly Server[]): string {
  const called = stagesForClients.filter(({ name }) => servers.some((one) => one.name === name));
  const stages = called.length > 0 ? called : stagesForClients;
  const head = ['', ...stages.flatMap(({ name }) => [`${name}: a second`, 'burst'])];
  const rows = ([...operationIds, 'other'] as const).map((id) => [
    id === 'other' ? 'all else' : `\`${id}\``,
    ...stages.flatMap(({ settings }) => {
      const { rate, burst } = settings.throttles[id];
      return [rate, burst];
    }),
  ]);
  return toTable(head, rows);
}

/** What the client's package has: its address, its README below the heading, its types and its changelog. */
export async function readClientFacts({
  documentationAddress,
  servers,
  apiKey,
}: Access): Promise<Placeholders> {
  const [readme, types, changelog] = await Promise.all([
    readClientReadme(documentationAddress),
    readClientTypes(),
    readClientChangelog(),
  ]);
  const text = readme
    .replace(/^# .*\n+/, '')
    .replaceAll('http://127.0.0.1:3000/v1', servers[0].baseUrl)
    .replaceAll('psk_…', apiKey ?? '$&')
    // The examples are in the package alone.
    .replaceAll(/\[[^\]]+\]\((examples\/[^)]+)\)/g, '`$1`');
  return {
    clientAddress: () => `${documentationAddress}/${tarballName}`,
    clientReadme: () => text.trimEnd(),
    clientTypes: () => types.trimEnd(),
    clientChangelog: () => changelog.trimEnd(),
  };
}
