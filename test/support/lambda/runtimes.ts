import type { OperationId } from '../../../shared/contract/operations.ts';
import { writeBundle } from '../bundles.ts';
import { type LambdaRuntime, startLambdaRuntime } from './lambdaRuntime.ts';

/** Starts the functions of one stage, as they are deployed, under Lambda's runtime client. */
export function defineRuntimes(toPath: (name: string) => string) {
  const started = new Map<OperationId, LambdaRuntime>();
  return {
    started,
    async load(operationId: OperationId): Promise<LambdaRuntime> {
      const entry = await writeBundle(operationId, toPath(operationId));
      const runtime = await startLambdaRuntime(entry);
      started.set(operationId, runtime);
      await runtime.ready;
      return runtime;
    },
    async close(): Promise<void> {
      await Promise.all([...started.values()].map((runtime) => runtime.close()));
    },
  };
}
