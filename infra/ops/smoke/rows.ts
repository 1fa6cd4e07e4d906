import { parseJson } from '../../../shared/contract/json.ts';
import { httpMethods, type Operation } from '../../../shared/contract/operation.ts';
import { operations } from '../../../shared/contract/operations.ts';
import { fillPath } from '../../../shared/contract/paths.ts';
import { mintApiKey, parseApiKey } from '../../../shared/keys/apiKey.ts';
import { buildPreflightHeaders, listAllowedMethods } from '../../gateway/gatewayErrors.ts';
import { buildProbes, isRight, type Probe } from '../../gateway/probes.ts';
import { checkHeader, Mismatch, type SmokeClient, type SmokeSettings } from './smokeClient.ts';

/** With what earlier rows found: the items of lists, and an id by the path of its list. */
export interface SmokeRun extends SmokeSettings, SmokeClient {
  readonly items: Readonly<Record<string, unknown>>[];
  readonly ids: Record<string, string>;
}

/** The checks of a deployment by name. Each throws a `Mismatch` if it fails. */
type Rows = Readonly<Record<string, (run: SmokeRun) => Promise<void>>>;

/** A row cannot be checked; the message says what is missing. */
export class Skip extends Error {}

const all: readonly Operation[] = Object.values(operations);

/** Lists come first, since other operations are called with their ids. */
export const rows: Rows = Object.assign(
  {},
  ...all.filter(({ path }) => !path.includes('{')).map(defineContractRows),
  ...all.filter(({ path }) => path.includes('{')).map(defineContractRows),
  { 'updateInventory: writes the count of --entry back under its tag, once': writeEntryBack },
  {
    async 'the gateway: returns 404 for an unknown path'({ send }: SmokeRun) {
      await send({ path: '/smoke' }, 'unknown_path');
    },
  },
);

/** The rows that follow from the contract: the probes of hook and check, and what only a client sees. */
function defineContractRows(operation: Operation): Rows {
  const { operationId: id, method, permission } = operation;
  // A write has an unused id, since a proxy could remove its condition.
  const probes = buildProbes(operation, 'write') as [Probe, ...Probe[]];
  const [{ path, expected }] = probes;
  return {
    ...(permission === 'read' && {
      async [`${id}: returns 200`](run: SmokeRun) {
        await noteItems(operation, run);
        const known = buildProbes(operation, 'read', run.ids);
        if (known[0]?.expected === 'not_found') throw new Skip('no id known');
        await sendProbes(run, known);
      },
    }),
    ...(expected === 'not_found' && {
      [`${id}: returns 404 for an unknown id${permission === 'write' ? ', or 403 for a read key' : ''}`]:
        (run: SmokeRun) => sendProbes(run, probes),
    }),
    async [`${id}: refuses a request without a key, and a key with a wrong secret`]({
      send,
      apiKey,
    }) {
      await send({ ...probes[0], apiKey: '' }, 'unauthorized');
      await send({ ...probes[0], ...mintApiKey(parseApiKey(apiKey)?.keyId) }, 'unauthorized');
    },
    async [`${id}: the gateway answers preflights, and refuses other methods`]({ send }) {
      const allow = listAllowedMethods(operation.path);
      const headers = { 'Access-Control-Request-Method': method };
      const preflight = { method: 'OPTIONS', path, headers, apiKey: '' };
      const response = await send(preflight, 200, 204);
      // The client checks the origin.
      const [, ...others] = Object.entries(buildPreflightHeaders(allow, ['*']));
      for (const [name, value] of others) checkHeader(response, name, value);
      const other = httpMethods.findLast((one) => !allow.includes(one));
      const refused = other && (await send({ path, method: other }, 'method_not_allowed'));
      if (refused) checkHeader(refused, 'Allow', allow);
    },
  };
}

/** Notes the items of a list and an id, or the first listed id that has an item: not every entry has a pet. */
async function noteItems({ path }: Operation, { send, items, ids }: SmokeRun): Promise<void> {
  const [listPath = '', name = ''] = path.split(/\/\{(\w+)\}$/);
  if (!path.includes('{')) {
    const list = parseJson((await send({ path: `${path}?limit=100` }, 200)).text) as typeof items;
    items.push(...list);
    for (const { id, petId } of list.slice(0, 1)) ids[path] = `${id ?? petId}`;
  }
  for (const id of items.flatMap((one) => one[name] ?? []).slice(0, 5)) {
    if (ids[listPath] !== undefined) return;
    const { status } = await send({ path: fillPath(path, `${id}`) }, 200, 'not_found');
    if (status === 200) ids[listPath] = `${id}`;
  }
}

/** Sends the probes of a write key. A read key gets 403 for a write. */
async function sendProbes({ send, isLight }: SmokeRun, probes: readonly Probe[]): Promise<void> {
  for (const probe of probes) {
    const { operation, path, headers, expected } = probe;
    if (isLight && operation.streamed && path === operation.path) continue;
    const refusals = operation.permission === 'write' ? (['forbidden'] as const) : [];
    const response = await send(probe, typeof expected === 'string' ? expected : 200, ...refusals);
    const { status, text } = response;
    if (![expected, ...refusals].some((one) => isRight({ expected: one }, status, text))) {
      throw new Mismatch(response, `${JSON.stringify(expected)} of the function`);
    }
    const tag = 'id' in Object(expected) && response.headers.get('ETag');
    if (!tag) continue;
    const again = await send({ path, headers: { ...headers, 'If-None-Match': tag } }, 304, 200);
    // It may have changed between the two.
    if (again.status === 200 && again.headers.get('ETag') === tag) throw new Mismatch(again, '304');
  }
}

/** Writes an entry's own count, so that only its tag changes. Fails also if somebody else updates it meanwhile. */
async function writeEntryBack({ send, entry }: SmokeRun): Promise<void> {
  if (entry === undefined) throw new Skip('takes --entry');
  const path = `/inventory/${entry}`;
  const before = await send({ path }, 200);
  const { petId, quantity } = parseJson(before.text) as Record<string, unknown>;
  if (`${petId}` !== entry) throw new Mismatch(before, `the entry ${entry}`);
  const tag = `${before.headers.get('ETag')}`;
  const headers = { 'Content-Type': 'application/json', 'If-Match': tag };
  const update = { method: 'PATCH', path, headers, body: `{"quantity":${quantity}}` };
  const updated = await send(update, 200);
  if (updated.text !== before.text) throw new Mismatch(updated, before.text);
  const newTag = `${updated.headers.get('ETag')}`;
  checkHeader(await send(update, 'precondition_failed'), 'ETag', newTag);
  checkHeader(await send({ path }, 200), 'ETag', newTag);
}
