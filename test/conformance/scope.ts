import type { Permission } from '../../shared/contract/operation.ts';
import { type OperationId, operationIds } from '../../shared/contract/operations.ts';

/** Which rows a target can take. */
export interface Scope {
  /** Whether rows may change the store. */
  readonly writes: boolean;
  /** What the keys at hand allow: a row that needs another key is left out. */
  readonly permissions: readonly Permission[];
  /** The operations that can be called so that they answer 200. */
  readonly answering: readonly OperationId[];
}

export function toWholeScope(limits: Partial<Scope>): Scope {
  const { writes = true, permissions = ['read', 'write'], answering = operationIds } = limits;
  return {
    writes,
    permissions,
    answering: answering.filter((operationId) => writes || operationId !== 'updateInventory'),
  };
}

/** Whether no row is left out. */
export function isWhole({ writes, permissions, answering }: Scope): boolean {
  return writes && permissions.length === 2 && answering.length === operationIds.length;
}
