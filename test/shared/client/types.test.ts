import { expectTypeOf, it } from 'vitest';
import type * as z from 'zod/mini';
import type * as client from '../../../shared/client/index.ts';
import type { ErrorCode } from '../../../shared/contract/errorBody.ts';
import type { InventoryUpdate } from '../../../shared/contract/inventoryUpdate.ts';
import type { OperationId } from '../../../shared/contract/operations.ts';
import type { InventoryItem, Order, Pet, PetStatus } from '../../../shared/contract/schemas.ts';

// `tsc` checks these.
it('the client’s types match the contract', () => {
  expectTypeOf<client.InventoryItem>().toEqualTypeOf<InventoryItem>();
  expectTypeOf<client.InventoryUpdate>().toEqualTypeOf<InventoryUpdate>();
  expectTypeOf<client.Pet>().toEqualTypeOf<Pet>();
  expectTypeOf<client.Order>().toEqualTypeOf<Order>();
  expectTypeOf<client.PetStatus>().toEqualTypeOf<z.output<typeof PetStatus>>();
  expectTypeOf<client.ErrorCode>().toEqualTypeOf<ErrorCode>();
  expectTypeOf<OperationId>().toExtend<keyof client.PetstoreClient>();
});
