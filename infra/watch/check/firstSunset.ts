import { operationIds, operations } from '../../../shared/contract/operations.ts';

/** When the first deprecated operation may go; nothing, when none is deprecated. */
export function findFirstSunset(): Date | undefined {
  const sunsets = operationIds.flatMap((id) => {
    const { lifecycle } = operations[id];
    return lifecycle.kind === 'deprecated' ? [lifecycle.sunset.getTime()] : [];
  });
  return sunsets.length === 0 ? undefined : new Date(Math.min(...sunsets));
}
