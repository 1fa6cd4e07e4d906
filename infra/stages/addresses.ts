import { apiVersion } from '../../shared/contract/operation.ts';
import type { StageSettings } from './stageSettings.ts';
import { type Stage, stagesFile } from './stages.ts';

/** Where clients call a stage. `undefined` means the gateway's own address, which the settings do not know. */
export function findBaseAddress({ baseAddress, customDomain }: StageSettings): string | undefined {
  return baseAddress ?? (customDomain && `https://${customDomain.name}/${apiVersion}`);
}

/** The placeholder domain in the settings, and the placeholder owner, as JSON. Replace them before you deploy. */
const exampleValue = /petstore\.example|^"petstore team"$/;

/** Where the documentation is published; `undefined` while the setting is still an example. */
export function findDocumentationAddress({
  documentationAddress,
}: StageSettings): string | undefined {
  return exampleValue.test(documentationAddress) ? undefined : documentationAddress;
}

/** The settings that clients read. */
export const publicSettings = [
  'baseAddress',
  'documentationAddress',
  'contact',
  'statusPage',
  'allowedOrigins',
] as const;

/** One line that names the settings of a stage that are still examples and lead nowhere. */
export function findExampleSettings(
  { name, settings }: Stage,
  among: readonly (keyof StageSettings)[] = [...publicSettings, 'owner', 'budget'],
): string | undefined {
  const fields = among.filter((field) => exampleValue.test(JSON.stringify(settings[field]) ?? ''));
  if (fields.length === 0) return undefined;
  return `${stagesFile}: replace the example values of ${name}: ${fields.join(', ')}.`;
}
