import type { OperationId } from '../../../../shared/contract/operations.ts';

/** A request before it becomes an event or bytes on a connection. */
export interface FuzzRequest {
  readonly operationId: OperationId;
  method: string;
  /** Relative to the base address, with the id as the client writes it, and without the query. */
  path: string;
  /** What stands in the path's place of `{petId}`; nothing, where the operation has none. */
  petId: string | undefined;
  /** Behind the question mark, as the client writes it. */
  query: string;
  /** In the client's order. */
  headers: [name: string, value: string][];
  body: Buffer | null;
}

/** What the generators know of the stage that they make requests for. */
export interface FuzzFacts {
  /** A valid key with write permission, and one that allows reading alone. */
  readonly keys: Readonly<Record<'write' | 'read', readonly string[]>>;
  /** The ids of the inventory. */
  readonly petIds: readonly string[];
  /** The tag of an entry as it is now. */
  tagOf(petId: string): string;
}

/**
 * Stands in everything made up that is sent as credentials or in a body, of which no log line may tell.
 * Paths never have it: they are logged.
 */
export const secretMark = 'zqSECRETqz';
