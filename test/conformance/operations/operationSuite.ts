import { afterEach } from 'vitest';
import type { DynamoDbAction } from '../../../infra/stages/stageSettings.ts';
import type { TableName } from '../../../infra/stages/tables.ts';
import type { PetstoreClient } from '../../../shared/client/index.ts';
import type { ErrorCode } from '../../../shared/contract/errorBody.ts';
import type { InventoryItem } from '../../../shared/contract/schemas.ts';
import type { PricedRequest, Subjects } from '../costs/namedRequests.ts';
import { expectSuccess } from '../expectations.ts';
import {
  type ConformanceTarget,
  type Fixtures,
  type Sending,
  send,
  sendUpdate,
  type TargetSource,
} from '../target.ts';

/** An operation's test data. Written out and not read from the contract, so that a mistake there shows. */
export interface OperationSuite {
  toValidRequest(target: Pick<ConformanceTarget, 'fixtures'>): {
    readonly method: string;
    readonly path: string;
    readonly headers?: Readonly<Record<string, string>>;
    readonly body?: string;
  };
  /** All actions of its function on its tables; those of a valid request come first. */
  readonly access: Partial<Record<TableName, readonly [DynamoDbAction, ...DynamoDbAction[]]>>;
  /**
   * The document's examples by name, with the local stage's sample data; the first gets 200. Every operation also
   * gets examples of failures when something is broken or too busy.
   */
  readonly examples: Readonly<Record<string, ExampleRequest>>;
  /**
   * Two to seven requests with what they cost: the usual ones, and for each parameter one with its most expensive value.
   * `npm run units` measures them.
   */
  listRequests(subjects: Subjects): readonly PricedRequest[];
  /** Sends its valid request by the client, with the same result. */
  callClient(client: PetstoreClient, fixtures: Fixtures): Promise<unknown>;
  describeRows(target: TargetSource): void;
}

export interface ExampleRequest extends Omit<Sending, 'apiKey' | 'body'> {
  readonly summary: string;
  readonly path: string;
  /** The expected error; without one, a 200 is expected. */
  readonly code?: ErrorCode;
  readonly body?: unknown;
  /** The key to send; by default the one with write permission. */
  readonly key?: 'read' | 'none' | 'invalid';
}

export function withoutKey(request: Omit<ExampleRequest, 'summary'>) {
  return {
    noKey: { ...request, summary: 'No API key', key: 'none', code: 'unauthorized' },
    invalidKey: { ...request, summary: 'An invalid API key', key: 'invalid', code: 'unauthorized' },
  } as const satisfies Record<string, ExampleRequest>;
}

export interface Entry {
  readonly petId: number | bigint;
  readonly quantity: number;
  readonly status: string;
}

/** The entry that tests may change, as in the fixtures. */
export function changeableEntry(fixtures: Fixtures): InventoryItem {
  const entry = fixtures.inventory.find(({ petId }) => petId === fixtures.changeablePetId);
  if (entry === undefined) throw new Error('The fixtures have no changeable entry.');
  return entry;
}

export async function readEntry(target: ConformanceTarget, petId: bigint): Promise<Entry> {
  const response = await send(target, 'GET', `/inventory/${petId}`);
  expectSuccess(response, 'getInventoryEntry');
  return response.json() as Entry;
}

export async function readQuantity(target: ConformanceTarget): Promise<number> {
  return (await readEntry(target, target.fixtures.changeablePetId)).quantity;
}

/** Sets the changeable entry's quantity. @returns its new ETag */
export async function setQuantity(target: ConformanceTarget, quantity: number): Promise<string> {
  const { changeablePetId } = target.fixtures;
  const response = await sendUpdate(target, changeablePetId, `{"quantity":${quantity}}`);
  expectSuccess(response, 'updateInventory');
  return response.headers.get('ETag') ?? '';
}

export function restoreEntryAfterEach(target: TargetSource): void {
  afterEach(async () => {
    await setQuantity(target(), changeableEntry(target().fixtures).quantity);
  });
}
