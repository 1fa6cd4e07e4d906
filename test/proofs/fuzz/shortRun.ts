import { startEmbeddedEngine } from '../../../infra/local/engine/engine.ts';
import type { LoadHandler } from '../../../infra/local/lambda/lambdaFunction.ts';
import type { OperationId } from '../../../shared/contract/operations.ts';
import { defineFreshFunctions } from '../../conformance/freshFunctions.ts';
import type { FuzzOptions, FuzzReport } from './fuzzReport.ts';
import { runFuzz } from './runFuzz.ts';
import { captureLog } from './target/captureLog.ts';
import { type FuzzTarget, openFuzzTarget } from './target/fuzzTarget.ts';

type Handler = (...values: never[]) => Promise<unknown>;

/** Takes the place of a handler, which it may call. */
export type Plant = (
  operationId: OperationId,
  handler: Handler,
  values: never[],
) => Promise<unknown>;

/** A target for short runs, with what is planted before its functions. */
export interface ShortRuns {
  readonly target: FuzzTarget;
  run(runs: number, plant?: Plant, options?: Partial<FuzzOptions>): Promise<FuzzReport>;
}

/** The seed of every short run. */
export const shortSeed = 11;

/** A stage in this process, whose functions can be spoilt. */
export async function openShortRuns(): Promise<ShortRuns> {
  const loadFresh = defineFreshFunctions();
  let plant: Plant | undefined;
  const loadHandler: LoadHandler = async (id) => {
    const { handler } = (await loadFresh(id)) as { handler: Handler };
    return (...values: never[]) => (plant ? plant(id, handler, values) : handler(...values));
  };
  const target = await openFuzzTarget({ startEngine: startEmbeddedEngine, loadHandler });
  return {
    target,
    async run(runs, planted, options = {}) {
      using log = captureLog();
      plant = planted;
      try {
        return await runFuzz(target, log, {
          seed: shortSeed,
          first: 0,
          runs,
          deadlineMilliseconds: 20_000,
          checkEvery: 1_000,
          ...options,
        });
      } finally {
        plant = undefined;
      }
    },
  };
}
