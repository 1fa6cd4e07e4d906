import { randomUUID } from 'node:crypto';
import { challenge } from '../../../shared/contract/errorBody.ts';
import { allowedRequestHeaders } from '../../../shared/contract/headers.ts';
import { httpMethods, type Operation } from '../../../shared/contract/operation.ts';
import { type OperationId, operationIds, operations } from '../../../shared/contract/operations.ts';
import { fillPath } from '../../../shared/contract/paths.ts';
import { mintApiKey, parseApiKey } from '../../../shared/keys/apiKey.ts';
import { readCommittedDocument } from '../../openapi/openApiDocument.ts';
import { unknownCommit } from '../../stages/commit.ts';
import {
  checkHeader,
  type Expected,
  Mismatch,
  readJson,
  type SmokeClient,
  type SmokeClientSettings,
  type StageRequest,
  type StageResponse,
} from './smokeClient.ts';

export interface SmokeSettings extends SmokeClientSettings {
  /** The live commit and that of the checkout, if they must be the same. */
  readonly commits: { readonly live: string; readonly checkout: string } | undefined;
  readonly entry: string | undefined;
  /** Whether to leave out the whole list. */
  readonly isLight: boolean;
}

/** The client of the rows, and what earlier rows found. */
export interface SmokeRun {
  readonly client: SmokeClient;
  readonly settings: SmokeSettings;
  /** An id that no entry has. */
  readonly missingId: string;
  /** The lists that were read, by path. */
  readonly lists: Map<string, readonly Listed[]>;
}

/** An element of a list, by members such as `petId` or `id`. */
type Listed = Readonly<Record<string, unknown>>;

/** The checks of a deployment by name. Each throws a `Mismatch` if it fails. */
type Rows = Readonly<Record<string, (run: SmokeRun) => Promise<unknown>>>;

/** A row cannot be checked; the message says what is missing. */
export class Skip extends Error {}

/** The number of first ids that are tried. */
const MAX_IDS = 5;
/** This many entries, about 2.5 KB, are always compressed. */
const MIN_COMPRESSED = 50;
const strongTag = /^"[\x21\x23-\x7e]+"$/;

/** In order: later rows need what earlier rows find, and the whole list takes the longest. */
export const rows: Rows = {
  async 'this checkout is live'({ settings: { commits } }) {
    if (!commits) throw new Skip('takes --expect-commit');
    const { live, checkout } = commits;
    if (live !== checkout || live === unknownCommit) {
      throw new Error(`live is ${live}, and this checkout is ${checkout}.`);
    }
  },
  // Lists come first, since the other operations are called with their ids.
  ...Object.assign(
    {},
    ...operationIds
      .toSorted((one, other) => Number(takesId(one)) - Number(takesId(other)))
      .map((id) => toContractRows(operations[id])),
  ),
  async 'getInventoryEntry: returns 304 while an entry has its tag'({ client, lists }) {
    let response: StageResponse | undefined;
    // An entry may change between its requests.
    for (const { petId } of (lists.get('/inventory') ?? []).slice(0, MAX_IDS)) {
      const path = `/inventory/${petId}`;
      const tag = `${(await client.send({ path }, 200)).headers.get('ETag')}`;
      response = await client.send({ path, headers: { 'If-None-Match': tag } }, 304, 200);
      if (response.status === 304) return;
    }
    throw response ? new Mismatch(response, '304') : new Skip('no entry');
  },
  async 'updateInventory: writes the count of --entry back under its tag, once'(run) {
    const { entry } = run.settings;
    if (entry === undefined) throw new Skip('takes --entry');
    await writeEntryBack(run.client, entry);
  },
  'the gateway: returns 404 for an unknown path': ({ client }) =>
    client.send({ path: '/smoke' }, 'not_found'),
  ...Object.fromEntries(operationIds.flatMap((id) => toMethodRows(operations[id].path))),
  async 'the whole list: is whole, and has the entries of the first page'(run) {
    if (run.settings.isLight) throw new Skip('--light');
    const headers = { 'Accept-Encoding': 'gzip' };
    const response = await run.client.send({ path: '/inventory', headers, isLong: true }, 200);
    const { length } = parseList(response);
    const petIds = (run.lists.get('/inventory') ?? []).map(({ petId }) => `${petId}`);
    const missing = petIds.find((petId) => !response.text.includes(`"petId":${petId},`));
    if (missing) throw new Mismatch(response, `the entry ${missing}, which the first page has`);
    if (length >= MIN_COMPRESSED) checkHeader(response, 'Content-Encoding', 'gzip');
  },
};

