import { afterAll, beforeAll, describe } from 'vitest';
import { describeAuthentication } from './authentication.ts';
import { describeCors } from './cors.ts';
import { describeGateway } from './gateway.ts';
import { describeGetPet } from './getPet.ts';
import { describeListInventory } from './listInventory.ts';
import { describeListOrders } from './listOrders.ts';
import { describePreconditions } from './preconditions.ts';
import type { ConformanceTarget } from './target.ts';
import { describeUpdateInventory, describeUpdateInventoryErrors } from './updateInventory.ts';
import { describeUpdateInventoryBodies } from './updateInventoryBodies.ts';

/**
 * The service's contract as tests over HTTP, the same for the sources, the bundles and a deployed
 * stage. With `writes: false` the rows that change the store are left out; the others put back what
 * they change.
 */
export function describeConformance(
  name: string,
  openTarget: () => Promise<ConformanceTarget>,
  { writes }: { readonly writes: boolean } = { writes: true },
): void {
  describe(name, () => {
    let opened: ConformanceTarget | undefined;
    beforeAll(async () => {
      opened = await openTarget();
    }, 60_000);
    afterAll(() => opened?.close());

    const target = () => {
      if (opened === undefined) throw new Error('The target is not open.');
      return opened;
    };
    describeAuthentication(target);
    describeGateway(target);
    describeCors(target);
    describeListInventory(target);
    describeGetPet(target);
    describeListOrders(target);
    describeUpdateInventoryErrors(target);
    if (!writes) return;
    describeUpdateInventory(target);
    describeUpdateInventoryBodies(target);
    describePreconditions(target);
  });
}
