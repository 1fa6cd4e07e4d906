import { afterAll, beforeAll, describe } from 'vitest';
import { describeAuthentication } from './authentication.ts';
import { describeConditionalList } from './conditionalList.ts';
import { describeCors } from './cors.ts';
import { describeGateway } from './gateway.ts';
import { describeGetPet } from './getPet.ts';
import { describeListInventory } from './listInventory.ts';
import { describeListOrders } from './listOrders.ts';
import { describePages } from './pages.ts';
import { describePreconditions } from './preconditions.ts';
import { type Scope, toWholeScope } from './scope.ts';
import type { ConformanceTarget } from './target.ts';
import { describeUpdateInventory, describeUpdateInventoryErrors } from './updateInventory.ts';
import { describeUpdateInventoryBodies } from './updateInventoryBodies.ts';

/**
 * The service's contract as tests over HTTP, the same for the sources, the bundles and a deployed
 * stage. With `writes: false` the rows are left out that change the store, or that a mistake in the
 * service could have change it; the others put back what they change.
 */
export function describeConformance(
  name: string,
  openTarget: () => Promise<ConformanceTarget>,
  limits: Partial<Scope> = {},
): void {
  const scope = toWholeScope(limits);
  describe(name, () => {
    let opened: ConformanceTarget | undefined;
    beforeAll(async () => {
      opened = await openTarget();
    }, 180_000);
    afterAll(() => opened?.close());

    const target = () => {
      if (opened === undefined) throw new Error('The target is not open.');
      return opened;
    };
    describeAuthentication(target, scope);
    describeGateway(target);
    describeCors(target, scope);
    describeListInventory(target);
    describeGetPet(target, scope);
    describeListOrders(target);
    describeConditionalList(target);
    describePages(target);
    describeUpdateInventoryErrors(target, scope);
    if (!scope.writes) return;
    describeUpdateInventory(target);
    describeUpdateInventoryBodies(target);
    describePreconditions(target);
  });
}
