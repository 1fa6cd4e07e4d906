import { randomUUID } from 'node:crypto';
import { setTimeout } from 'node:timers/promises';
import type { Engine, StartEngine } from '../../../infra/local/engine/engine.ts';
import { type ChildProcess, startChild } from '../../bench/childProcess.ts';
import { startDynoxide } from '../../support/engines.ts';
import { type Draw, defineDraw } from '../../support/testCommand.ts';
import type { StageProcessOptions, Started } from '../stageProcess.ts';
import type { Entry, Operation } from './checker.ts';
import { defineRecorder, type Run, runClient, toEntry } from './client.ts';

export interface RegisterOptions {
  readonly clients: number;
  /** How long the clients run. */
  readonly seconds: number;
  readonly seed: number;
  readonly engine: 'dynalite' | 'dynoxide';
}

/** Few, so that the clients conflict. */
const ENTRIES = 4;
/** Milliseconds between the stage's start and its kill. */
const [MIN_LIFE, MAX_LIFE] = [3_000, 10_000];

/**
 * Lets clients read and update a few entries while the stage is repeatedly killed.
 * @param folder of the stage's data
 * @param onKill receives the number of kills so far
 * @returns the clients' histories; each ends with a read of the entry after all other operations
 */
export async function runRegister(
  { clients, seconds, seed, engine }: RegisterOptions,
  folder: string,
  onKill: (kills: number) => void,
) {
  const stage = startKillableStage(folder, engine === 'dynoxide' ? startDynoxide : undefined);
  try {
    const firsts = await readFirst(await stage.run());
    const petIds = [...firsts.keys()];
    const recorder = defineRecorder();
    const end = performance.now() + seconds * 1_000;
    // A name for this run alone, since the service remembers keys.
    const name = randomUUID();
    let quantity = 1_000;
    const options = {
      run: stage.run,
      recorder,
      petIds,
      drawQuantity() {
        quantity += 1;
        return quantity;
      },
      isOver: () => performance.now() >= end,
    };
    const work = Array.from({ length: clients }, (_, index) => {
      const draw = defineDraw(seed + index + 1);
      return runClient({ ...options, draw, name: `${name}-${index}` });
    });
    const killing = killAgainAndAgain(stage, defineDraw(seed), end, onKill);
    const [kills] = await Promise.all([killing, ...work]);
    const run = await stage.run();
    for (const petId of petIds) {
      const last = await recorder.perform(run, petId, { kind: 'read' });
      if (last?.kind !== 'ok') throw new Error(`Entry ${petId} could not be read at the end.`);
    }
    const entries = [...firsts].map(([petId, first]) => {
      const history: readonly Operation[] = recorder.histories.get(petId) ?? [];
      return { petId, first, history };
    });
    return { entries, figures: recorder.figures, kills };
  } finally {
    await stage.end();
  }
}

/** The first entries of the inventory. */
async function readFirst({ baseUrl, apiKey }: Started): Promise<Map<string, Entry>> {
  const response = await fetch(`${baseUrl}/inventory?limit=${ENTRIES}&include=etag`, {
    headers: { Authorization: `Bearer ${apiKey}` },
  });
  const list = (await response.json()) as { petId: number }[];
  return new Map(list.map((entry) => [String(entry.petId), toEntry(JSON.stringify([entry]))]));
}

async function killAgainAndAgain(
  stage: ReturnType<typeof startKillableStage>,
  draw: Draw,
  end: number,
  onKill: (kills: number) => void,
): Promise<number> {
  for (let kills = 0; ; kills += 1) {
    await stage.run();
    const life = MIN_LIFE + draw() * (MAX_LIFE - MIN_LIFE);
    if (performance.now() + life >= end) return kills;
    await setTimeout(life);
    await stage.killAndStart();
    onKill(kills + 1);
  }
}

/**
 * The local stage on a folder, in a process that is killed and restarted.
 * @param startEngine starts an engine in its own process, which is killed with the stage; by default the stage has one
 */
function startKillableStage(folder: string, startEngine?: StartEngine) {
  const script = new URL('../stageProcess.ts', import.meta.url).pathname;
  let child: ChildProcess<Started> | undefined;
  let engine: Engine | undefined;
  let run = start();

  async function start(): Promise<Run> {
    engine = await startEngine?.({ dir: folder });
    const options: StageProcessOptions = { dir: folder, endpoint: engine?.endpoint };
    child = await startChild<Started>(script, [JSON.stringify(options)]);
    return { ...child.first, isKilled: false };
  }

  async function end(): Promise<void> {
    child?.kill();
    await engine?.close();
    await child?.end();
  }

  return {
    /** Resolves when the stage responds. Rejects if it cannot start. */
    run: () => run,
    /** Kills the stage with SIGKILL and restarts it on the same folder. */
    async killAndStart(): Promise<void> {
      const killed = await run;
      killed.isKilled = true;
      run = end().then(start);
      await run;
    },
    end,
  };
}
