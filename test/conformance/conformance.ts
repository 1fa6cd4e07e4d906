import { afterAll, beforeAll, describe } from 'vitest';
import { operationIds } from '../../shared/contract/operations.ts';
import { defineObservedAnswers } from './document/observedAnswers.ts';
import { suites } from './operations/suites.ts';
import { describeAuthentication } from './rows/authentication.ts';
import { describeConditionalList } from './rows/conditionalList.ts';
import { describeEntriesById } from './rows/entriesById.ts';
import { describeCors, describeGateway } from './rows/gateway.ts';
import { describePages } from './rows/pages.ts';
import { describePreconditions } from './rows/preconditions.ts';
import type { ConformanceTarget } from './target.ts';

/**
 * The service's contract as tests over HTTP, the same for the sources and the bundles. Rows that change
 * the store put back what they change.
 */
export function describeConformance(
  name: string,
  openTarget: () => Promise<ConformanceTarget>,
): void {
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
    describeAuthentication(target);
    describeGateway(target);
    describeCors(target);
    describeConditionalList(target);
    describePages(target);
    for (const id of operationIds) suites[id].describeRows(target);
    describeEntriesById(target);
    describePreconditions(target);
    describe('the document', () => observed.describeRows());
  });
}
