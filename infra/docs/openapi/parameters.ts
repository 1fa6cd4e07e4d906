import {
  MAX_CLIENT_REQUEST_ID_LENGTH,
  MAX_IDEMPOTENCY_KEY_LENGTH,
  MAX_TAGS,
  OUTCOME_DAYS,
} from '../../../shared/contract/headers.ts';
import type { Operation } from '../../../shared/contract/operation.ts';
import type { Parameter, ParameterSchema } from '../../../shared/contract/parameters.ts';
import type { Example, JsonSchema, RecordedExample } from './openApi.ts';

type RequestHeader = NonNullable<Operation['requestHeaders']>[number] | 'X-Request-Id';

const requestHeaders = {
  'If-Match': {
    description: `Up to ${MAX_TAGS} tags of the entry. If the entry has none of them any more, the response is 412 and nothing changes (RFC 9110 section 13.1.1). With \`If-None-Match: *\`, an existing entry always gets 412. Any other \`If-None-Match\` is ignored.`,
    schema: { type: 'string' },
  },
  'If-None-Match': {
    description:
      'The `ETag` of the response that you have. If nothing has changed since, the response is 304 (RFC 9110 section 13.1.2).',
    schema: { type: 'string' },
  },
  'Idempotency-Key': {
    description: `A unique key for this adjustment, such as an order’s id. It has one outcome, kept for ${OUTCOME_DAYS} days: the first 200, 404 \`not_found\` or 409. The same adjustment sent again changes nothing and gets that outcome, a 200 with the current entries. Another adjustment with this key gets 422.`,
    schema: textSchema('[!-~]', MAX_IDEMPOTENCY_KEY_LENGTH),
  },
  'X-Request-Id': {
    description: 'The client’s own id for the request. It is logged but not returned.',
    schema: textSchema('[A-Za-z0-9._-]', MAX_CLIENT_REQUEST_ID_LENGTH),
  },
} satisfies Record<RequestHeader, { description: string; schema: JsonSchema }>;

/**
 * All parameters of an operation, without its body and the API key.
 * @param recorded its examples; those that succeed have their headers too, which the reference fills in by name
 */
export function toParameterObjects(operation: Operation, recorded: readonly RecordedExample[]) {
  const { parameters = {}, query = {}, requestHeaders: headers = [] } = operation;
  return [
    ...toObjects('path', parameters),
    ...toObjects('query', query, operation.exclusive),
    ...[...headers, 'X-Request-Id' as const].map((name) => {
      const required = name === 'Idempotency-Key';
      return {
        name,
        in: 'header',
        required,
        ...requestHeaders[name],
        ...selectHeaderExamples(recorded, name),
      };
    }),
  ];
}

/** Each request has a value of its own: a second sale under the same key would sell nothing. */
function selectHeaderExamples(recorded: readonly RecordedExample[], name: string) {
  const examples: Record<string, Example> = {};
  for (const { name: example, summary, status, headers } of recorded) {
    const value = headers?.[name];
    if (status === 200 && value !== undefined) examples[example] = { summary, value };
  }
  return Object.keys(examples).length > 0 && { examples };
}

function toObjects(
  location: 'path' | 'query',
  parameters: Readonly<Record<string, Parameter<unknown>>>,
  exclusive: Operation['exclusive'] = [],
) {
  return Object.entries(parameters).map(([name, { description, schema }]) => {
    const isArray = schema.type === 'array';
    const pairs = exclusive.filter((pair) => pair.includes(name)).flat();
    const others = pairs.filter((other) => other !== name).map((other) => `\`${other}\``);
    const sentences = [
      description,
      ...(isArray ? [`Also accepted as \`${name}=…&${name}=…\`.`] : []),
      ...(others.length > 0 ? [`Not together with ${others.join(' or ')}.`] : []),
    ];
    return {
      name,
      in: location,
      required: location === 'path',
      description: sentences.join(' '),
      // A document can describe only one way to write an array.
      ...(isArray && { explode: false as const }),
      schema,
      ...buildExamples(location, schema),
    };
  });
}

/**
 * What the reference fills in. For a path, it is an entry of the local stage's sample. For an optional enumeration it
 * is nothing: Scalar would otherwise send the first value. Scalar reads `x-disabled` only in a named example.
 */
function buildExamples(location: 'path' | 'query', schema: ParameterSchema) {
  if (location === 'path') return { example: 7 };
  const [value] = schema.enum ?? [];
  const example: Example = { value, 'x-disabled': true };
  return value === undefined ? {} : { examples: { default: example } };
}

/** One or more of these characters. */
function textSchema(characters: string, maxLength: number): JsonSchema {
  return { type: 'string', pattern: `^${characters}{1,${maxLength}}$`, maxLength };
}
