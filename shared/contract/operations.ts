import { getPet } from './operations/getPet.ts';
import { listInventory } from './operations/listInventory.ts';
import { listOrders } from './operations/listOrders.ts';
import { updateInventory } from './operations/updateInventory.ts';

/**
 * Every operation of the service. Routes, functions, grants and the local gateway are made by going
 * through it; a function itself imports only its own operation, which keeps its bundle small.
 */
export const operations = { listInventory, updateInventory, getPet, listOrders } as const;

export type OperationId = keyof typeof operations;
