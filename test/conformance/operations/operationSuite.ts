import type { DynamoDbAction } from '../../../infra/stages/stageSettings.ts';
import type { TableName } from '../../../infra/stages/tables.ts';
import type { PetstoreClient } from '../../../shared/client/index.ts';
import type { ErrorCode } from '../../../shared/contract/errorBody.ts';
import type { ConformanceTarget, Fixtures, Sending, TargetSource } from '../target.ts';

/** What the tests know of an operation. Written out and not read from the contract, so that a mistake there shows. */
export interface OperationSuite {
  /** A request that the service answers with 200. */
  toValidRequest(target: Pick<ConformanceTarget, 'fixtures'>): {
    readonly method: string;
    readonly path: string;
    readonly body?: string;
  };
  /** All that its function may do to its tables, first what a valid request does. */
  readonly access: Partial<Record<TableName, readonly [DynamoDbAction, ...DynamoDbAction[]]>>;
  /**
   * What the document shows, by name, of the sample that the local stage has; the first answers 200. What fails
   * only where something is broken, or too busy, is added to each operation's.
   */
  readonly examples: Readonly<Record<string, ExampleRequest>>;
  /** Its valid request by the client, whose answer is the same. */
  callClient(client: PetstoreClient, fixtures: Fixtures): Promise<unknown>;
  /** Its rows, success and error. */
  describeRows(target: TargetSource): void;
}

/** A request that shows what an operation answers. */
export interface ExampleRequest extends Omit<Sending, 'apiKey' | 'body'> {
  readonly summary: string;
  /** Relative to the base address. */
  readonly path: string;
  /** The error that is to come; an answer of 200, when there is none. */
  readonly code?: ErrorCode;
  readonly body?: unknown;
  /** The key to send; that with write permission by default. */
  readonly key?: 'read' | 'none' | 'invalid';
}

/** Those of a request without a key, and with one that is not valid. */
export function withoutKey(request: Omit<ExampleRequest, 'summary'>) {
  return {
    noKey: { ...request, summary: 'No API key', key: 'none', code: 'unauthorized' },
    invalidKey: {
      ...request,
      summary: 'A key that is not valid',
      key: 'invalid',
      code: 'unauthorized',
    },
  } as const satisfies Record<string, ExampleRequest>;
}

const petIds = [
  ...'abc null 1.0 1.5 +1 %2B1 01 -01 -0 --1 - %201 1%20 1%0A 1%00 1e3 0x10 1_000 1,2 1%2F2'.split(
    ' ',
  ),
  ...'%EF%BC%91 9223372036854775808 -9223372036854775809 18446744073709551617'.split(' '),
  '1'.repeat(4000),
];

/** Texts in the place of `{petId}` that name no int64, or spell one in another way; each after a short name. */
export const malformedPetIds = petIds.map((petId) => [petId.slice(0, 24), petId] as const);