/** The rows that follow from the contract, for an operation that takes an id, or nothing. */
function toContractRows(operation: Operation): Rows {
  const { operationId: id, method, path, permission, errors } = operation;
  const preflight = {
    'Access-Control-Request-Method': method,
    'Access-Control-Request-Headers': 'authorization,content-type,if-match',
  };
  return {
    ...(permission === 'read' && {
      [`${id}: returns 200`]: (run: SmokeRun) =>
        path.includes('{') ? findKnownId(operation, run) : readList(operation, run),
    }),
    ...(errors.includes('not_found') && {
      [`${id}: returns 404 for an unknown id${permission === 'write' ? ', or 403 for a read key' : ''}`]:
        async (run: SmokeRun) => {
          // A read key is refused before anything else is checked.
          const forbidden = permission === 'write' ? (['forbidden'] as const) : [];
          const request = toRequest(operation, run.missingId);
          await run.client.send(request, 'not_found', ...forbidden);
        },
    }),
    async [`${id}: refuses no key, and the key with another secret`](run) {
      const request = toRequest(operation, run.missingId);
      const { apiKey: other } = mintApiKey(parseApiKey(run.settings.apiKey)?.keyId);
      for (const apiKey of [null, other]) {
        const response = await run.client.send({ ...request, apiKey }, 'unauthorized');
        // API Gateway renames the header of a function's response.
        const renamed = 'x-amzn-Remapped-WWW-Authenticate';
        const name = response.headers.has(renamed) ? renamed : 'WWW-Authenticate';
        const invalidToken = new RegExp(`^${challenge}, ?error="invalid_token"`);
        checkHeader(response, name, apiKey === null ? challenge : invalidToken);
      }
    },
    async [`${id}: lets pages of an allowed origin call it: the preflight needs no key`](run) {
      const { path: filled } = toRequest(operation, run.missingId);
      const request = { method: 'OPTIONS', path: filled, headers: preflight, apiKey: null };
      const response = await run.client.send(request, 200, 204);
      checkNames(response, 'Access-Control-Allow-Methods', [method]);
      checkNames(response, 'Access-Control-Allow-Headers', allowedRequestHeaders);
    },
  };
}

async function readList(operation: Operation, { client, lists }: SmokeRun): Promise<void> {
  const body = readJson(await client.send(toRequest(operation, ''), 200));
  if (Array.isArray(body)) lists.set(operation.path, body);
}

/** An operation must know the ids of the list above its path, and may know those of other lists. */
async function findKnownId(
  { path, parameters = {} }: Operation,
  { client, lists }: SmokeRun,
): Promise<void> {
  const [name = ''] = Object.keys(parameters);
  const above = lists.get(path.slice(0, path.lastIndexOf('/')));
  const listed = above ?? [...lists.values()].flat();
  const ids = listed.map((one) => one[name] ?? (above && one.id));
  for (const id of ids.filter((one) => one !== undefined).slice(0, MAX_IDS)) {
    const request = { path: fillPath(path, `${id}`) };
    // Not every entry has a pet.
    const response = await client.send(request, 200, ...(above ? [] : ['not_found' as const]));
    if (response.status === 200) return;
  }
  throw new Skip('no id known');
}

/**
 * Writes an entry's own count, so the stock stays right: only the tag changes. Only an entry with this id and a tag may
 * be written back.
 * @throws {Mismatch} also where somebody else updates the entry meanwhile
 */
