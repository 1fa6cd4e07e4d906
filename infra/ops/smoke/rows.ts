import { challenge } from '../../../shared/contract/errorBody.ts';
import { allowedRequestHeaders } from '../../../shared/contract/headers.ts';
import type { Operation, Permission } from '../../../shared/contract/operation.ts';
import { type OperationId, operationIds, operations } from '../../../shared/contract/operations.ts';
import { mintApiKey, parseApiKey } from '../../../shared/keys/apiKey.ts';
import { readCommittedDocument } from '../../openapi/committedDocument.ts';
import { checkHeader, Mismatch, type ResponseHead } from './expectation.ts';
import { readWholeList, strongTag, writeEntryBack } from './inventoryChecks.ts';
import type { SmokeClient, SmokeSettings, StageRequest } from './smokeClient.ts';

/** What rows send requests with, and what they leave to those behind them. */
export interface Stage {
  readonly client: SmokeClient;
  readonly settings: SmokeSettings;
  /** An id that nothing has. */
  readonly missingId: string;
  /** What the key allows, once it is known. */
  permission?: Permission;
  /** What lists answered, by path. */
  readonly lists: Map<string, readonly Listed[]>;
}

/** An element of a list, by members such as `petId` or `id`. */
type Listed = Readonly<Record<string, unknown>>;

/** Things that prove a deployment, by name. Each throws a `Mismatch` where the stage does something else. */
export type Rows = Readonly<Record<string, (stage: Stage) => Promise<unknown>>>;

/** A row cannot be checked; the message says what is lacking. */
export class Skip extends Error {
  override readonly name = 'Skip';
}

/** What the contract does not tell of an operation. */
const extraRows: Readonly<Partial<Record<OperationId, Rows>>> = {
  listInventory: {
    async 'gives each entry its tag with include=etag'({ client, lists }) {
      const ids = (lists.get('/inventory') ?? []).map(({ petId }) => petId).slice(0, MAX_IDS);
      if (ids.length === 0) throw new Skip('no entry');
      const response = await client.send({ path: `/inventory?petId=${ids}&include=etag` }, 200);
      const tags = (response.json() as Listed[]).map(({ etag }) => `${etag}`);
      if (tags.length === ids.length && tags.every((tag) => strongTag.test(tag))) return;
      throw new Mismatch(response, 'an etag of each entry, in double quotes');
    },
  },
  updateInventory: {
    async 'writes the count of --entry back under its tag, once'({
      client,
      settings: { entry },
      permission,
    }) {
      if (entry === undefined) throw new Skip('takes --entry');
      if (permission === 'write') return writeEntryBack(client, entry);
      throw new Error(
        '--entry takes a key with write permission; this one is not known to have it.',
      );
    },
  },
};

/** So many ids of the first entries are tried. */
const MAX_IDS = 5;

/** By group, in their order: each finds what those behind it need, and the whole list takes the longest. */
export const rowGroups: Readonly<Record<string, Rows>> = {
  'this checkout': {
    async 'is live'({ settings: { expectedCommit } }) {
      if (!expectedCommit) throw new Skip('takes --expect-commit');
      if (expectedCommit.is !== 'same')
        throw new Error(`${expectedCommit.text} Expected was this checkout's.`);
    },
  },
  // Lists come first, since the other operations are called with their ids.
  ...Object.fromEntries(
    operationIds
      .toSorted((one, other) => Number(takesId(one)) - Number(takesId(other)))
      .map((id) => [id, { ...toContractRows(operations[id]), ...extraRows[id] }]),
  ),
  'the gateway': {
    'answers 404 to an unknown path': ({ client }) => client.send({ path: '/smoke' }, 'not_found'),
    ...Object.fromEntries(operationIds.map((id) => toMethodRow(operations[id].path))),
  },
  'the whole list': {
    async 'is whole, and has the entries of the first page'({ client, lists, settings }) {
      if (settings.isLight) throw new Skip('--light');
      const petIds = (lists.get('/inventory') ?? []).map(({ petId }) => `${petId}`);
      const request = { path: '/inventory', headers: { 'Accept-Encoding': 'gzip' } };
      await client.stream(request, (head, chunks) => readWholeList(head, chunks, petIds));
    },
  },
};

