import fc from 'fast-check';
import { type OperationId, operationIds, operations } from '../../../shared/contract/operations.ts';
import { type Defect, defects } from './defects.ts';
import { arbitraryBody, headerValues, query, secretMark, text, toWords } from './hostile.ts';

export interface FuzzRequest {
  /** The operation that it was made for: its method and path may have changed. */
  readonly operationId: OperationId;
  readonly method: string;
  /** Relative to the base address. */
  readonly path: string;
  /** After the question mark. */
  readonly query: string;
  /**
   * In the client's order. Values that only a run knows are placeholders: `<<write0>>` and `<<read0>>` for a valid key
   * by number, `<<unknown0>>` for another stage's key, `<<tag>>` for the entry's tag, `<<old>>` for an earlier one, and
   * `<<batch>>` for a text that no other batch has.
   */
  readonly headers: readonly Header[];
  readonly body: Buffer | null;
  /** What is certainly wrong with it, in the order of the checks. */
  readonly defects: readonly Defect[];
  /** Whether anything else may be wrong with it. */
  readonly isChanged: boolean;
  /** Whether it is sent twice at once. */
  readonly isTwice: boolean;
}

type Header = readonly [name: string, value: string];

/** A request whose path is not yet put together. */
export interface Draft extends Pick<FuzzRequest, 'query' | 'headers' | 'body'> {
  readonly petId: string;
}

const pick = <Value>(...values: readonly Value[]) => fc.constantFrom(...values);

/** Mostly nothing; a failure shrinks to nothing. */
function rarely<Value>(arbitrary: fc.Arbitrary<Value>, weight = 6) {
  const nothing = { arbitrary: fc.constant(undefined), weight };
  return fc.oneof({ withCrossShrink: true }, nothing, { arbitrary, weight: 1 });
}

const queries: Partial<Record<OperationId, readonly string[]>> = {
  // A list of all entries costs the most, and finds the least.
  listInventory: toWords('petId=1,2 petId=3&include=etag limit=2 limit=1&status=sold limit=3'),
  listOrders: ['limit=2', 'limit=1000', ''],
};

type Write = Pick<Draft, 'headers' | 'body'>;

/** Some keys and writes are few, so that they meet again. */
const fewKeys = fc.nat(3).map((n) => `key-<<batch>>-${n}`);

const update: fc.Arbitrary<Write> = fc
  .record({
    key: rarely(fewKeys, 1),
    ifMatch: rarely(pick('"<<tag>>"', '*', '"a", "<<tag>>"'), 1),
    quantity: fc.oneof(pick('5', '0', '12.0'), fc.nat().map(String)),
  })
  .map(({ key, ifMatch, quantity }) => ({
    headers: [
      ...(key === undefined ? [] : [['Idempotency-Key', key] as const]),
      ...(ifMatch === undefined ? [] : [['If-Match', ifMatch] as const]),
    ],
    body: Buffer.from(`{"quantity":${quantity},"note":"${secretMark}"}`),
  }));

function toAdjustments(petId: fc.Arbitrary<string>): fc.Arbitrary<Write> {
  const line = fc.record({ petId, delta: pick(-1, -2, 1, -7, 3) });
  const limits = { minLength: 1, maxLength: 3, selector: (one: { petId: string }) => one.petId };
  const cart = fc.uniqueArray(line, limits);
  const known = fc.sample(cart, { seed: 1, numRuns: 4 });
  const again = fewKeys.map((key) => [key, known[Number(key.at(-1))] ?? []] as const);
  const freshKeys = fc.nat().map((n) => `fresh-<<batch>>-${n}`);
  return fc
    .oneof(again, fc.tuple(fewKeys, cart), fc.tuple(freshKeys, cart), fc.tuple(freshKeys, cart))
    .map(([key, lines]) => {
      const adjustments = lines.map(({ petId, delta }) => `{"petId":${petId},"delta":${delta}}`);
      const body = Buffer.from(`{"note":"${secretMark}","adjustments":[${adjustments}]}`);
      return { headers: [['Idempotency-Key', key]], body };
    });
}

