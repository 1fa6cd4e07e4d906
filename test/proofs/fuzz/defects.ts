import type { Operation } from '../../../shared/contract/operation.ts';
import { UNUSED_ID } from '../../../shared/contract/values.ts';
import type { Draft } from './requests.ts';

/** Something that is wrong with a request, and the response that it gets unless an earlier check fails too. */
export interface Defect {
  readonly status: number;
  readonly message: RegExp;
  isPossible(operation: Operation): boolean;
  apply(draft: Draft): Draft;
}

/** In the order of the checks: key, permission, path and query, media type, body, headers, entry, tag. */
export const defects: readonly Defect[] = [
  {
    status: 401,
    message: /^The API key is not valid/,
    isPossible: () => true,
    apply: (draft) => withHeader(draft, 'Authorization', 'Bearer <<unknown0>>'),
  },
  {
    status: 403,
    message: /write permission/,
    isPossible: ({ permission }) => permission === 'write',
    apply: (draft) => withHeader(draft, 'Authorization', 'Bearer <<read0>>'),
  },
  {
    status: 400,
    message: /^(petId|limit) must be an integer/,
    isPossible: ({ path, query }) => path.includes('{') || query !== undefined,
    apply: (draft) => ({ ...draft, petId: '9223372036854775808', query: 'limit=0' }),
  },
  {
    status: 415,
    message: /^The body must (be JSON|not be compressed)/,
    isPossible: ({ requestBody }) => requestBody !== undefined,
    apply: (draft) => withHeader(draft, 'Content-Type', 'text/plain'),
  },
  {
    status: 400,
    message: /^The body must be valid JSON/,
    isPossible: ({ requestBody }) => requestBody !== undefined,
    apply: (draft) => ({ ...draft, body: Buffer.from('{"quantity":5') }),
  },
  {
    status: 400,
    message: /^Idempotency-Key must be/,
    isPossible: takes('Idempotency-Key'),
    apply: (draft) => withHeader(draft, 'Idempotency-Key', 'a b'),
  },
  {
    status: 404,
    message: new RegExp(`no .* petId ${UNUSED_ID}`),
    isPossible: ({ path }) => path.includes('{'),
    apply: (draft) => ({ ...draft, petId: UNUSED_ID }),
  },
  {
    status: 404,
    message: new RegExp(`no .* petId ${UNUSED_ID}`),
    isPossible: ({ operationId }) => operationId === 'adjustInventory',
    apply: (draft) => ({
      ...withHeader(draft, 'Idempotency-Key', 'missing-<<batch>>'),
      body: Buffer.from(`{"adjustments":[{"petId":${UNUSED_ID},"delta":1}]}`),
    }),
  },
  {
    status: 412,
    message: /in the state that If-Match/,
    isPossible: takes('If-Match'),
    // Without a key, which could make it a replay.
    apply: (draft) => withHeader(withHeader(draft, 'Idempotency-Key'), 'If-Match', '"<<old>>"'),
  },
];

function takes(header: string) {
  return ({ requestHeaders }: Operation) => requestHeaders?.some((one) => one === header) ?? false;
}

/** Replaces all lines of the header, or removes them. */
function withHeader(draft: Draft, name: string, value?: string): Draft {
  const others = draft.headers.filter(([other]) => other.toLowerCase() !== name.toLowerCase());
  return { ...draft, headers: value === undefined ? others : [...others, [name, value]] };
}
