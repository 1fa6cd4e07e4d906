import type { Engine, StartEngine } from '../../../infra/local/engine/engine.ts';
import { type ChildProcess, startChild } from '../../bench/childProcess.ts';

/** The local stage, from one start to its end. */
export interface Run {
  readonly baseUrl: string;
  readonly apiKey: string;
  isKilled: boolean;
}

export type KillableStage = ReturnType<typeof startKillableStage>;

const script = new URL('stageProcess.ts', import.meta.url).pathname;

/**
 * The local stage on a folder, as a process of its own that dies and comes back.
 * @param startEngine starts an engine in a process of its own, which is killed with the stage; by default it is part of it
 */
export function startKillableStage(folder: string, startEngine?: StartEngine) {
  let child: ChildProcess<Run> | undefined;
  let engine: Engine | undefined;
  let run = start();

  async function start(): Promise<Run> {
    engine = await startEngine?.({ dir: folder });
    child = await startChild<Run>(script, engine ? [folder, engine.endpoint] : [folder]);
    return child.first;
  }

  async function kill(): Promise<void> {
    child?.kill();
    await engine?.close();
    await child?.end();
  }

  return {
    /** The run that answers, as soon as one does. Rejects when the stage cannot start. */
    run: () => run,
    /** Kills it without a warning (SIGKILL) and starts it again on the same folder. */
    async killAndStart(): Promise<void> {
      const killed = await run;
      killed.isKilled = true;
      const { promise, resolve } = Promise.withResolvers<Run>();
      run = promise;
      await kill();
      resolve(start());
      await run;
    },
    /** Ends it for good. */
    end: kill,
  };
}
