import { findResponseProblems } from '../../../infra/docs/openapi/responseProblems.ts';
import { gatewayErrors } from '../../../infra/gateway/gatewayErrors.ts';
import { type ErrorCode, refusalCodes, statusOfCode } from '../../../shared/contract/errorBody.ts';
import type { Operation, Permission } from '../../../shared/contract/operation.ts';
import { operations } from '../../../shared/contract/operations.ts';
import { findOperation } from '../../../shared/contract/paths.ts';
import type { ExactResponse } from '../../support/exactFetch.ts';
import { MAX_COUNT, readAsked } from './asked.ts';
import { secretMark } from './hostile.ts';
import { defects, type FuzzRequest } from './requests.ts';

interface Refused {
  readonly petId: number | bigint;
  readonly code: ErrorCode;
  readonly quantity?: number;
  readonly status?: string;
}

interface FuzzError {
  readonly code?: ErrorCode;
  readonly message: string;
  readonly status?: number;
  readonly refused?: readonly Refused[];
}

export type Exchange = ReturnType<typeof toExchange>;

/**
 * A request and its response, with what they say.
 * @param permission that of the key, if it is one valid key
 */
export function toExchange(
  request: FuzzRequest,
  response: ExactResponse,
  permission: Permission | undefined,
) {
  const error = parseError(response);
  const operation = findResponder(request, error.message);
  /** Several lines of a header are joined. */
  const header = (name: string) => {
    const lines = request.headers.filter(([one]) => one.toLowerCase() === name);
    return lines.length === 0 ? undefined : lines.map(([, value]) => value).join(', ');
  };
  return {
    ...{ request, response, permission, header, operation, error, status: response.status },
    asked: operation && readAsked(operation, request),
    isReplay: response.headers.has('idempotent-replayed'),
    isRefusal:
      operation === operations.adjustInventory && refusalCodes.some((one) => one === error.code),
    /** The tag of the path's entry, just before. */
    tag: undefined as string | undefined,
  };
}

/** The operation that responds to a request; `undefined` for a response of the gateway's own. */
export function findResponder({ method, path }: FuzzRequest, message?: string) {
  const operationId = findOperation(method, path);
  const isOwn = message === gatewayErrors.DEFAULT_4XX.message;
  return operationId && !isOwn ? (operations[operationId] as Operation) : undefined;
}

function parseError(response: ExactResponse): FuzzError {
  try {
    return { message: '', ...(response.json() as object) };
  } catch {
    return { message: '' };
  }
}

/** The first outcome of each `Idempotency-Key` in a batch. */
export type Outcomes = Map<string, { readonly request: string; readonly outcome: string }>;

/** The statuses of the checks before an operation looks at its entry, and of methods that a path does not have. */
const checked: readonly number[] = [400, 401, 403, 405, 415];

/** What holds for every response. Each returns whether it is broken. */
const properties: Readonly<Record<string, (one: Exchange, outcomes: Outcomes) => unknown>> = {
  'no request makes the service fail': ({ status }) => status >= 500,

  'a response is as the document says': ({ request: { method, path }, operation, response }) => {
    // The gateway's own errors have the headers of no operation.
    const problems = findResponseProblems(method, operation ? path : '/', response);
    return method !== 'HEAD' && problems[0];
  },

  'an error has a code of its operation, and the status of that code': (one) => {
    const { request, operation, status, error } = one;
    const ofGateway = ['unknown_path', 'method_not_allowed', 'invalid_request'] as const;
    const code = (operation?.errors ?? ofGateway).find((known) => known === error.code);
    const isRight = code && statusOfCode[code] === status && error.status === status;
    return status >= 400 && request.method !== 'HEAD' && !isRight;
  },

  'only what the contract takes gets past the checks': (one) => {
    const { request, operation, permission, asked, status, header } = one;
    if (request.method === 'OPTIONS' || checked.includes(status)) return false;
    if (!operation) return status !== 404;
    if (operation === operations.updateInventory && header('idempotency-key') !== undefined) {
      return true;
    }
    return !asked || !(permission === 'write' || permission === operation.permission);
  },

  'the first check that fails gives the response': ({ request, operation, status, error }) => {
    if (operation?.operationId !== request.operationId) return false;
    const [first] = request.defects;
    if (!first) return !request.isChanged && checked.includes(status);
    if (status === first.status && first.message.test(error.message)) return false;
    const check = defects.findIndex((defect) => defect.status === status);
    return !(request.isChanged && check >= 0 && check < defects.indexOf(first));
  },

  'a read key writes nothing': ({ operation, permission, status }) =>
    operation?.permission === 'write' && permission === 'read' && status !== 403,

  'an update with an old tag is refused': ({ operation, header, tag, status }) => {
    if (operation !== operations.updateInventory || status !== 200) return false;
    const ifMatch = header('if-match')?.trim() ?? '*';
    const tags = [...ifMatch.matchAll(/(W\/)?"([^"]*)"/g)];
    const isCurrent = ifMatch === '*' || tags.some(([, weak, text]) => !weak && text === tag);
    return !isCurrent || header('if-none-match')?.trim() === '*';
  },

  'an Idempotency-Key has one request and one outcome': (one, outcomes) => {
    const { operation, asked, status, response, isReplay, isRefusal, header } = one;
    const isOutcome = operation === operations.adjustInventory && (status === 200 || isRefusal);
    // Other statuses store nothing.
    if (!isOutcome && status !== 422) return isReplay;
    const key = `${header('authorization')?.split(/ +/)[1]} ${header('idempotency-key')}`;
    const request = asked?.adjustments?.map(({ petId, delta }) => `${petId}:${delta}`).sort();
    // The entries of a 200 may include later changes.
    const outcome = `${status} ${isRefusal ? response.text : ''}`;
    const first = outcomes.get(key);
    if (status === 422) return !first || first.request === `${request}` || isReplay;
    if (!first) outcomes.set(key, { request: `${request}`, outcome });
    if (!first) return isReplay;
    return !isReplay || first.request !== `${request}` || first.outcome !== outcome;
  },

  'a refusal names pets of its request, each with its reason': (one) => {
    const { isRefusal, asked, error, isReplay } = one;
    const { refused = [] } = error;
    if (!isRefusal) return 'refused' in error;
    const asks = asked?.adjustments ?? [];
    const named = asks.filter(({ petId }) => refused.some((pet) => BigInt(pet.petId) === petId));
    const code = refusalCodes.find((known) => refused.some((pet) => pet.code === known));
    if (code !== error.code || named.length !== refused.length) return true;
    // A replay has the order of the first request.
    return refused.some((pet, index) => {
      const delta = asks.find(({ petId }) => petId === BigInt(pet.petId))?.delta ?? 0n;
      const isOrdered = isReplay || named[index]?.petId === BigInt(pet.petId);
      return !isOrdered || findReason(pet, delta) !== pet.code;
    });
  },
};

