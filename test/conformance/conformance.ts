import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { readCommittedDocument } from '../../infra/docs/openapi/openApiDocument.ts';
import { errorsAnywhere } from '../../infra/docs/openapi/responses.ts';
import { statusOfCode } from '../../shared/contract/errorBody.ts';
import { type OperationId, operationIds, operations } from '../../shared/contract/operations.ts';
import { findOperation } from '../../shared/contract/paths.ts';
import { expectDocumented } from './localTarget.ts';
import { changeableEntry, setQuantity } from './operations/operationSuite.ts';
import { sendValid, suites } from './operations/suites.ts';
import { describeBodyValues } from './operations/updateInventoryBodies.ts';
import { describePages } from './rows/pages.ts';
import { describePreconditions } from './rows/preconditions.ts';
import {
  describeAuthentication,
  describeCors,
  describeGateway,
  describePetIds,
} from './rows/requests.ts';
import type { ConformanceTarget } from './target.ts';

/** Statuses that no request alone can cause: `openApi.test.ts` causes them. */
const onlyInTrouble: readonly number[] = errorsAnywhere.map((code) => statusOfCode[code]);

/**
 * The service's contract as tests over HTTP, the same for the sources and the bundles. Rows that change the
 * store restore it.
 * @param withValues whether also to try the paths and bodies that the gateway and the same code read in every target
 */
export function describeConformance(
  name: string,
  openTarget: () => Promise<ConformanceTarget>,
  withValues = true,
): void {
  describe(name, () => {
    /** The statuses of the run, by operation. */
    const met = new Map<OperationId, Set<number>>(operationIds.map((id) => [id, new Set()]));
    const note: ConformanceTarget['onResponse'] = (method, path, response) => {
      expectDocumented(method, path, response);
      const operationId = findOperation(method, path);
      if (operationId) met.get(operationId)?.add(response.status);
    };
    let opened: ConformanceTarget | undefined;
    beforeAll(async () => {
      opened = Object.assign(await openTarget(), { onResponse: note });
      // From then on, each repetition is a replay without an effect.
      await sendValid(opened, 'adjustInventory');
      await setQuantity(opened, changeableEntry(opened.fixtures).quantity);
    }, 180_000);
    afterAll(() => opened?.close());

    const target = () => {
      if (opened === undefined) throw new Error('The target is not open.');
      return opened;
    };
    describeAuthentication(target);
    describePetIds(target);
    if (withValues) {
      describeGateway(target);
      describeBodyValues(target);
    }
    describeCors(target);
    describePages(target);
    for (const id of operationIds) suites[id].describeRows(target);
    describePreconditions(target);
    describe('the document', () => {
      // Each status has one code, and each response has been checked for the code of its status.
      test.each(operationIds)('%s was seen to give each response that the document lists', (id) => {
        const { path, method } = operations[id];
        const document = readCommittedDocument();
        const { responses = {} } = document.paths[path]?.[method.toLowerCase()] ?? {};
        const listed = Object.keys(responses).map(Number);
        const expected = listed.filter((status) => !onlyInTrouble.includes(status));
        expect([...(met.get(id) ?? [])].sort()).toEqual(expected.sort());
      });
    });
  });
}