function toValid(operationId: OperationId, petIds: readonly string[]): fc.Arbitrary<Draft> {
  // Most requests meet at few entries.
  const petId = fc.oneof({ weight: 2, arbitrary: pick(...petIds.slice(0, 2)) }, pick(...petIds));
  const read: fc.Arbitrary<Write> = fc.constant({ headers: [], body: null });
  const writes: Partial<Record<OperationId, fc.Arbitrary<Write>>> = {
    updateInventory: update,
    adjustInventory: toAdjustments(petId),
  };
  return fc
    .record({
      petId,
      query: pick(...(queries[operationId] ?? [''])),
      key: pick('write0', 'write0', 'write1'),
      write: writes[operationId] ?? read,
    })
    .map(({ petId, query, key, write: { headers, body } }) => ({
      petId,
      query,
      headers: [
        ['Authorization', `Bearer <<${key}>>`],
        ...(body ? [['Content-Type', 'application/json'] as const] : []),
        ...headers,
      ],
      body,
    }));
}

const header: fc.Arbitrary<Header> = fc.oneof(
  {
    weight: 5,
    arbitrary: pick(...Object.entries(headerValues)).chain(([name, values]) =>
      pick(...values).map((value) => [name, value] as const),
    ),
  },
  { weight: 1, arbitrary: fc.tuple(pick(...Object.keys(headerValues)), text) },
);

type Change = ReturnType<typeof toChanges> extends fc.Arbitrary<infer Value> ? Value : never;

function toChanges(operationId: OperationId) {
  return fc.record({
    method: rarely(pick(...toWords('GET POST PUT PATCH DELETE HEAD OPTIONS PURGE')), 12),
    petId: rarely(text, 2),
    query: rarely(query, 'query' in operations[operationId] ? 1 : 6),
    body: rarely(arbitraryBody(operationId), 1),
    removedHeader: rarely(fc.nat(3)),
    headers: fc.array(header, { maxLength: 2 }),
    isUpperCase: fc.boolean(),
  });
}

function applyChange(draft: Draft, change: Change | undefined): Draft {
  if (!change) return draft;
  const kept = draft.headers.toSpliced(change.removedHeader ?? draft.headers.length, 1);
  const toName = (name: string) => (change.isUpperCase ? name.toUpperCase() : name);
  return {
    petId: change.petId ?? draft.petId,
    query: change.query ?? draft.query,
    body: change.body === undefined ? draft.body : change.body,
    headers: [...kept, ...change.headers].map(([name, value]) => [toName(name), value]),
  };
}

/** Valid requests: half of them with some changes, and half with defects. */
export function arbitraryRequest(petIds: readonly string[]): fc.Arbitrary<FuzzRequest> {
  const writes = ['updateInventory', 'adjustInventory'] as const;
  return fc.oneof(...[...operationIds, ...writes, ...writes].map((id) => toRequests(id, petIds)));
}

function toRequests(operationId: OperationId, petIds: readonly string[]) {
  const operation = operations[operationId];
  const possible = defects.filter(({ isPossible }) => isPossible(operation));
  return fc
    .record({
      valid: toValid(operationId, petIds),
      change: rarely(toChanges(operationId), 1),
      drawn: fc.tuple(...possible.map((defect) => rarely(fc.constant(defect), 9))),
      isTwice: fc.nat(4).map((n) => n === 4),
    })
    .map(({ valid, change, drawn, isTwice }): FuzzRequest => {
      const own = drawn.filter((defect) => defect !== undefined);
      // An earlier one replaces what a later one has set.
      const draft = own.reduceRight((one, { apply }) => apply(one), applyChange(valid, change));
      const template: string = operation.path;
      const url = `${template.replace('{petId}', () => draft.petId)}?${draft.query}`;
      const [path = '', ...query] = encode(url).split('?');
      return {
        operationId,
        method: change?.method ?? operation.method,
        path,
        query: query.join('?'),
        // HTTP has no other characters in a header.
        headers: draft.headers.map(([name, value]) => [
          name,
          value.replaceAll(/[^\t\x20-\x7e\x80-\xff]/g, ''),
        ]),
        body: draft.body,
        defects: own,
        isChanged: change !== undefined,
        isTwice,
      };
    });
}

/** HTTP has only visible ASCII characters in an address. */
function encode(url: string): string {
  return url.toWellFormed().replaceAll(/[^\x21-\x7e]+/g, encodeURIComponent);
}
