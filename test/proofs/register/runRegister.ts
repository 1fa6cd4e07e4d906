import { randomUUID } from 'node:crypto';
import { setTimeout } from 'node:timers/promises';
import type { Engine, StartEngine } from '../../../infra/local/engine/engine.ts';
import { type ChildProcess, startChild } from '../../bench/childProcess.ts';
import { startDynoxide } from '../../engines/engineProcess.ts';
import type { Entry, Operation } from './checker.ts';
import { runClient } from './client.ts';
import { type Draw, defineDraw } from './draw.ts';
import { defineRecorder, type Run, toEntry } from './recorder.ts';

export interface RegisterOptions {
  readonly clients: number;
  /** For how long the clients are at work. */
  readonly seconds: number;
  readonly seed: number;
  readonly engine: 'dynalite' | 'dynoxide';
}

/** Few, so that the clients meet. */
const ENTRIES = 4;
/** Milliseconds for which the stage lives. */
const [MIN_LIFE, MAX_LIFE] = [3_000, 10_000];

/**
 * Lets clients work on a few entries while the stage is killed again and again.
 * @param folder where the stage keeps its data
 * @param onKill is told how often the stage was killed
 * @returns what the clients saw; the last operation on an entry reads it, when all others are over
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
    // A name of this run's own, since the service remembers keys.
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
async function readFirst({ baseUrl, apiKey }: Run): Promise<Map<string, Entry>> {
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
 * The local stage on a folder, as a process of its own that dies and comes back.
 * @param startEngine starts an engine in a process of its own, which is killed with the stage; by default it is part of it
 */
function startKillableStage(folder: string, startEngine?: StartEngine) {
  const script = new URL('stageProcess.ts', import.meta.url).pathname;
  let child: ChildProcess<Run> | undefined;
  let engine: Engine | undefined;
  let run = start();

  async function start(): Promise<Run> {
    engine = await startEngine?.({ dir: folder });
    child = await startChild<Run>(script, engine ? [folder, engine.endpoint] : [folder]);
    return child.first;
  }

  async function end(): Promise<void> {
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
      run = end().then(start);
      await run;
    },
    end,
  };
}
