import { randomUUID } from 'node:crypto';
import { setTimeout } from 'node:timers/promises';
import { startDynoxide } from '../../engines/engineProcess.ts';
import type { Entry, Operation } from './checker.ts';
import { runClient } from './client.ts';
import { type Draw, defineDraw, toSeed } from './draw.ts';
import { type KillableStage, startKillableStage } from './killableStage.ts';
import { defineRecorder, toEntry } from './recorder.ts';

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
    const firsts = await readFirst(stage);
    const petIds = [...firsts.keys()];
    const recorder = defineRecorder();
    const end = performance.now() + seconds * 1_000;
    const failure = new AbortController();
    const isOver = () => failure.signal.aborted || performance.now() >= end;
    // A name of this run's own, since the service remembers keys.
    const name = randomUUID();
    let quantity = 1_000;
    const drawQuantity = () => {
      quantity += 1;
      return quantity;
    };
    const work = Array.from({ length: clients }, (_, index) => {
      const draw = defineDraw(toSeed(seed, index));
      const options = { stage, recorder, petIds, draw, drawQuantity, isOver };
      return runClient({ ...options, name: `${name}-${index}` });
    });
    const killing = killAgainAndAgain(stage, defineDraw(seed), end, failure.signal, onKill);
    const all = [...work, killing];
    for (const one of all) one.catch((error) => failure.abort(error));
    await Promise.allSettled(all);
    failure.signal.throwIfAborted();
    const run = await stage.run();
    for (const petId of petIds) {
      const last = await recorder.perform(run, petId, { kind: 'read' });
      if (last?.kind !== 'ok') throw new Error(`Entry ${petId} could not be read at the end.`);
    }
    return {
      entries: [...firsts].map(([petId, first]) => {
        const history: readonly Operation[] = recorder.histories.get(petId) ?? [];
        return { petId, first, history };
      }),
      figures: recorder.figures,
      kills: await killing,
    };
  } finally {
    await stage.end();
  }
}

async function killAgainAndAgain(
  stage: KillableStage,
  draw: Draw,
  end: number,
  failure: AbortSignal,
  onKill: (kills: number) => void,
): Promise<number> {
  for (let kills = 0; ; kills += 1) {
    await stage.run();
    const life = MIN_LIFE + draw() * (MAX_LIFE - MIN_LIFE);
    if (performance.now() + life >= end) return kills;
    await setTimeout(life, undefined, { signal: failure });
    await stage.killAndStart();
    onKill(kills + 1);
  }
}

/** The first entries of the inventory. */
async function readFirst(stage: KillableStage): Promise<Map<string, Entry>> {
  const { baseUrl, apiKey } = await stage.run();
  const response = await fetch(`${baseUrl}/inventory?limit=${ENTRIES}&include=etag`, {
    headers: { Authorization: `Bearer ${apiKey}` },
  });
  const list = (await response.json()) as { petId: number }[];
  return new Map(list.map((entry) => [String(entry.petId), toEntry(JSON.stringify([entry]))]));
}
