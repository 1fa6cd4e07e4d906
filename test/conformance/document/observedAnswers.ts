import { expect, test } from 'vitest';
import { findOperation } from '../../../infra/openapi/answerProblems.ts';
import { readCommittedDocument } from '../../../infra/openapi/committedDocument.ts';
import { errorsAnywhere } from '../../../infra/openapi/responses.ts';
import { statusOfCode } from '../../../shared/contract/errorBody.ts';
import { type OperationId, operationIds, operations } from '../../../shared/contract/operations.ts';
import { expectDocumented } from '../localTarget.ts';
import type { ConformanceTarget } from '../target.ts';

/** The answers that a run met, by the operation that was asked. */
export interface ObservedAnswers {
  /** The target, whose answers are held against the document and noted from here on. */
  watch(target: ConformanceTarget): ConformanceTarget;
  /** Rows that hold the document against what was met; they come after all others. */
  describeRows(): void;
}

/** What no request can ask for: `examples.test.ts` brings these about. */
const onlyInTrouble: readonly number[] = errorsAnywhere.map((code) => statusOfCode[code]);

export function defineObservedAnswers(): ObservedAnswers {
  const met = new Map<OperationId, Set<number>>(operationIds.map((id) => [id, new Set()]));

  const note: ConformanceTarget['onResponse'] = (method, path, response) => {
    expectDocumented(method, path, response);
    const operationId = findOperation(method, path);
    if (operationId) met.get(operationId)?.add(response.status);
  };

  return {
    watch: (target) => Object.create(target, { onResponse: { value: note } }) as ConformanceTarget,
    describeRows() {
      // Each status has one code, and each answer was seen to have that of its status.
      test.each(operationIds)('%s was seen to give each answer that the document lists', (id) => {
        const { path, method } = operations[id];
        const { document } = readCommittedDocument();
        const { responses = {} } = document.paths[path]?.[method.toLowerCase()] ?? {};
        const listed = Object.keys(responses).map(Number);
        const wanted = listed.filter((status) => !onlyInTrouble.includes(status));
        expect([...(met.get(id) ?? [])].sort()).toEqual(wanted.sort());
      });
    },
  };
}