async function writeEntryBack(client: SmokeClient, petId: string): Promise<void> {
  const path = `/inventory/${petId}`;
  const before = await client.send({ path }, 200);
  checkHeader(before, 'ETag', strongTag, 'a strong tag');
  const entry = readJson<{ petId: number | bigint; quantity: number }>(before);
  if (`${entry.petId}` !== petId) throw new Mismatch(before, `the entry ${petId}`);

  function update(headers: Record<string, string>, expected: Expected): Promise<StageResponse> {
    const conditions = {
      'Content-Type': 'application/json',
      'If-Match': `${before.headers.get('ETag')}`,
    };
    const body = `{"quantity":${entry.quantity}}`;
    const request = { method: 'PATCH', path, headers: { ...conditions, ...headers }, body };
    return client.send(request, expected);
  }

  const idempotencyKey = { 'Idempotency-Key': randomUUID() };
  const updated = await update(idempotencyKey, 200);
  if (updated.text !== before.text) throw new Mismatch(updated, before.text);
  checkHeader(updated, 'ETag', strongTag, 'a strong tag');
  const tag = `${updated.headers.get('ETag')}`;
  checkHeader(await update(idempotencyKey, 200), 'ETag', tag, `${tag}, as the first time`);
  checkHeader(await update({}, 'precondition_failed'), 'ETag', tag);
  checkHeader(await client.send({ path }, 200), 'ETag', tag);
}

/** Digits past 2^53 do not matter here, and `readJson` takes ten times as long for a million entries. */
function parseList(response: StageResponse): readonly unknown[] {
  try {
    return JSON.parse(response.text);
  } catch (error) {
    throw new Mismatch(response, `a whole list (${(error as Error).message})`);
  }
}

/** A valid request, for an id and a tag that no entry has, and with a key that no other request has. */
function toRequest(operation: Operation, missingId: string): StageRequest {
  const { method, path, query = {}, requestBody, requestHeaders, requiredHeaders } = operation;
  const document = readCommittedDocument();
  const content = document.paths[path]?.[method.toLowerCase()]?.requestBody?.content;
  const [example] = Object.values(content?.['application/json']?.examples ?? {});
  // An id in the body is as one in the path.
  const body = JSON.stringify(example?.value)?.replace(/(?<="petId":)-?\d+/g, missingId);
  return {
    method,
    path: `${fillPath(path, missingId)}${'limit' in query ? '?limit=100' : ''}`,
    headers: {
      ...(requestBody && { 'Content-Type': 'application/json' }),
      ...(requestHeaders?.includes('If-Match') && { 'If-Match': '"smoke"' }),
      ...(requiredHeaders && { 'Idempotency-Key': `smoke-${randomUUID()}` }),
    },
    ...(requestBody && { body }),
  };
}

/** Checks that a path names its methods when it refuses one that it lacks; no row if it has all. */
export function toMethodRows(path: string): [name: string, check: Rows[string]][] {
  const own = Object.values<Operation>(operations).filter((one) => one.path === path);
  const methods = own.map(({ method }) => method);
  const allowed = new RegExp(`^${methods.join(', ?')}(, ?OPTIONS)?$`);
  const method = httpMethods.findLast((one) => !methods.includes(one));
  if (method === undefined) return [];
  const check: Rows[string] = async ({ client, missingId }) => {
    const response = await client.send(
      { method, path: fillPath(path, missingId) },
      'method_not_allowed',
    );
    checkHeader(response, 'Allow', allowed, methods.join(', '));
  };
  return [[`the gateway: returns 405 for ${method} ${path}, and says what is allowed`, check]];
}

function checkNames(response: StageResponse, header: string, expected: readonly string[]): void {
  const value = response.headers.get(header) ?? '';
  const names = value.toLowerCase().split(/ *, */);
  if (expected.every((name) => names.includes(name.toLowerCase()))) return;
  throw new Mismatch(response, `${header}: ${expected}`, `with ${header}: ${value}`);
}

function takesId(operationId: OperationId): boolean {
  return operations[operationId].path.includes('{');
}
