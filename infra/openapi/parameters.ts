import type { Operation } from '../../shared/contract/operation.ts';
import type { Parameter } from '../../shared/contract/parameters/parameter.ts';
import type { ParameterObject } from './openApi.ts';

type RequestHeader = NonNullable<Operation['requestHeaders']>[number] | 'X-Request-Id';

const requestHeaders: Readonly<Record<RequestHeader, Omit<ParameterObject, 'in' | 'name'>>> = {
  'If-Match': {
    required: false,
    description:
      'Tags of the entry, at most 20: where it has none of them any more, the answer is 412 and nothing is changed (RFC 9110 section 13.1.1).',
    schema: { type: 'string' },
  },
  'If-None-Match': {
    required: false,
    description:
      'The `ETag` of the list that the client has: where it is the same still, the answer is 304 (RFC 9110 section 13.1.2).',
    schema: { type: 'string' },
  },
  'Idempotency-Key': {
    required: false,
    description:
      'Names the update, best by a new UUID: sent again within 24 hours, it has no second effect.',
    schema: { type: 'string', pattern: '^[!-~]{1,255}$', maxLength: 255 },
  },
  'X-Request-Id': {
    required: false,
    description: 'A name of the client’s own for the request, which is logged and not answered.',
    schema: { type: 'string', pattern: '^[A-Za-z0-9._-]{1,64}$', maxLength: 64 },
  },
};

/** All that an operation takes beside its body and the API key. */
export function toParameterObjects(operation: Operation): ParameterObject[] {
  const { parameters = {}, query = {}, requestHeaders: headers = [] } = operation;
  return [
    ...toObjects('path', parameters),
    ...toObjects('query', query).map((parameter) => withExclusions(parameter, operation)),
    ...[...headers, 'X-Request-Id' as const].map(
      (name): ParameterObject => ({ name, in: 'header', ...requestHeaders[name] }),
    ),
  ];
}

function toObjects(
  place: 'path' | 'query',
  parameters: Readonly<Record<string, Parameter<unknown>>>,
): ParameterObject[] {
  return Object.entries(parameters).map(([name, { description, schema }]) => ({
    name,
    in: place,
    required: place === 'path',
    description,
    // Separated by commas, in one parameter.
    ...(schema.type === 'array' && { explode: false as const }),
    schema,
  }));
}

function withExclusions(parameter: ParameterObject, { exclusive = [] }: Operation) {
  const others = exclusive
    .filter((pair) => pair.includes(parameter.name))
    .map(([one, other]) => `\`${one === parameter.name ? other : one}\``);
  if (others.length === 0) return parameter;
  return {
    ...parameter,
    description: `${parameter.description} Not together with ${others.join(' or ')}.`,
  };
}
