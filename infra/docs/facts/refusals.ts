import { InventoryUpdate } from '../../../shared/contract/inventoryUpdate.ts';
import type { Operation } from '../../../shared/contract/operation.ts';
import { operations } from '../../../shared/contract/operations.ts';
import { idempotency } from '../../../shared/http/middleware/idempotency.ts';
import { jsonBody } from '../../../shared/http/middleware/jsonBody.ts';
import { parameters } from '../../../shared/http/middleware/parameters.ts';
import { preconditions } from '../../../shared/http/middleware/preconditions.ts';
import type {
  OperationMiddleware,
  OperationRequest,
} from '../../../shared/http/operationRequest.ts';
import { openCursor } from '../../../shared/store/cursor.ts';

const rows: readonly Operation[] = Object.values(operations);
const update = jsonBody(InventoryUpdate);

/** The errors of the request checks. Each comes from the check itself, with a request that it refuses. */
export const refusals = {
  value: rows.flatMap((row) => [
    ...refuse(parameters(row)),
    ...toNames(row).flatMap((name) => refuse(parameters(withoutPath(row)), query([name], '?'))),
  ]),
  repeated: rows.flatMap((row) =>
    toNames(row).flatMap((name) =>
      refuse(parameters(takingAnything(row)), query([name], '1', '1')),
    ),
  ),
  exclusive: rows.flatMap((row) =>
    (row.exclusive ?? []).flatMap((pair) =>
      refuse(parameters(takingAnything(row)), query(pair, '1')),
    ),
  ),
  cursor: thrownBy(() => openCursor('', '', () => false)),
  emptyBody: refuse(update, { body: '' }),
  noJson: refuse(update, { body: '{' }),
  noUtf8: refuse(update, { body: '"\uFFFD"' }),
  noObject: refuse(update, { body: '[]' }),
  noQuantity: [...refuse(update, { body: '{}' }), ...refuse(update, { body: '{"Quantity":5}' })],
  quantity: refuse(update, { body: '{"quantity":-1}' }),
  ifMatch: refuse(preconditions(), { headers: { 'if-match': 'AAAACQBh' } }),
  idempotencyKey: refuse(idempotency(), { headers: { 'idempotency-key': '' } }),
} as const satisfies Record<string, readonly Error[]>;

interface Refused {
  readonly query?: Readonly<Record<string, readonly string[]>>;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
}

/** @returns what the check throws at the request; empty if it accepts it */
function refuse({ before }: OperationMiddleware, { query, headers, body }: Refused = {}): Error[] {
  const sent = { 'content-type': 'application/json', ...headers };
  const lines = Object.entries(sent).map(([name, value]) => [name, [value]] as const);
  const request = {
    event: { multiValueQueryStringParameters: query, body },
    internal: { headers: new Map(lines), parameters: {}, query: {} },
  };
  return thrownBy(() => before?.(request as unknown as OperationRequest));
}

function thrownBy(act: () => unknown): Error[] {
  try {
    act();
    return [];
  } catch (error) {
    return [error as Error];
  }
}

function query(names: readonly string[], ...values: readonly string[]): Refused {
  return { query: Object.fromEntries(names.map((name) => [name, values])) };
}

function toNames({ query = {} }: Operation): string[] {
  return Object.keys(query);
}

/** The path is checked before the query. */
function withoutPath(row: Operation): Operation {
  return { ...row, parameters: {} };
}

/** Each value is checked before the rules between parameters. */
function takingAnything({ query = {}, ...row }: Operation): Operation {
  const taking = Object.entries(query).map(([name, parameter]) => [
    name,
    { ...parameter, parse: (text: string) => text },
  ]);
  return withoutPath({ ...row, query: Object.fromEntries(taking) });
}
