import { Agent, request } from 'node:http';
import { text } from 'node:stream/consumers';
import { setTimeout as pause } from 'node:timers/promises';
import type { Asked, Outcome, Write } from './checker.ts';
import type { Draw } from './draw.ts';
import type { KillableStage, Run } from './killableStage.ts';
import type { Recorder } from './recorder.ts';

export interface ClientOptions {
  readonly stage: KillableStage;
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
export async function runClient({ stage, recorder, draw, ...options }: ClientOptions) {
  const agent = new Agent({ keepAlive: true, maxSockets: 2 });
  /** The tags of each entry that this client knows, the last one first. */
  const tags = new Map<string, readonly string[]>();
  const answered: [string, Write][] = [];
  let keys = 0;

  /** @returns nothing when it was never sent */
  async function perform(petId: string, asked: Asked): Promise<Outcome | undefined> {
    const run = await stage.run();
    const cutAfter = draw() < CUT ? draw() * MAX_MILLISECONDS_BEFORE_CUT : undefined;
    const end = recorder.begin(petId, asked, run);
    const request = { ...toRequest(petId, asked), ...(cutAfter !== undefined && { cutAfter }) };
    const outcome = end(await send(agent, run, request));
    if (outcome && outcome.kind !== 'unknown') {
      tags.set(petId, [outcome.tag, ...(tags.get(petId) ?? [])].slice(0, 2));
    }
    return outcome;
  }

  async function performUntilAnswered(petId: string, write: Write): Promise<void> {
    for (let attempt = 1; attempt <= MAX_ATTEMPTS; attempt += 1) {
      // Once in a while it is sent twice at once, as by a client that does not wait for long.
      const isDouble = draw() < 0.05;
      const outcomes = await Promise.all([
        perform(petId, write),
        ...(isDouble ? [perform(petId, write)] : []),
      ]);
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
  agent.destroy();
}

function toRequest(petId: string, asked: Asked) {
  if (asked.kind === 'read') {
    return { method: 'GET', path: `/inventory?petId=${petId}&include=etag` };
  }
  const { quantity, ifMatch, key } = asked;
  return {
    method: 'PATCH',
    path: `/inventory/${petId}`,
    headers: {
      'Content-Type': 'application/json',
      ...(ifMatch && { 'If-Match': ifMatch.join(', ') }),
      ...(key !== undefined && { 'Idempotency-Key': key }),
    },
    body: JSON.stringify({ quantity }),
  };
}

interface Request {
  readonly method: string;
  /** Below the base address. */
  readonly path: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
  /** After how many milliseconds the client breaks the connection, if it has no answer yet. */
  readonly cutAfter?: number;
}

export type Answer =
  | {
      readonly kind: 'answer';
      readonly status: number;
      readonly tag: string | undefined;
      readonly body: string;
    }
  /** The connection broke, and nobody knows what became of the request. */
  | { readonly kind: 'lost' }
  /** Nobody listens: it was never sent. */
  | { readonly kind: 'unsent' };

/** One request on a client's own connection, never sent a second time. */
export async function send(agent: Agent, run: Run, asked: Request): Promise<Answer> {
  const { method, path, headers = {}, body, cutAfter } = asked;
  const outgoing = request(`${run.baseUrl}${path}`, {
    agent,
    method,
    headers: { Authorization: `Bearer ${run.apiKey}`, ...headers },
  });
  const cut = cutAfter === undefined ? undefined : setTimeout(() => outgoing.destroy(), cutAfter);
  try {
    const answered = Promise.withResolvers<Answer>();
    outgoing.once('error', answered.reject);
    outgoing.once('response', (response) => {
      const { statusCode: status = 0, headers } = response;
      answered.resolve(
        text(response).then((body) => ({ kind: 'answer', status, tag: headers.etag, body })),
      );
    });
    outgoing.end(body);
    return await answered.promise;
  } catch (error) {
    const isUnsent = (error as NodeJS.ErrnoException).code === 'ECONNREFUSED';
    return { kind: isUnsent ? 'unsent' : 'lost' };
  } finally {
    clearTimeout(cut);
  }
}
