import fc from 'fast-check';
import type { Operation } from '../../../shared/contract/operation.ts';
import { type OperationId, operationIds, operations } from '../../../shared/contract/operations.ts';
import { UNUSED_ID } from '../../../shared/contract/values.ts';
import { arbitraryBody, header, pick, query, secretMark, text, toWords } from './hostile.ts';

/** A request whose path is not yet put together. */
interface Draft {
  readonly method: string;
  readonly petId: string;
  /** After the question mark. */
  readonly query: string;
  /**
   * In the client's order. Values that only a run knows are placeholders: `<<write0>>` and `<<read0>>` for a valid key
   * by number, `<<unknown0>>` for another stage's key, `<<tag>>` for the entry's tag, `<<old>>` for an earlier one, and
   * `<<batch>>` for a text that no other batch has.
   */
  readonly headers: readonly (readonly [name: string, value: string])[];
  readonly body: Buffer | null;
}

export interface FuzzRequest extends Omit<Draft, 'petId'> {
  /** The operation that it was made for: its method and path may have changed. */
  readonly operationId: OperationId;
  /** Relative to the base address. */
  readonly path: string;
  /** What is certainly wrong with it, in the order of the checks. */
  readonly defects: readonly Defect[];
  /** Whether anything else may be wrong with it. */
  readonly isChanged: boolean;
  /** Whether it is sent twice at once. */
  readonly isTwice: boolean;
}

type Edit = (draft: Draft) => Draft;

/** Something that is wrong with a request, and the response that it gets unless an earlier check fails too. */
interface Defect {
  readonly status: number;
  readonly message: RegExp;
  readonly isPossible?: (operation: Operation) => boolean;
  readonly edit: Edit;
}

const isWrite = ({ permission }: Operation) => permission === 'write';
const takes = (name: string) => (operation: Operation) =>
  operation.requestHeaders?.some((one) => one === name) ?? false;
/** Replaces all lines of the header. */
const set =
  (name: string, value: string): Edit =>
  ({ headers, ...draft }) => ({
    ...draft,
    headers: [
      ...headers.filter(([one]) => one.toLowerCase() !== name.toLowerCase()),
      [name, value],
    ],
  });
const isMissing = { status: 404, message: new RegExp(`no .* petId ${UNUSED_ID}`) };

/** In the order of the checks: key, permission, path and query, media type, body, headers, entry, tag. */
export const defects: readonly Defect[] = [
  {
    ...{ status: 401, message: /^The API key is not valid/ },
    edit: set('Authorization', 'Bearer <<unknown0>>'),
  },
  {
    ...{ status: 403, message: /write permission/, isPossible: isWrite },
    edit: set('Authorization', 'Bearer <<read0>>'),
  },
  {
    ...{ status: 400, message: /^(petId|limit) must be an integer/ },
    isPossible: ({ path, query }) => path.includes('{') || query !== undefined,
    edit: (draft) => ({ ...draft, petId: '9223372036854775808', query: 'limit=0' }),
  },
  {
    ...{ status: 415, message: /^The body must (be JSON|not be compressed)/, isPossible: isWrite },
    edit: set('Content-Type', 'text/plain'),
  },
  {
    ...{ status: 400, message: /^The body must be valid JSON/, isPossible: isWrite },
    edit: (draft) => ({ ...draft, body: Buffer.from('{"quantity":5') }),
  },
  {
    ...{ status: 400, message: /^Idempotency-Key must be/, isPossible: takes('Idempotency-Key') },
    edit: set('Idempotency-Key', 'a b'),
  },
  {
    ...{ status: 400, message: /takes no Idempotency-Key: send/, isPossible: takes('If-Match') },
    edit: (draft) => set('Idempotency-Key', 'a')(set('If-Match', '*')(draft)),
  },
  {
    ...{ ...isMissing, isPossible: ({ path }) => path.includes('{') },
    edit: (draft) => ({ ...draft, petId: UNUSED_ID }),
  },
  {
    ...{ ...isMissing, isPossible: takes('Idempotency-Key') },
    edit: (draft) => ({
      ...set('Idempotency-Key', 'missing-<<batch>>')(draft),
      body: Buffer.from(`{"adjustments":[{"petId":${UNUSED_ID},"delta":1}]}`),
    }),
  },
  {
    ...{ status: 412, message: /in the state that If-Match/, isPossible: takes('If-Match') },
    edit: set('If-Match', '"<<old>>"'),
  },
];

/** Mostly nothing; a failure shrinks to nothing. */
function rarely<Value>(arbitrary: fc.Arbitrary<Value>, weight: number) {
  const nothing = { arbitrary: fc.constant(undefined), weight };
  return fc.oneof({ withCrossShrink: true }, nothing, { arbitrary, weight: 1 });
}

type Write = Pick<Draft, 'headers' | 'body'>;

const update: fc.Arbitrary<Write> = fc
  .tuple(
    rarely(pick('"<<tag>>"', '*', '"a", "<<tag>>"'), 1),
    fc.oneof(pick('5', '0', '12.0'), fc.nat().map(String)),
  )
  .map(([ifMatch, quantity]) => ({
    headers: ifMatch === undefined ? [] : [['If-Match', ifMatch]],
    body: Buffer.from(`{"quantity":${quantity},"note":"${secretMark}"}`),
  }));

