import { readClientChangelog, readClientReadme, tarballName } from '../../client/buildClient.ts';
import { readClientTypes } from '../../client/clientTypes.ts';
import type { Placeholders } from '../guide.ts';
import type { Access } from '../page.ts';

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
