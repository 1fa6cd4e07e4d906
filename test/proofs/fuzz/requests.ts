import fc from 'fast-check';
import type { Operation } from '../../../shared/contract/operation.ts';
import { type OperationId, operationIds, operations } from '../../../shared/contract/operations.ts';
import { UNUSED_ID } from '../../../shared/contract/values.ts';
import { arbitraryBody, header, pick, query, secretMark, text, toWords } from './hostile.ts';

type Header = readonly [name: string, value: string];

/** A request whose path is not yet put together. */
interface Draft {
  readonly method: string;
  /** The text in its path. */
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

export interface FuzzRequest extends Draft {
  /** Relative to the base URL. */
  readonly path: string;
  /** All that is wrong with it, in the order of the checks; `undefined` if anything may be. */
  readonly defects?: readonly Defect[];
}

type Edit = (draft: Draft) => Draft;

/** Something that is wrong with a request, and the response that it gets unless an earlier check fails too. */
interface Defect {
  readonly status: number;
  readonly message: RegExp;
  readonly edit: Edit;
}

/** Replaces all lines of the header. */
function set(name: string, value: string): Edit {
  const isOther = ([one]: Header) => one.toLowerCase() !== name.toLowerCase();
  return (draft) => ({ ...draft, headers: [...draft.headers.filter(isOther), [name, value]] });
}
const put =
  (changes: Partial<Draft>): Edit =>
  (draft) => ({ ...draft, ...changes });

const missing = new RegExp(`no .* petId ${UNUSED_ID}`);
const missingCart = Buffer.from(`{"adjustments":[{"petId":${UNUSED_ID},"delta":1}]}`);
const setKey = set('Idempotency-Key', 'missing-<<batch>>');

/** Those that an operation's request can have, in the order of the checks: key, permission, path and query, and so on. */
function listDefects({ operationId, permission, path, query }: Operation): Defect[] {
  const isWrite = permission === 'write';
  const isUpdate = operationId === 'updateInventory';
  const isAdjustment = operationId === 'adjustInventory';
  const hasPetId = path.includes('{');
  const invalid = { petId: '9223372036854775808', query: 'limit=0' };
  const rows: [isPossible: boolean, status: number, message: RegExp, edit: Edit][] = [
    [true, 401, /^The API key is not valid/, set('Authorization', 'Bearer <<unknown0>>')],
    [isWrite, 403, /write permission/, set('Authorization', 'Bearer <<read0>>')],
    [hasPetId || query !== undefined, 400, /^(petId|limit) must be an integer/, put(invalid)],
    [isWrite, 415, /^The body must (be JSON|not be compressed)/, set('Content-Type', 'text/plain')],
    [isWrite, 400, /^The body must be valid JSON/, put({ body: Buffer.from('{"quantity":5') })],
    [isAdjustment, 400, /^Idempotency-Key must be/, set('Idempotency-Key', 'a b')],
    [isUpdate, 400, /takes no Idempotency-Key: send/, set('Idempotency-Key', 'a')],
    [hasPetId, 404, missing, put({ petId: UNUSED_ID })],
    [isAdjustment, 404, missing, (draft) => setKey({ ...draft, body: missingCart })],
    [isUpdate, 412, /in the state that If-Match/, set('If-Match', '"<<old>>"')],
  ];
  return rows.flatMap(([isPossible, status, message, edit]) =>
    isPossible ? [{ status, message, edit }] : [],
  );
}

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

/** A third of them repeat one of four, and some keys meet another cart. */
function toAdjustments(petId: fc.Arbitrary<string>): fc.Arbitrary<Write> {
  const line = fc.record({ petId, delta: pick(-1, -2, 1, -7, 3) });
  const limits = { minLength: 1, maxLength: 3, selector: (one: { petId: string }) => one.petId };
  const cart = fc.uniqueArray(line, limits);
  const known = fc.sample(cart, { seed: 1, numRuns: 4 });
  const again = fc.nat(3).map((n) => [n, known[n] ?? []] as const);
  return fc
    .oneof(again, fc.tuple(fc.nat(3), cart), fc.tuple(fc.nat(), cart))
    .map(([key, lines]) => {
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
  const writes: Partial<Record<OperationId, fc.Arbitrary<Write>>> = {
    updateInventory: update,
    adjustInventory: toAdjustments(petId),
  };
  const write = writes[operationId] ?? fc.constant<Write>({ headers: [], body: null });
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

/** Up to three changes, each to any value. */
function toEdits(operationId: OperationId): fc.Arbitrary<Edit[]> {
  const { query: hasQuery, parameters }: Operation = operations[operationId];
  const input = fc.oneof(
    ...(hasQuery ? [query.map((query) => put({ query }))] : []),
    ...(parameters ? [text.map((petId) => put({ petId }))] : []),
    arbitraryBody(operationId).map((body) => put({ body })),
  );
  const added = header.map(
    (line): Edit =>
      (draft) => {
        return { ...draft, headers: [...draft.headers, line] };
      },
  );
  const removed = fc.nat(3).map(
    (index): Edit =>
      (draft) => {
        return { ...draft, headers: draft.headers.toSpliced(index, 1) };
      },
  );
  const edit = fc.oneof(
    { weight: 3, arbitrary: input },
    { weight: 2, arbitrary: added },
    { weight: 1, arbitrary: removed },
  );
  return fc.array(edit, { minLength: 1, maxLength: 3 });
}

/** Valid requests: half of them with any changes, and half with defects. */
export function arbitraryRequest(petIds: readonly string[]): fc.Arbitrary<FuzzRequest> {
  const writes = ['updateInventory', 'adjustInventory'] as const;
  return fc.oneof(...[...operationIds, ...writes, ...writes].map((id) => toRequests(id, petIds)));
}

function toRequests(operationId: OperationId, petIds: readonly string[]) {
  const operation: Operation = operations[operationId];
  const possible = listDefects(operation).map((defect) => rarely(fc.constant(defect), 9));
  return fc
    .tuple(toValid(operationId, petIds), rarely(toEdits(operationId), 1), fc.tuple(...possible))
    .map(([valid, edits, drawn]): FuzzRequest => {
      const defects = drawn.filter((defect) => defect !== undefined);
      // An earlier defect replaces what a later one has set.
      const all = edits ?? defects.map(({ edit }) => edit).reverse();
      const draft = all.reduce((one, edit) => edit(one), valid);
      const url = `${operation.path.replace('{petId}', () => draft.petId)}?${draft.query}`;
      // HTTP has only visible ASCII characters in an address, and only those of Latin 1 in a header.
      const encoded = url.toWellFormed().replaceAll(/[^\x21-\x7e]+/g, encodeURIComponent);
      const [path = '', ...query] = encoded.split('?');
      return {
        ...{ ...draft, path, query: query.join('?') },
        headers: draft.headers.map(([name, value]) => {
          return [name, value.replaceAll(/[^\t\x20-\x7e\x80-\xff]/g, '')];
        }),
        ...(!edits && { defects }),
      };
    });
}
