import { challenge, retryAfter } from '../../../shared/contract/errorBody.ts';
import { cacheControl, exposedHeaders } from '../../../shared/contract/headers.ts';
import { documentation, type HeaderObject, type JsonSchema } from './openApi.ts';

const text: JsonSchema = { type: 'string' };

/**
 * The headers of responses, without `Content-Type` and what HTTP itself needs. Mock servers send all of them, so each
 * needs an example. `Content-Encoding` is left out, since it would break their uncompressed bodies.
 */
const headers = {
  'X-Request-Id': {
    description: 'The id of this request: include it when you report a problem.',
    schema: { type: 'string', minLength: 8 },
    example: '8f2c1e0a-6a6b-4c9a-9a51-0d3e8f7b2c44',
  },
  'Cache-Control': {
    description:
      'A browser may store the response, and revalidates it with `If-None-Match` before each use (RFC 9111 section 5.2).',
    schema: { const: cacheControl },
    example: cacheControl,
  },
  ETag: {
    description: 'The tag of the body’s content (RFC 9110 section 8.8.3). Opaque.',
    schema: { type: 'string', pattern: '^(W/)?"[^"]+"$' },
    example: '"AAAAGQBh"',
  },
  Link: {
    description:
      'Links (RFC 8288). `rel="next"` is the URL of the next page, `rel="deprecation"` that of the migration guide.',
    schema: { type: 'string', pattern: '^(<[^>]+>; rel="(next|deprecation)"(, |$))+$' },
    example: `<${documentation}deprecations.html>; rel="deprecation"`,
  },
  'Idempotent-Replayed': {
    description:
      'This is the outcome of an earlier request with this `Idempotency-Key`; this request changed nothing.',
    schema: { const: 'true' },
    example: 'true',
  },
  Vary: {
    description: 'The request headers that the response depends on.',
    schema: text,
    example: 'Accept-Encoding',
  },
  Deprecation: {
    description: 'The time of the deprecation: `@` and Unix seconds (RFC 9745).',
    schema: { type: 'string', pattern: '^@\\d+$' },
    example: '@1796083200',
  },
  Sunset: {
    description: 'The instant after which the operation may be removed (RFC 8594).',
    schema: { type: 'string', pattern: 'GMT$' },
    example: 'Wed, 01 Dec 2027 00:00:00 GMT',
  },
  'WWW-Authenticate': {
    description:
      'The required credentials (RFC 6750 section 3). On AWS, the gateway renames it to `x-amzn-Remapped-WWW-Authenticate`.',
    schema: { type: 'string', pattern: `^${challenge}` },
    example: challenge,
  },
  'Retry-After': {
    description: 'Seconds to wait before a retry (RFC 9110 section 10.2.3).',
    schema: { type: 'string', pattern: '^\\d+$' },
    example: retryAfter.throttled,
  },
  'Access-Control-Allow-Origin': {
    description: 'The origin with access to the response, or `*` for any (Fetch standard).',
    schema: text,
    example: '*',
  },
  'Access-Control-Expose-Headers': {
    description: 'The headers that a page of that origin may read (Fetch standard).',
    schema: text,
    example: exposedHeaders.join(', '),
  },
} as const satisfies Record<string, HeaderObject>;

/** Only deprecated operations always have a `Link`. On others, it is that of a page. */
const pageLink = '</v1/inventory?limit=100&cursor=AAAAZA>; rel="next"';

/** Headers by name, and whether a response always has them. */
export type HeaderUse = Readonly<Partial<Record<keyof typeof headers, boolean>>>;

/** Both forms of each header, required and optional, if `paths` names it. */
export function selectHeaderObjects(paths: string): Record<string, HeaderObject> {
  const forms = Object.entries<HeaderObject>(headers).flatMap(([name, header]) => [
    [name, { required: true, ...header }] as const,
    [nameOptional(name), name === 'Link' ? { ...header, example: pageLink } : header] as const,
  ]);
  return Object.fromEntries(forms.filter(([name]) => paths.includes(`"${toHeaderUri(name)}"`)));
}

export function toHeaderReferences(use: HeaderUse): Record<string, HeaderObject> {
  return Object.fromEntries(
    Object.entries(use).map(([name, isRequired]) => [
      name,
      { $ref: toHeaderUri(isRequired ? name : nameOptional(name)) },
    ]),
  );
}

function toHeaderUri(name: string): string {
  return `#/components/headers/${name}`;
}

/** A reference itself cannot say whether the header is required. */
function nameOptional(name: string): string {
  return `${name}.optional`;
}
