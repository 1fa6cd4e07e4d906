import { operationIds } from '../../../shared/contract/operations.ts';
import { operationSettings, stages, stagesForClients } from '../../stages/stages.ts';
import { type Placeholders, toTable } from '../guide.ts';
import type { LocalAccess } from '../page.ts';

/** Where the stages are, and what each lets through. */
export function toStageFacts(local: LocalAccess | undefined): Placeholders {
  return {
    addresses: () => toAddresses(local),
    baseAddress: () => local?.baseUrl ?? stages.production.settings.baseAddress,
    apiKey: () => local?.apiKey ?? 'psk_…',
    whichKey: () => (local ? LOCAL_KEY : DEPLOYED_KEY),
    throttles: toThrottleTable,
    timeout: (operationId) =>
      String(operationSettings[operationId as keyof typeof operationSettings].timeoutSeconds),
  };
}

const LOCAL_KEY =
  'These pages come from the stage on your own machine, and have its key filled in: it may write, is a new one ' +
  'at each start, and works nowhere else. Those who run a deployed stage give out its keys.';
const DEPLOYED_KEY =
  'Those who run the service give out keys, one for each client and stage. In the examples below, put yours in the ' +
  'place of `psk_…`. To try the service without one, run it on your own machine: `npm start` prints a key.';

function toAddresses(local: LocalAccess | undefined): string {
  const own = local ? [`- **this machine**: \`${local.baseUrl}\`, which serves these pages`] : [];
  const deployed = stagesForClients.map(
    ({ name, settings: { baseAddress, purpose } }) =>
      `- **${name}**: \`${baseAddress}\`, ${purpose}`,
  );
  return [...own, ...deployed].join('\n');
}

function toThrottleTable(): string {
  const head = ['', ...stagesForClients.flatMap(({ name }) => [`${name}: a second`, 'burst'])];
  const rows = ([...operationIds, 'other'] as const).map((id) => [
    id === 'other' ? 'all else' : `\`${id}\``,
    ...stagesForClients.flatMap(({ settings }) => {
      const { rate, burst } = settings.throttles[id];
      return [rate, burst];
    }),
  ]);
  return toTable(head, rows);
}
