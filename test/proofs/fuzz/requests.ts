import fc from 'fast-check';
import type { Operation } from '../../../shared/contract/operation.ts';
import { type OperationId, operationIds, operations } from '../../../shared/contract/operations.ts';
import { UNUSED_ID } from '../../../shared/contract/values.ts';
import { arbitraryBody, header, pick, query, secretMark, text, toWords } from './hostile.ts';

type Header = readonly [name: string, value: string];

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
  readonly headers: readonly Header[];
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
  isPossible(operation: Operation): boolean;
  readonly edit: Edit;
}

const isWrite = ({ permission }: Operation) => permission === 'write';
const isUpdate = ({ operationId }: Operation) => operationId === 'updateInventory';
const isAdjustment = ({ operationId }: Operation) => operationId === 'adjustInventory';
/** Replaces all lines of the header. */
function set(name: string, value: string): Edit {
  const isOther = ([one]: Header) => one.toLowerCase() !== name.toLowerCase();
  return (draft) => ({ ...draft, headers: [...draft.headers.filter(isOther), [name, value]] });
}
const hasInput = ({ path, query }: Operation) => path.includes('{') || query !== undefined;
const invalid = { petId: '9223372036854775808', query: 'limit=0' };
const cutBody = { body: Buffer.from('{"quantity":5') };
const missing = new RegExp(`no .* petId ${UNUSED_ID}`);
const missingCart = { body: Buffer.from(`{"adjustments":[{"petId":${UNUSED_ID},"delta":1}]}`) };
const setKey = set('Idempotency-Key', 'missing-<<batch>>');

type Row = [status: number, message: RegExp, isPossible: Defect['isPossible'], edit: Edit];
/** In the order of the checks: key, permission, path and query, media type, body, headers, entry, tag. */
const rows: Row[] = [
  [401, /^The API key is not valid/, () => true, set('Authorization', 'Bearer <<unknown0>>')],
  [403, /write permission/, isWrite, set('Authorization', 'Bearer <<read0>>')],
  [400, /^(petId|limit) must be an integer/, hasInput, (draft) => ({ ...draft, ...invalid })],
  [415, /^The body must (be JSON|not be compressed)/, isWrite, set('Content-Type', 'text/plain')],
  [400, /^The body must be valid JSON/, isWrite, (draft) => ({ ...draft, ...cutBody })],
  [400, /^Idempotency-Key must be/, isAdjustment, set('Idempotency-Key', 'a b')],
  [400, /takes no Idempotency-Key: send/, isUpdate, set('Idempotency-Key', 'a')],
  [404, missing, ({ path }) => path.includes('{'), (draft) => ({ ...draft, petId: UNUSED_ID })],
  [404, missing, isAdjustment, (draft) => setKey({ ...draft, ...missingCart })],
  [412, /in the state that If-Match/, isUpdate, set('If-Match', '"<<old>>"')],
];
export const defects = rows.map(([status, message, isPossible, edit]): Defect => {
  return { status, message, isPossible, edit };
});

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
  return fc.oneof(again, fc.tuple(fc.nat(3), cart), fresh).map(([key, lines]) => {
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
  const { query: hasQuery, parameters }: Operation = operations[operationId];
  const input: fc.Arbitrary<Partial<Draft>> = fc.oneof(
    ...(hasQuery ? [query.map((query) => ({ query }))] : []),
    ...(parameters ? [text.map((petId) => ({ petId }))] : []),
    arbitraryBody(operationId).map((body) => ({ body })),
  );
  const methods = pick(...toWords('GET PUT DELETE HEAD OPTIONS PURGE'));
  const change = fc.oneof(
    { weight: 9, arbitrary: input },
    methods.map((method): Partial<Draft> => ({ method })),
  );
  const ofHeaders = fc.oneof(
    { weight: 5, arbitrary: header.map((line) => (all: readonly Header[]) => [...all, line]) },
    fc.nat(3).map((index) => (all: readonly Header[]) => all.toSpliced(index, 1)),
    fc.constant((all: readonly Header[]) =>
      all.map(([name, value]): Header => [name.toUpperCase(), value]),
    ),
  );
  const edit = fc.oneof(
    change.map(
      (changed): Edit =>
        (draft) => ({ ...draft, ...changed }),
    ),
    ofHeaders.map(
      (edit): Edit =>
        (draft) => ({ ...draft, headers: edit(draft.headers) }),
    ),
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
  const possible = defects.filter(({ isPossible }) => isPossible(operation));
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
