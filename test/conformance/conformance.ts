import { afterAll, beforeAll, describe } from 'vitest';
import { operationIds } from '../../shared/contract/operations.ts';
import { defineObservedAnswers } from './document/observedAnswers.ts';
import { suites } from './operations/suites.ts';
import { describeAuthentication } from './rows/authentication.ts';
import { describeConditionalList } from './rows/conditionalList.ts';
import { describeCors } from './rows/cors.ts';
import { describeEntriesById } from './rows/entriesById.ts';
import { describeGateway } from './rows/gateway.ts';
import { describeIdempotency } from './rows/idempotency.ts';
import { describePages } from './rows/pages.ts';
import { describePreconditions } from './rows/preconditions.ts';
import { isWhole, type Scope, toWholeScope } from './scope.ts';
import type { ConformanceTarget } from './target.ts';

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
    const observed = defineObservedAnswers();
    let opened: ConformanceTarget | undefined;
    beforeAll(async () => {
      opened = observed.watch(await openTarget());
    }, 180_000);
    afterAll(() => opened?.close());

    const target = () => {
      if (opened === undefined) throw new Error('The target is not open.');
      return opened;
    };
    describeAuthentication(target, scope);
    describeGateway(target);
    describeCors(target, scope);
    describeConditionalList(target);
    describePages(target);
    for (const id of operationIds) suites[id].describeRows(target, scope);
    describeEntriesById(target, scope);
    if (scope.writes) {
      describePreconditions(target);
      describeIdempotency(target);
    }
    if (isWhole(scope)) describe('the document', () => observed.describeRows());
  });
}
