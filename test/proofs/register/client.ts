import { randomUUID } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import type { Draw } from '../../support/testCommand.ts';
import type { Started } from '../stageProcess.ts';
import type { Input, Operation, Outcome, Write } from './checker.ts';

interface ClientOptions {
  /** Resolves when the stage responds. */
  readonly run: () => Promise<Run>;
  readonly histories: Histories;
  readonly draw: Draw;
  /** When the run is over, by `performance.now()`. */
  readonly end: number;
}

/** Entries of `infra/local/sample.json`: few, so that the clients conflict. */
export const petIds = ['1', '2', '3', '4'];

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
export async function runClient({ run, histories, draw, end }: ClientOptions) {
  /** The tag of each entry that this client saw last. */
  const tags = new Map<string, string>();
  const responded: [string, Write][] = [];

  /** @returns nothing if it was never sent */
  async function request(petId: string, input: Input): Promise<Outcome | undefined> {
    const stage = await run();
    const cutAfter = draw() < CUT ? draw() * MAX_MILLISECONDS_BEFORE_CUT : undefined;
    const outcome = await perform(histories, stage, petId, input, cutAfter);
    if (outcome && outcome.kind !== 'unknown') tags.set(petId, outcome.tag);
    return outcome;
  }

  async function performUntilResponse(petId: string, write: Write): Promise<void> {
    for (let attempt = 1; attempt <= MAX_ATTEMPTS; attempt += 1) {
      // Sometimes it is sent twice at once, as an impatient client does.
      const times = draw() < 0.05 ? 2 : 1;
      const sent = Array.from({ length: times }, () => request(petId, write));
      const outcomes = await Promise.all(sent);
      if (outcomes.some((outcome) => outcome?.kind === 'ok')) responded.push([petId, write]);
      if (outcomes.some((outcome) => outcome && outcome.kind !== 'unknown')) return;
      // Before half of the retries, other requests have time to come in between.
      if (draw() < 0.5) await pause(draw() * 300);
    }
  }

  function randomWrite(petId: string): Write {
    const ifMatch = tags.get(petId);
    return {
      kind: 'write',
      quantity: nextQuantity(),
      ...(ifMatch !== undefined && draw() < 0.55 && { ifMatch }),
      ...(draw() < 0.5 && { key: randomUUID() }),
    };
  }

  while (performance.now() < end) {
    const petId = petIds[Math.floor(draw() * petIds.length)] as string;
    const [again] = draw() < 0.07 ? responded.splice(Math.floor(draw() * responded.length), 1) : [];
    if (again) await request(...again);
    else if (draw() < 0.4) await request(petId, { kind: 'read', isListed: draw() < 0.3 });
    else {
      const write = randomWrite(petId);
      if (write.key === undefined) await request(petId, write);
      else await performUntilResponse(petId, write);
    }
    await pause(draw() * 10);
  }
}

let drawn = 1_000;
/** A count unlike any before. */
function nextQuantity(): number {
  drawn += 1;
  return drawn;
}

/** The local stage, from one start to its end. */
export interface Run extends Started {
  isKilled: boolean;
}

/** The operations on each entry. */
export type Histories = ReadonlyMap<string, Operation[]>;

/**
 * Sends a request, never a second time, and records it with its response.
 * @param cutAfter milliseconds after which the client aborts a request without a response
 * @returns nothing if no server listened, so that it was never sent
 * @throws {Error} at a response that no request of ours should get
 */
export async function perform(
  histories: Histories,
  run: Run,
  petId: string,
  input: Input,
  cutAfter?: number,
): Promise<Outcome | undefined> {
  const invoked = performance.now();
  const response = await send(run, petId, input, cutAfter).catch(({ cause }) => {
    return cause?.code === 'ECONNREFUSED' ? 'unsent' : 'lost';
  });
  if (response === 'unsent') return undefined;
  const reason = run.isKilled ? 'killed' : 'client left';
  const outcome: Outcome =
    response === 'lost' ? { kind: 'unknown', reason } : toOutcome(response, input);
  const responded = outcome.kind === 'unknown' ? Number.POSITIVE_INFINITY : performance.now();
  histories.get(petId)?.push({ input, invoked, responded, outcome });
  return outcome;
}

async function send(
  { baseUrl, apiKey }: Run,
  petId: string,
  input: Input,
  cutAfter: number | undefined,
) {
  const isListed = input.kind === 'read' && input.isListed;
  const { ifMatch, key, quantity } = input.kind === 'write' ? input : {};
  const path = isListed ? `?petId=${petId}&include=etag` : `/${petId}`;
  const response = await fetch(`${baseUrl}/inventory${path}`, {
    method: quantity === undefined ? 'GET' : 'PATCH',
    headers: {
      Authorization: `Bearer ${apiKey}`,
      'Content-Type': 'application/json',
      ...(ifMatch !== undefined && { 'If-Match': ifMatch }),
      ...(key !== undefined && { 'Idempotency-Key': key }),
    },
    body: quantity === undefined ? null : JSON.stringify({ quantity }),
    signal: cutAfter === undefined ? null : AbortSignal.timeout(Math.ceil(cutAfter)),
  });
  const tag = response.headers.get('etag') ?? 'none';
  return { status: response.status, tag, body: await response.text() };
}

function toOutcome({ status, tag, body }: Awaited<ReturnType<typeof send>>, input: Input): Outcome {
  if (status >= 500) return { kind: 'unknown', reason: '5xx' };
  if (status === 412) return { kind: 'refused', tag };
  if (status !== 200) throw new Error(`${JSON.stringify(input)} got ${status}: ${body}`);
  const [{ quantity, etag = tag }] = [JSON.parse(body)].flat();
  return { kind: 'ok', quantity, tag: etag };
}
