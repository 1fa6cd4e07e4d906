import { findResponseProblems } from '../../../infra/docs/openapi/responseProblems.ts';
import { gatewayErrors } from '../../../infra/gateway/gatewayErrors.ts';
import { type ErrorCode, refusalCodes, statusOfCode } from '../../../shared/contract/errorBody.ts';
import type { Operation } from '../../../shared/contract/operation.ts';
import { operations } from '../../../shared/contract/operations.ts';
import { findOperation } from '../../../shared/contract/paths.ts';
import type { ExactResponse } from '../../support/exactFetch.ts';
import { type Asked, readAsked } from './asked.ts';
import { secretMark } from './hostile.ts';
import type { FuzzRequest } from './requests.ts';

/** By petId. */
export type Entries = ReadonlyMap<string, { quantity: bigint; status: string; tag: string }>;

export interface Batch {
  /** The secrets of the keys. */
  readonly secrets: readonly string[];
  /** The first outcome of each `Idempotency-Key`. */
  readonly outcomes: Map<string, { readonly request: string; readonly outcome: string }>;
}

export type Exchange = ReturnType<typeof toExchange>;

/**
 * A request and its response, with what they say and did.
 * @param log each text that the service wrote at once
 */
export function toExchange(
  request: FuzzRequest,
  response: ExactResponse,
  [before, after]: readonly [Entries, Entries],
  log: readonly string[],
) {
  const { status } = response;
  const error = parseError(response);
  const operationId = findOperation(request.method, request.path);
  const isOfGateway = error.message === gatewayErrors.DEFAULT_4XX.message;
  const operation: Operation | undefined =
    operationId && !isOfGateway ? operations[operationId] : undefined;
  return {
    ...{ request, response, before, after, log, status, error, operation },
    asked: operation && readAsked(operation, request),
    isReplay: response.headers.has('idempotent-replayed'),
    isRefusal:
      operation === operations.adjustInventory && refusalCodes.some((one) => one === error.code),
  };
}

function parseError(response: ExactResponse) {
  const error: { readonly code?: ErrorCode; readonly message: string; readonly status?: number } = {
    message: '',
  };
  try {
    return { ...error, ...(response.json() as object) };
  } catch {
    return error;
  }
}

/** The lines of a header, joined. */
function readHeader({ headers }: FuzzRequest, name: string): string | undefined {
  const lines = headers.filter(([one]) => one.toLowerCase() === name);
  return lines.length === 0 ? undefined : lines.map(([, value]) => value).join(', ');
}

/** The statuses of the checks before an operation looks at its entry, and of a path without the method. */
const checked: readonly number[] = [400, 401, 403, 405, 415];

/** What holds for every exchange. Each returns whether it is broken. */
const properties: Readonly<Record<string, (one: Exchange, batch: Batch) => unknown>> = {
  'no request makes the service fail': ({ status }) => status >= 500,

  'a response is as the document says': ({ request: { method, path }, operation, response }) => {
    // The gateway's own errors have the headers of no operation.
    return findResponseProblems(method, operation ? path : '/', response)[0];
  },

  'an error has a code of its operation, and the status of that code': (one) => {
    const { operation, status, error } = one;
    const ofGateway = ['unknown_path', 'method_not_allowed', 'invalid_request'] as const;
    const code = (operation?.errors ?? ofGateway).find((known) => known === error.code);
    const isRight = code && statusOfCode[code] === status && error.status === status;
    return status >= 400 && !isRight;
  },

  'only what the contract takes gets past the checks': ({ request, operation, asked, status }) => {
    if (checked.includes(status)) return false;
    if (!operation) return status !== 404;
    const hasKey = readHeader(request, 'idempotency-key') !== undefined;
    return !asked || (operation === operations.updateInventory && hasKey);
  },

  'only with a key that may': ({ request, operation, status }) => {
    if (!operation || checked.includes(status)) return false;
    const key = readHeader(request, 'authorization') ?? '';
    const [, permission] = /^bearer +<<(read|write)\d>>$/i.exec(key) ?? [];
    return permission !== 'write' && permission !== operation.permission;
  },

  'the first check that fails gives the response': ({ request: { defects }, status, error }) => {
    const [first] = defects ?? [];
    if (first) return status !== first.status || !first.message.test(error.message);
    return defects && checked.includes(status);
  },

  'an update with an old tag is refused': ({ request, operation, status }) => {
    if (operation !== operations.updateInventory || status !== 200) return false;
    const isCurrent = /^\*$|(?<!W\/)"<<tag>>"/.test(readHeader(request, 'if-match')?.trim() ?? '*');
    return !isCurrent || readHeader(request, 'if-none-match')?.trim() === '*';
  },

  'an Idempotency-Key has one request and one outcome': (one, { outcomes }) => {
    const { operation, asked, status, response, isReplay, isRefusal } = one;
    const isOutcome = operation === operations.adjustInventory && (status === 200 || isRefusal);
    // Other statuses store nothing.
    if (!isOutcome && status !== 422) return isReplay;
    const [apiKey, key] = ['authorization', 'idempotency-key'].map((name) => {
      return readHeader(one.request, name)?.split(/ +/).at(-1);
    });
    const lines = asked?.adjustments?.map(({ petId, delta }) => `${petId}:${delta}`);
    const request = `${lines?.sort()}`;
    // The entries of a 200 may include later changes.
    const outcome = `${status} ${isRefusal ? response.text : ''}`;
    const first = outcomes.get(`${apiKey} ${key}`);
    if (status === 422) return !first || first.request === request || isReplay;
    if (!first) outcomes.set(`${apiKey} ${key}`, { request, outcome });
    const isSame = !first || (first.request === request && first.outcome === outcome);
    return !isSame || isReplay !== (first !== undefined);
  },

  'the stock is the sum of what was accepted': ({ status, isReplay, asked, before, after }) => {
    const accepted = toDeltas(status === 200 && !isReplay ? asked : undefined, before);
    const expected = [...before].map(([petId, entry]) => {
      return [petId, entry.quantity + (accepted.get(petId) ?? 0n), entry.status];
    });
    const found = [...after].map(([petId, entry]) => [petId, entry.quantity, entry.status]);
    return `${found.sort()}` !== `${expected.sort()}` && `${found}`;
  },

  'a log line has no secret': ({ log }, { secrets }) => {
    return log.find((text) => [secretMark, ...secrets].some((secret) => text.includes(secret)));
  },

  'a log line is one JSON object': ({ log }) => log.find((text) => !isOneObject(text)),
};

function toDeltas({ petId, quantity, adjustments }: Asked = {}, before: Entries) {
  const from = before.get(`${petId}`)?.quantity ?? 0n;
  const update = quantity === undefined ? [] : [{ petId, delta: quantity - from }];
  return new Map((adjustments ?? update).map(({ petId, delta }) => [`${petId}`, delta]));
}

function isOneObject(text: string): boolean {
  try {
    const isLine = text.indexOf('\n') === text.length - 1;
    return isLine && typeof JSON.parse(text)?.message === 'object';
  } catch {
    return false;
  }
}

/** The properties that an exchange breaks, and how. */
export function findProblems(exchange: Exchange, batch: Batch): string[] {
  return Object.entries(properties).flatMap(([property, isBroken]) => {
    const found = isBroken(exchange, batch);
    return found ? `${property}: ${found}` : [];
  });
}
