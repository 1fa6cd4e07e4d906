import { type OperationId, operationIds } from '../../../shared/contract/operations.ts';
import type { OperationSuite } from './operationSuite.ts';

/** Each operation's suite, which the file of its name exports under it. */
export const suites = Object.fromEntries(
  await Promise.all(
    operationIds.map(async (id) => [id, (await import(/* @vite-ignore */ `./${id}.ts`))[id]]),
  ),
) as Record<OperationId, OperationSuite>;
