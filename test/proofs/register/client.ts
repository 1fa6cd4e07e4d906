import { setTimeout as pause } from 'node:timers/promises';
import type { Asked, Outcome, Write } from './checker.ts';
import type { Draw } from './draw.ts';
import type { Recorder, Run } from './recorder.ts';

export interface ClientOptions {
  /** Resolves when the stage responds. */
  readonly run: () => Promise<Run>;
  readonly recorder: Recorder;
  readonly petIds: readonly string[];
  readonly draw: Draw;
  /** Part of the client's keys. */
  readonly name: string;
  /** Draws a count that no other update of the run has. */
  readonly drawQuantity: () => number;
  readonly isOver: () => boolean;
}

/** The share of requests that the client aborts before their response. */
const CUT = 0.06;
/** The longest time before an abort: about as long as a request takes. */
const MAX_MILLISECONDS_BEFORE_CUT = 25;
/** The most times that a request with a key is sent without a response. */
const MAX_ATTEMPTS = 6;

/**
 * Reads and updates entries until the run is over, with and without `If-Match` and `Idempotency-Key`. Requests
 * with a key are retried until they have a response, and sometimes sent again after it.
 */
export async function runClient({ recorder, draw, ...options }: ClientOptions) {
  /** The tags of each entry that this client has seen, the last one first. */
  const tags = new Map<string, readonly string[]>();
  const responded: [string, Write][] = [];
  let keys = 0;

  /** @returns nothing if it was never sent */
  async function perform(petId: string, asked: Asked): Promise<Outcome | undefined> {
    const run = await options.run();
    const cutAfter = draw() < CUT ? draw() * MAX_MILLISECONDS_BEFORE_CUT : undefined;
    const outcome = await recorder.perform(run, petId, asked, cutAfter);
    if (outcome && outcome.kind !== 'unknown') {
      tags.set(petId, [outcome.tag, ...(tags.get(petId) ?? [])].slice(0, 2));
    }
    return outcome;
  }

  async function performUntilResponse(petId: string, write: Write): Promise<void> {
    for (let attempt = 1; attempt <= MAX_ATTEMPTS; attempt += 1) {
      // Sometimes it is sent twice at once, as an impatient client does.
      const times = draw() < 0.05 ? 2 : 1;
      const sent = Array.from({ length: times }, () => perform(petId, write));
      const outcomes = await Promise.all(sent);
      if (outcomes.some((outcome) => outcome?.kind === 'ok')) responded.push([petId, write]);
      if (outcomes.some((outcome) => outcome && outcome.kind !== 'unknown')) return;
      // Before half of the retries, other requests have time to come in between.
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
    const [again] = draw() < 0.07 ? responded.splice(Math.floor(draw() * responded.length), 1) : [];
    if (again) await perform(...again);
    else if (draw() < 0.4) await perform(petId, { kind: 'read', isListed: draw() < 0.3 });
    else {
      const write = drawWrite(petId);
      if (write.key === undefined) await perform(petId, write);
      else await performUntilResponse(petId, write);
    }
    await pause(draw() * 10);
  }
}
