import { apiVersion } from '../../shared/contract/operation.ts';
import type { StageSettings } from './stageSettings.ts';
import { type Stage, stagesFile } from './stages.ts';

/** Where clients call a stage, as far as its settings tell; else it is the gateway's own address. */
export function findBaseAddress({ baseAddress, customDomain }: StageSettings): string | undefined {
  return baseAddress ?? (customDomain && `https://${customDomain.name}/${apiVersion}`);
}

/** What stands in the settings until whoever deploys the service has addresses of their own. */
const exampleAddress = /petstore\.example/;

/** Where the documentation is published, unless that is an example of ours. */
export function findDocumentationAddress({
  documentationAddress,
}: StageSettings): string | undefined {
  return exampleAddress.test(documentationAddress) ? undefined : documentationAddress;
}

/** One line that names the settings of a stage that are examples still, and would send clients nowhere. */
export function findExampleSettings({ name, settings }: Stage): string | undefined {
  const { baseAddress, documentationAddress, allowedOrigins } = settings;
  const fields = Object.entries({ baseAddress, documentationAddress, allowedOrigins })
    .filter(([, value]) => exampleAddress.test(String(value)))
    .map(([field]) => field);
  if (fields.length === 0) return undefined;
  return `${stagesFile}: examples of ours stand in ${fields.join(', ')} of ${name}; set your own.`;
}
