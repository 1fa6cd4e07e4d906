import type { APIGatewayProxyEvent } from 'aws-lambda';
import { toProxyEvent } from '../../../../infra/local/gateway/proxyEvent.ts';
import { operations } from '../../../../shared/contract/operations.ts';
import type { EventCase } from './fuzzCase.ts';
import type { FuzzRequest } from './fuzzRequest.ts';
import type { Random } from './random.ts';
import { allTexts } from './texts.ts';

type Made = Pick<EventCase, 'event' | 'isPossible' | 'withoutContext'>;

/** The event that API Gateway makes of a request, sometimes with what only it or a caller of ours can send. */
export function makeEvent(random: Random, request: FuzzRequest, requestId: string): Made {
  const { operationId, petId, query, headers, body } = request;
  const { method, path } = operations[operationId];
  const toPath = petId === undefined ? path : path.replace('{petId}', petId);
  const event = toProxyEvent(
    {
      requestId,
      // Whatever the request's own: API Gateway calls a function by its method and path alone.
      method,
      fullPath: `/v1${toPath}`,
      path: toPath,
      query: new URLSearchParams(query),
      headerLines: headers,
      sourceIp: '127.0.0.1',
    },
    path,
    petId === undefined ? {} : { petId: decode(petId) },
    body === null ? null : body.toString('utf8'),
  );
  if (random.chance(0.7)) return { event, isPossible: true, withoutContext: false };
  if (random.chance(0.9))
    return { event: vary(random, event, body), isPossible: true, withoutContext: false };
  return breakEvent(random, event);
}

/** What API Gateway sends now and then, such as no headers at all from its console. */
function vary(
  random: Random,
  event: APIGatewayProxyEvent,
  body: Buffer | null,
): APIGatewayProxyEvent {
  const text = random.pick(allTexts);
  switch (random.below(7)) {
    case 0:
      return { ...event, body: body?.toString('base64') ?? null, isBase64Encoded: true };
    case 1:
      return { ...event, isBase64Encoded: true };
    case 2:
      return { ...event, headers: null, multiValueHeaders: null } as never;
    case 3:
      return { ...event, pathParameters: event.pathParameters && { petId: text } };
    case 4:
      return { ...event, multiValueQueryStringParameters: { [random.pick(names)]: [text] } };
    case 5:
      return { ...event, body: text };
    default:
      return {
        ...event,
        multiValueHeaders: {
          ...event.multiValueHeaders,
          [random.pick(headerNames)]: [text, ''].slice(0, 1 + random.below(2)),
        },
      };
  }
}

const names = ['limit', 'cursor', 'status', 'petId', 'include', '__proto__'];
const headerNames = [
  'If-Match',
  'if-none-match',
  'Idempotency-Key',
  'X-Request-Id',
  'Origin',
  'Accept-Encoding',
  'Content-Type',
  'User-Agent',
];

const strange = [undefined, null, 0, '', 'text', [], {}, true, [null], [[]], [{}], [5]];

function breakEvent(random: Random, event: APIGatewayProxyEvent): Made {
  const value = random.pick(strange);
  const changed = () => {
    switch (random.below(6)) {
      case 0:
        return {
          ...event,
          multiValueHeaders: { ...event.multiValueHeaders, Authorization: value },
        };
      case 1:
        return { ...event, multiValueHeaders: value };
      case 2:
        return { ...event, requestContext: value };
      case 3:
        return {
          ...event,
          multiValueQueryStringParameters: random.pick([value, { limit: value }]),
        };
      case 4:
        return { ...event, pathParameters: random.pick([value, { petId: value }]) };
      default:
        return { ...event, body: value };
    }
  };
  return { event: changed() as never, isPossible: false, withoutContext: random.chance(0.1) };
}

/** As API Gateway hands over a path's parameter. */
function decode(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
