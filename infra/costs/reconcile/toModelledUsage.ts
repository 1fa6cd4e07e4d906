import { toFixedUsage } from './fixedUsage.ts';
import type { ModelInput, ModelledUsage } from './modelledUsage.ts';
import { toLambdaUsage, toRequestsUsage } from './requestUsage.ts';

/**
 * A bill by usage types, as the model has it: quantities beside dollars, so that an error of the one is
 * told from an error of the other. Types of which there is nothing are left out.
 * @throws {NoSuchAnswer}
 */
export function toModelledUsage(input: ModelInput): ModelledUsage[] {
  return [...toRequestsUsage(input), ...toLambdaUsage(input), ...toFixedUsage(input)].filter(
    ({ quantity }) => quantity > 0,
  );
}
