import { findResponseProblems } from '../../../infra/docs/openapi/responseProblems.ts';
import { gatewayErrors } from '../../../infra/gateway/gatewayErrors.ts';
import { type ErrorCode, refusalCodes, statusOfCode } from '../../../shared/contract/errorBody.ts';
import type { Operation, Permission } from '../../../shared/contract/operation.ts';
import { operations } from '../../../shared/contract/operations.ts';
import { findOperation } from '../../../shared/contract/paths.ts';
import type { ExactResponse } from '../../support/exactFetch.ts';
import { defects } from './defects.ts';
import { secretMark } from './hostile.ts';
import type { FuzzRequest } from './requests.ts';
import type { Asked } from './taken.ts';

/** A request and its response, with what they say. */
export interface Exchange {
  readonly request: FuzzRequest;
  /** A header of the request; several lines are joined. */
  header(name: string): string | undefined;
  /** The permission of the key, if it is one valid key. */
  readonly permission: Permission | undefined;
  /** The operation that responds; `undefined` for a response of the gateway's own. */
  readonly operation: Operation | undefined;
  readonly asked: Asked | undefined;
  /** The tag of the path's entry, just before. */
  readonly tag: string | undefined;
  readonly response: ExactResponse;
  readonly status: number;
  readonly error: { readonly code?: ErrorCode; readonly message: string; readonly status?: number };
  readonly isReplay: boolean;
}

/** The first outcome of each `Idempotency-Key` in a batch. */
export type Outcomes = Map<string, { readonly request: string; readonly outcome: string }>;

/** The statuses of the checks before an operation looks at its entry, and of methods that a path does not have. */
const checked: readonly number[] = [400, 401, 403, 405, 415];

/** What holds for every response. Each returns whether it is broken, or how. */
const properties: Readonly<
  Record<string, (one: Exchange, outcomes: Outcomes) => boolean | string | undefined>
> = {
  'no request makes the service fail': ({ status }) => status >= 500,

  'a response is as the document says': ({ request: { method, path }, operation, response }) => {
    // The gateway's own errors have the headers of no operation.
    const [problem] = findResponseProblems(method, operation ? path : '/', response);
    return method !== 'HEAD' && problem;
  },

  'an error has a code of its operation, and the status of that code': (one) => {
    const { request, operation, status, error } = one;
    const gatewayCodes = ['not_found', 'method_not_allowed', 'invalid_request'] as const;
    const codes: readonly ErrorCode[] = operation?.errors ?? gatewayCodes;
    const code = codes.find((known) => known === error.code);
    const isRight = code && statusOfCode[code] === status && error.status === status;
    return status >= 400 && request.method !== 'HEAD' && !isRight;
  },

  'only what the contract takes gets past the checks': (one) => {
    const { request, operation, permission, asked, status } = one;
    if (request.method === 'OPTIONS' || checked.includes(status)) return false;
    if (!operation) return status !== 404;
    return !asked || !(permission === 'write' || permission === operation.permission);
  },

  'the first check that fails gives the response': (one) => {
    const { request, operation, status, error } = one;
    if (operation?.operationId !== request.operationId) return false;
    const [first] = request.defects;
    if (!first) return !request.isChanged && checked.includes(status) && 'the request is valid';
    if (status === first.status && first.message.test(error.message)) return false;
    const check = defects.findIndex((defect) => defect.status === status);
    const isEarlier = request.isChanged && check >= 0 && check < defects.indexOf(first);
    return !isEarlier && `in place of ${first.status}`;
  },

  'a read key writes nothing': ({ operation, permission, status }) =>
    operation?.permission === 'write' && permission === 'read' && status !== 403,

  'an update with an old tag is refused': ({ operation, header, tag, status, isReplay }) => {
    if (operation !== operations.updateInventory || status !== 200 || isReplay) return false;
    const ifMatch = header('if-match')?.trim() ?? '*';
    const tags = [...ifMatch.matchAll(/(W\/)?"([^"]*)"/g)];
    const isCurrent = ifMatch === '*' || tags.some(([, weak, text]) => !weak && text === tag);
    return !isCurrent || header('if-none-match')?.trim() === '*';
  },

  'an Idempotency-Key has one request and one outcome': (one, outcomes) => {
    const { operation, asked, status, error, response, isReplay, header } = one;
    const isAdjustment = operation === operations.adjustInventory;
    const isRefused = isAdjustment && refusalCodes.some((code) => code === error.code);
    const isWrite = operation?.permission === 'write';
    const key = isWrite ? header('idempotency-key') : undefined;
    // Other statuses store nothing.
    if (key === undefined || !(status === 200 || status === 422 || isRefused)) return isReplay;
    const apiKey = header('authorization')?.split(/ +/)[1];
    const known = [operation?.operationId, asked?.petId, apiKey, key].join(' ');
    const { quantity, adjustments = [] } = asked ?? {};
    const lines = adjustments.map(({ petId, delta }) => `${petId}:${delta}`).sort();
    // An adjustment reads no tag, and `*` is any.
    const tags = isAdjustment ? '' : header('if-match')?.replace('*', '');
    const request = [quantity, ...lines, tags].join();
    // The entries of an adjustment may include later changes.
    const body = isAdjustment && status === 200 ? '' : response.text;
    const outcome = [status, body, response.headers.get('etag')].join(' ');
    const first = outcomes.get(known);
    if (status === 422) return !first || first.request === request || isReplay;
    if (!first) outcomes.set(known, { request, outcome });
    if (!first) return isReplay;
    return !isReplay || first.request !== request || first.outcome !== outcome;
  },
};

/** What is wrong with an exchange. Each problem starts with the property that it breaks. */
export function findProblems(exchange: Exchange, outcomes: Outcomes): string[] {
  const { status, response } = exchange;
  return Object.entries(properties).flatMap(([property, find]) => {
    const found = find(exchange, outcomes);
    const reason = typeof found === 'string' ? `${found}: ` : '';
    return found ? `${property}: ${reason}${status} ${response.text.slice(0, 300)}` : [];
  });
}

/** The operation that responds to a request, by the message of its error. */
export function findResponder({ method, path }: FuzzRequest, message?: string) {
  const operationId = findOperation(method, path);
  const isOwn = message === gatewayErrors.DEFAULT_4XX.message;
  return operationId && !isOwn ? operations[operationId] : undefined;
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
  for (const { status, isReplay, asked: { petId, quantity, adjustments = [] } = {} } of exchanges) {
    if (status !== 200 || isReplay) continue;
    if (quantity !== undefined) counts.set(String(petId), quantity);
    for (const { petId, delta } of adjustments) {
      counts.set(String(petId), (counts.get(String(petId)) ?? 0n) + delta);
    }
  }
  const ids = new Set([...counts.keys(), ...after.keys()]);
  return [...ids].flatMap((petId) => {
    const [quantity, status] = after.get(petId) ?? [];
    const isRight = quantity === counts.get(petId) && status === before.get(petId)?.[1];
    return isRight
      ? []
      : `the stock is the sum of what was accepted: petId ${petId} has ${quantity} (${status}) in place of ${counts.get(petId)}`;
  });
}

/** @param written each text that the service wrote at once */
export function findLogProblems(written: readonly string[], secrets: readonly string[]): string[] {
  const secret = new RegExp(['psk_', secretMark, ...secrets].join('|'));
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
