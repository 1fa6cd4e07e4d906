import { apiVersion } from '../../shared/contract/operation.ts';
import type { StageSettings } from './stageSettings.ts';
import { type Stage, stagesFile } from './stages.ts';

/** Where clients call a stage. `undefined` means the gateway's own address, which the settings do not know. */
export function findBaseAddress({ baseAddress, customDomain }: StageSettings): string | undefined {
  return baseAddress ?? (customDomain && `https://${customDomain.name}/${apiVersion}`);
}

/** The placeholder domain in the settings. Replace it with your own addresses before you deploy. */
const exampleAddress = /petstore\.example/;

/** Where the documentation is published; `undefined` while the setting is still an example. */
export function findDocumentationAddress({
  documentationAddress,
}: StageSettings): string | undefined {
  return exampleAddress.test(documentationAddress) ? undefined : documentationAddress;
}

/** One line that names the settings of a stage that are still examples and lead nowhere. */
export function findExampleSettings({ name, settings }: Stage): string | undefined {
  const { baseAddress, documentationAddress, allowedOrigins } = settings;
  const fields = Object.entries({ baseAddress, documentationAddress, allowedOrigins })
    .filter(([, value]) => exampleAddress.test(String(value)))
    .map(([field]) => field);
  if (fields.length === 0) return undefined;
  return `${stagesFile}: replace the example values of ${name}: ${fields.join(', ')}.`;
}
