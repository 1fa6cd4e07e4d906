import { type Stage, stagesFile } from './stages.ts';

/** What stands in the settings until whoever deploys the service has addresses of their own. */
const exampleAddress = /petstore\.example/;

/** One line that names the settings of a stage that are examples still, and would send clients nowhere. */
export function findExampleSettings({ name, settings }: Stage): string | undefined {
  const { baseAddress, documentationAddress, allowedOrigins } = settings;
  const fields = Object.entries({ baseAddress, documentationAddress, allowedOrigins })
    .filter(([, value]) => exampleAddress.test(String(value)))
    .map(([field]) => field);
  if (fields.length === 0) return undefined;
  return `${stagesFile}: examples of ours stand in ${fields.join(', ')} of ${name}; set your own before you deploy.`;
}