/** Why an entry refuses to have the delta added. */
function findReason({ quantity, status }: Refused, delta: bigint): string {
  if (quantity === undefined) return status === undefined ? 'not_found' : '';
  if (status !== undefined) return delta < 0n && status !== 'available' ? 'not_for_sale' : '';
  const sum = BigInt(quantity) + delta;
  return sum < 0n ? 'insufficient_stock' : sum > MAX_COUNT ? 'quantity_out_of_range' : '';
}

/** What is wrong with an exchange. Each problem starts with the property that it breaks. */
export function findProblems(exchange: Exchange, outcomes: Outcomes): string[] {
  const { status, response } = exchange;
  return Object.entries(properties).flatMap(([property, isBroken]) => {
    const found = isBroken(exchange, outcomes);
    const reason = typeof found === 'string' ? `${found}: ` : '';
    return found ? `${property}: ${reason}${status} ${response.text.slice(0, 300)}` : [];
  });
}

/** Stock count and status by petId. */
export type Stock = ReadonlyMap<string, readonly [quantity: bigint, status: string | undefined]>;

/** Each count is the sum of what was accepted, from the last update on. Nothing else changes. */
export function findStockProblems(
  before: Stock,
  exchanges: readonly Exchange[],
  after: Stock,
): string[] {
  const counts = new Map([...before].map(([petId, [quantity]]) => [petId, quantity]));
  const accepted = exchanges.filter(({ status, isReplay }) => status === 200 && !isReplay);
  for (const { petId, quantity, adjustments = [] } of accepted.flatMap(({ asked = [] }) => asked)) {
    if (quantity !== undefined) counts.set(`${petId}`, quantity);
    for (const { petId, delta } of adjustments) {
      counts.set(`${petId}`, (counts.get(`${petId}`) ?? 0n) + delta);
    }
  }
  return [...new Set([...counts.keys(), ...after.keys()])].flatMap((petId) => {
    const [quantity, status] = after.get(petId) ?? [];
    if (quantity === counts.get(petId) && status === before.get(petId)?.[1]) return [];
    return `the stock is the sum of what was accepted: petId ${petId} has ${quantity} (${status}) in place of ${counts.get(petId)}`;
  });
}

/** @param written each text that the service wrote at once */
export function findLogProblems(written: readonly string[], secrets: readonly string[]): string[] {
  const secret = new RegExp([secretMark, ...secrets].join('|'));
  return written.flatMap((text) => [
    ...(secret.test(text) ? [`a log line has no secret: ${text}`] : []),
    ...(isOneObject(text) ? [] : [`a log line is one JSON object: ${JSON.stringify(text)}`]),
  ]);
}

function isOneObject(text: string): boolean {
  try {
    const isLine = text.indexOf('\n') === text.length - 1;
    return isLine && typeof JSON.parse(text)?.message === 'object';
  } catch {
    return false;
  }
}
