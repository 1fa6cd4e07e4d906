import { expect, test } from 'vitest';
import type { ErrorCode } from '../../shared/contract/errors/errorBody.ts';
import type { Operation } from '../../shared/contract/operation.ts';
import { type OperationId, operationIds, operations } from '../../shared/contract/operations.ts';
import type { ExactResponse } from '../support/exactFetch.ts';
import type { ConformanceTarget } from './target.ts';

/** What any operation can answer, so that none lists it. */
const anywhere: readonly string[] = [
  'too_many_requests',
  'internal_error',
  'service_unavailable',
] satisfies ErrorCode[];

/** The error codes that a run met, by the operation that was asked. */
export interface ObservedErrors {
  /** The target, whose answers are noted from here on. */
  watch(target: ConformanceTarget): ConformanceTarget;
  /** Rows that hold the contract against what was met; they come after all others. */
  describeRows(everyRowRan: boolean): void;
}

export function defineObservedErrors(): ObservedErrors {
  const met = new Map<OperationId, Set<string>>(operationIds.map((id) => [id, new Set()]));

  function note(method: string, path: string, { status, text }: ExactResponse): void {
    const operationId = status < 400 ? undefined : findOperation(method, path);
    const [, code] = /"code":\s*"(\w+)"/.exec(text) ?? [];
    if (operationId === undefined || code === undefined || anywhere.includes(code)) return;
    met.get(operationId)?.add(code);
  }

  return {
    watch: (target) => Object.create(target, { onResponse: { value: note } }) as ConformanceTarget,
    describeRows(everyRowRan) {
      test.each(operationIds)('%s answers with no error that its contract leaves out', (id) => {
        const listed: readonly string[] = operations[id].errors;
        expect([...(met.get(id) ?? [])].filter((code) => !listed.includes(code))).toEqual([]);
      });

      if (!everyRowRan) return;
      test.each(operationIds)('%s was seen to answer with each error that it lists', (id) => {
        expect([...(met.get(id) ?? [])].sort()).toEqual([...operations[id].errors].sort());
      });
    },
  };
}

/** The operation whose method and path a request has; none, where it has no value for a parameter. */
function findOperation(method: string, path: string): OperationId | undefined {
  const [segments = ''] = path.split('?');
  return operationIds.find((id) => {
    const operation: Operation = operations[id];
    const pattern = operation.path.replaceAll(/\{\w+\}/g, '[^/]+');
    return operation.method === method && new RegExp(`^${pattern}$`).test(segments);
  });
}
