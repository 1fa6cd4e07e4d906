import { expect, it } from 'vitest';
import { operationIds, operations } from '../../../shared/contract/operations.ts';
import { findOperation, findPath, matchPath } from '../../../shared/contract/paths.ts';

const known: Readonly<Record<string, [method: string, operationId: string, petId?: string]>> = {
  '/inventory': ['GET', 'listInventory'],
  '/inventory/': ['GET', 'listInventory'],
  '//inventory': ['GET', 'listInventory'],
  '///inventory//': ['GET', 'listInventory'],
  '/inventory/7': ['GET', 'getInventoryEntry', '7'],
  '/inventory/7/': ['PATCH', 'updateInventory', '7'],
  // A path without parameters goes before one with them, for all methods.
  '/inventory/adjustments': ['POST', 'adjustInventory'],
  '//inventory//adjustments/': ['POST', 'adjustInventory'],
  '/inventory//7': ['GET', 'getInventoryEntry', '7'],
  '//inventory///-7//': ['GET', 'getInventoryEntry', '-7'],
  '/store//orders': ['GET', 'listOrders'],
  // An encoded slash is part of its segment, also at the end.
  '/inventory/7%2F': ['GET', 'getInventoryEntry', '7%2F'],
  '/inventory/%2f7': ['GET', 'getInventoryEntry', '%2f7'],
};

it.each(Object.entries(known))('takes %s for a path of the contract', (path, expected) => {
  const [method, operationId, petId] = expected;
  expect(findOperation(method, `${path}?a=//`)).toBe(operationId);
  const found = findPath(path) ?? '';
  expect(matchPath(found, path)).toEqual(petId === undefined ? {} : { petId });
});

it('takes the path of adjustments for no petId', () => {
  expect(findOperation('GET', '/inventory/adjustments')).toBeUndefined();
  expect(findPath('/inventory/adjustments')).toBe('/inventory/adjustments');
});

it.each([
  ...['', '/', '//', 'inventory', '/inventory/7/8', '/inventory/7//8', '/inventory%2F', '/store/'],
  ...['/%2Finventory', '/store%2Forders', '/v1/inventory', '/Inventory/'],
])('takes %j for no path of the contract', (path) => {
  expect(findPath(path)).toBeUndefined();
});

it('finds each operation by its own path, as the logs name it', () => {
  for (const id of operationIds) {
    expect(findOperation(operations[id].method, operations[id].path)).toBe(id);
  }
});