/** Some keys and carts are few, so that they meet again. */
function toAdjustments(petId: fc.Arbitrary<string>): fc.Arbitrary<Write> {
  const line = fc.record({ petId, delta: pick(-1, -2, 1, -7, 3) });
  const limits = { minLength: 1, maxLength: 3, selector: (one: { petId: string }) => one.petId };
  const cart = fc.uniqueArray(line, limits);
  const known = fc.sample(cart, { seed: 1, numRuns: 4 });
  const again = fc.nat(3).map((n) => [n, known[n] ?? []] as const);
  const fresh = fc.tuple(fc.nat(), cart);
  return fc.oneof(again, fc.tuple(fc.nat(3), cart), fresh, fresh).map(([key, lines]) => {
    const adjustments = lines.map(({ petId, delta }) => `{"petId":${petId},"delta":${delta}}`);
    return {
      headers: [['Idempotency-Key', `key-<<batch>>-${key}`]],
      body: Buffer.from(`{"note":"${secretMark}","adjustments":[${adjustments}]}`),
    };
  });
}

const queries: Partial<Record<OperationId, readonly string[]>> = {
  // A list of all entries costs the most, and finds the least.
  listInventory: toWords('petId=1,2 petId=3&include=etag limit=2 limit=1&status=sold limit=3'),
  listOrders: ['limit=2', 'limit=1000', ''],
};

function toValid(operationId: OperationId, petIds: readonly string[]): fc.Arbitrary<Draft> {
  // Most requests meet at few entries.
  const petId = fc.oneof({ weight: 2, arbitrary: pick(...petIds.slice(0, 2)) }, pick(...petIds));
  const writes = { updateInventory: update, adjustInventory: toAdjustments(petId) };
  const { [operationId]: write = fc.constant<Write>({ headers: [], body: null }) } =
    writes as Partial<Record<OperationId, fc.Arbitrary<Write>>>;
  return fc
    .tuple(petId, pick(...(queries[operationId] ?? [''])), pick(0, 0, 1), write)
    .map(([petId, query, key, { headers, body }]) => ({
      ...{ method: operations[operationId].method, petId, query, body },
      headers: [
        ['Authorization', `Bearer <<write${key}>>`],
        ...(body ? [['Content-Type', 'application/json'] as const] : []),
        ...headers,
      ],
    }));
}

function toEdits(operationId: OperationId): fc.Arbitrary<Edit[]> {
  const own: fc.Arbitrary<Partial<Draft>> = fc.oneof(
    ...('query' in operations[operationId] ? [query.map((query) => ({ query }))] : []),
    ...('parameters' in operations[operationId] ? [text.map((petId) => ({ petId }))] : []),
    arbitraryBody(operationId).map((body) => ({ body })),
  );
  const methods = toWords('GET POST PUT PATCH DELETE HEAD OPTIONS PURGE');
  const edit = fc.oneof(
    {
      weight: 4,
      arbitrary: own.map(
        (change): Edit =>
          (draft) => ({ ...draft, ...change }),
      ),
    },
    {
      weight: 4,
      arbitrary: header.map((line): Edit => {
        return (draft) => ({ ...draft, headers: [...draft.headers, line] });
      }),
    },
    pick(...methods).map(
      (method): Edit =>
        (draft) => ({ ...draft, method }),
    ),
    fc.nat(3).map((index): Edit => {
      return (draft) => ({ ...draft, headers: draft.headers.toSpliced(index, 1) });
    }),
    fc.constant<Edit>(({ headers, ...draft }) => ({
      ...draft,
      headers: headers.map(([name, value]) => [name.toUpperCase(), value]),
    })),
  );
  return fc.array(edit, { minLength: 1, maxLength: 3 });
}

/** Valid requests: half of them with some changes, and half with defects. */
export function arbitraryRequest(petIds: readonly string[]): fc.Arbitrary<FuzzRequest> {
  const writes = ['updateInventory', 'adjustInventory'] as const;
  return fc.oneof(...[...operationIds, ...writes, ...writes].map((id) => toRequests(id, petIds)));
}

function toRequests(operationId: OperationId, petIds: readonly string[]) {
  const operation: Operation = operations[operationId];
  const possible = defects.filter(({ isPossible }) => isPossible?.(operation) ?? true);
  const drawn = fc.tuple(...possible.map((defect) => rarely(fc.constant(defect), 9)));
  return fc
    .tuple(toValid(operationId, petIds), rarely(toEdits(operationId), 1), drawn, fc.nat(4))
    .map(([valid, edits = [], drawn, n]): FuzzRequest => {
      const own = drawn.filter((defect) => defect !== undefined);
      // An earlier defect replaces what a later one has set.
      const all = [...edits, ...own.map(({ edit }) => edit).reverse()];
      const { petId, ...draft } = all.reduce((one, edit) => edit(one), valid);
      const url = `${operation.path.replace('{petId}', () => petId)}?${draft.query}`;
      // HTTP has only visible ASCII characters in an address, and only those of Latin 1 in a header.
      const encoded = url.toWellFormed().replaceAll(/[^\x21-\x7e]+/g, encodeURIComponent);
      const [path = '', ...query] = encoded.split('?');
      return {
        ...draft,
        operationId,
        path,
        query: query.join('?'),
        headers: draft.headers.map(([name, value]) => {
          return [name, value.replaceAll(/[^\t\x20-\x7e\x80-\xff]/g, '')];
        }),
        defects: own,
        isChanged: edits.length > 0,
        isTwice: n === 4,
      };
    });
}
