import { setTimeout as pause } from 'node:timers/promises';
import type { Asked, Outcome, Write } from './checker.ts';
import type { Draw } from './draw.ts';
import type { Recorder, Run } from './recorder.ts';

export interface ClientOptions {
  /** The stage, as soon as it answers. */
  readonly run: () => Promise<Run>;
  readonly recorder: Recorder;
  readonly petIds: readonly string[];
  readonly draw: Draw;
  /** Names the client in its keys. */
  readonly name: string;
  /** A count that no other update of the run asks for. */
  readonly drawQuantity: () => number;
  readonly isOver: () => boolean;
}

/** Of the requests, those that break off before their answer. */
const CUT = 0.06;
/** Milliseconds after which they do, at most: about as long as a request takes. */
const MAX_MILLISECONDS_BEFORE_CUT = 25;
/** How often a request with a key is sent at most, until it has an answer. */
const MAX_ATTEMPTS = 6;

/**
 * Reads and updates entries until it is over: with `If-Match` and without, with an `Idempotency-Key` and
 * without. What has a key is sent again until it is answered, now and then also after that.
 */
export async function runClient({ recorder, draw, ...options }: ClientOptions) {
  /** The tags of each entry that this client knows, the last one first. */
  const tags = new Map<string, readonly string[]>();
  const answered: [string, Write][] = [];
  let keys = 0;

  /** @returns nothing when it was never sent */
  async function perform(petId: string, asked: Asked): Promise<Outcome | undefined> {
    const run = await options.run();
    const cutAfter = draw() < CUT ? draw() * MAX_MILLISECONDS_BEFORE_CUT : undefined;
    const outcome = await recorder.perform(run, petId, asked, cutAfter);
    if (outcome && outcome.kind !== 'unknown') {
      tags.set(petId, [outcome.tag, ...(tags.get(petId) ?? [])].slice(0, 2));
    }
    return outcome;
  }

  async function performUntilAnswered(petId: string, write: Write): Promise<void> {
    for (let attempt = 1; attempt <= MAX_ATTEMPTS; attempt += 1) {
      // Once in a while it is sent twice at once, as by a client that does not wait for long.
      const times = draw() < 0.05 ? 2 : 1;
      const sent = Array.from({ length: times }, () => perform(petId, write));
      const outcomes = await Promise.all(sent);
      if (outcomes.some((outcome) => outcome?.kind === 'ok')) answered.push([petId, write]);
      if (outcomes.some((outcome) => outcome && outcome.kind !== 'unknown')) return;
      // Half of the repetitions give others the time to come in between.
      if (draw() < 0.5) await pause(draw() * 300);
    }
  }

  function drawWrite(petId: string): Write {
    const known = tags.get(petId) ?? [];
    const ifMatch = draw() < 0.2 ? known : known.slice(0, 1);
    const hasCondition = known.length > 0 && draw() < 0.55;
    keys += 1;
    return {
      kind: 'write',
      quantity: options.drawQuantity(),
      ...(hasCondition && { ifMatch }),
      ...(draw() < 0.5 && { key: `${options.name}-${keys}` }),
    };
  }

  while (!options.isOver()) {
    const petId = options.petIds[Math.floor(draw() * options.petIds.length)] as string;
    const [again] = draw() < 0.07 ? answered.splice(Math.floor(draw() * answered.length), 1) : [];
    if (again) await perform(...again);
    else if (draw() < 0.4) await perform(petId, { kind: 'read' });
    else {
      const write = drawWrite(petId);
      if (write.key === undefined) await perform(petId, write);
      else await performUntilAnswered(petId, write);
    }
    await pause(draw() * 10);
  }
}
