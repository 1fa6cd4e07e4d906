import { type OperationId, operationIds, operations } from '../../../shared/contract/operations.ts';

/** When the first deprecated operation may go; nothing, when none is deprecated. */
export function findFirstSunset(ids: readonly OperationId[] = operationIds): Date | undefined {
  const sunsets = ids.flatMap((id) => {
    const { lifecycle } = operations[id];
    return lifecycle.kind === 'deprecated' ? [lifecycle.sunset.getTime()] : [];
  });
  return sunsets.length === 0 ? undefined : new Date(Math.min(...sunsets));
}
