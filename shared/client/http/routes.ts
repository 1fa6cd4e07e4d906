import type { OperationId, operations } from '../../contract/operations.ts';

type Contract = typeof operations;
type Names<Of> = Of extends { readonly query: infer Query } ? keyof Query : never;

/** The parameters that an operation's query may have. */
export type Query<Id extends OperationId> = {
  readonly [Name in Names<Contract[Id]>]?: string | number | undefined;
};

/** Where each operation is. It compiles only as long as it says what the contract does. */
export const routes: {
  readonly [Id in OperationId]: Pick<Contract[Id], 'method' | 'path'>;
} = {
  listInventory: { method: 'GET', path: '/inventory' },
  updateInventory: { method: 'PATCH', path: '/inventory/{petId}' },
  getPet: { method: 'GET', path: '/pets/{petId}' },
  listOrders: { method: 'GET', path: '/store/orders' },
};