/** What follows from the contract: an operation that takes an id, or nothing, needs no line of its own. */
function toContractRows(operation: Operation): Rows {
  const { method, path, permission, errors } = operation;
  const invalid = toInvalidQuery(operation);
  const preflight = {
    'Access-Control-Request-Method': method,
    'Access-Control-Request-Headers': 'authorization,content-type,if-match',
  };
  return {
    ...(permission === 'read' && {
      'answers 200': (stage) =>
        path.includes('{') ? findKnownId(operation, stage) : readList(operation, stage),
    }),
    ...(invalid !== undefined && {
      [`refuses ${invalid}`]: ({ client, missingId }) =>
        client.send({ method, path: `${fillPath(path, missingId)}?${invalid}` }, 'invalid_request'),
    }),
    ...(errors.includes('not_found') && {
      [`answers 404 to an unknown id${permission === 'write' ? ', or 403 to a read key' : ''}`]:
        async (stage: Stage) => {
          // A read key is refused before anything else is looked at.
          const forbidden = permission === 'write' ? (['forbidden'] as const) : [];
          const request = toRequest(operation, stage.missingId);
          const { status } = await stage.client.send(request, 'not_found', ...forbidden);
          if (permission === 'write') stage.permission = status === 403 ? 'read' : 'write';
        },
    }),
    async 'refuses no key, and the key with another secret'(stage) {
      const request = toRequest(operation, stage.missingId);
      const { apiKey: other } = mintApiKey(parseApiKey(stage.settings.apiKey)?.keyId);
      for (const apiKey of [null, other]) {
        const response = await stage.client.send({ ...request, apiKey }, 'unauthorized');
        // API Gateway renames the header of a function's response.
        const renamed = 'x-amzn-Remapped-WWW-Authenticate';
        const name = response.headers.has(renamed) ? renamed : 'WWW-Authenticate';
        const invalidToken = new RegExp(`^${challenge}, ?error="invalid_token"`);
        checkHeader(response, name, apiKey === null ? challenge : invalidToken);
      }
    },
    async 'lets pages of an allowed origin call it: the preflight needs no key'(stage) {
      const { path: filled } = toRequest(operation, stage.missingId);
      const request = { method: 'OPTIONS', path: filled, headers: preflight, apiKey: null };
      const response = await stage.client.send(request, 200, 204);
      checkNames(response, 'Access-Control-Allow-Methods', [method]);
      checkNames(response, 'Access-Control-Allow-Headers', allowedRequestHeaders);
    },
  };
}

async function readList(operation: Operation, { client, lists }: Stage): Promise<void> {
  const body = (await client.send(toRequest(operation, ''), 200)).json();
  if (Array.isArray(body)) lists.set(operation.path, body);
}

/** The ids of the list above the operation's path have to be known to it; those of other lists may be. */
async function findKnownId(
  { path, parameters = {} }: Operation,
  { client, lists, settings: { entry } }: Stage,
): Promise<void> {
  const [name = ''] = Object.keys(parameters);
  const above = lists.get(path.slice(0, path.lastIndexOf('/')));
  const listed = above ?? [...lists.values()].flat();
  const ids = [
    ...(name === 'petId' ? [entry] : []),
    ...listed.map((one) => one[name] ?? (above && one.id)),
  ];
  for (const id of ids.filter((one) => one !== undefined).slice(0, MAX_IDS)) {
    const request = { path: fillPath(path, `${id}`) };
    const response = await client.send(request, 200, ...(above ? [] : ['not_found' as const]));
    if (response.status === 200) return;
  }
  throw new Skip('no id known');
}

/** A request that is right in itself, for an id and under a tag that nothing has. */
function toRequest(operation: Operation, missingId: string): StageRequest {
  const { method, path, query = {}, requestBody, requestHeaders } = operation;
  const { document } = readCommittedDocument();
  const content = document.paths[path]?.[method.toLowerCase()]?.requestBody?.content;
  const [example] = Object.values(content?.['application/json']?.examples ?? {});
  return {
    method,
    path: `${fillPath(path, missingId)}${'limit' in query ? '?limit=100' : ''}`,
    headers: {
      ...(requestBody && { 'Content-Type': 'application/json' }),
      ...(requestHeaders?.includes('If-Match') && { 'If-Match': '"smoke"' }),
    },
    ...(requestBody && { body: JSON.stringify(example?.value) }),
  };
}

/** A parameter with a value that it cannot have; nothing, where every text will do. */
function toInvalidQuery({ query = {} }: Operation): string | undefined {
  const [name] = Object.entries(query).find(([, { parse }]) => parse('smoke') === undefined) ?? [];
  return name && `${name}=smoke`;
}

/** That a path says which methods it has, to one that it does not have. */
function toMethodRow(path: string): [name: string, check: Rows[string]] {
  const known = operationIds.map((id) => operations[id]).filter((one) => one.path === path);
  const methods: string[] = known.map(({ method }) => method);
  const other = ['DELETE', 'PUT', 'POST'].find((method) => !methods.includes(method)) ?? 'GET';
  const allowed = new RegExp(`^${methods.join(', ?')}(, ?OPTIONS)?$`);
  return [
    `answers 405 to ${other} ${path}, and says what is allowed`,
    async ({ client, missingId }) => {
      const request = { method: other, path: fillPath(path, missingId) };
      const response = await client.send(request, 'method_not_allowed');
      checkHeader(response, 'Allow', allowed, methods.join(', '));
    },
  ];
}

function checkNames(response: ResponseHead, header: string, expected: readonly string[]): void {
  const value = response.headers.get(header) ?? '';
  const names = value.toLowerCase().split(/ *, */);
  if (expected.every((name) => names.includes(name.toLowerCase()))) return;
  throw new Mismatch(response, `${header}: ${expected}`, `with ${header}: ${value}`);
}

function takesId(operationId: OperationId): boolean {
  return operations[operationId].path.includes('{');
}

function fillPath(path: string, value: string): string {
  return path.replaceAll(/\{\w+\}/g, value);
}
