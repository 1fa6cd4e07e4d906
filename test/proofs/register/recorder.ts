import type { Asked, Entry, Operation, Outcome } from './checker.ts';

/** The local stage, from one start to its end. */
export interface Run {
  readonly baseUrl: string;
  readonly apiKey: string;
  isKilled: boolean;
}

export type Recorder = ReturnType<typeof defineRecorder>;

/** Sends the clients' requests, and records requests and responses in their order in this process. */
export function defineRecorder() {
  /** The operations on each entry. */
  const histories = new Map<string, Operation[]>();
  let clock = 0;
  const figures = {
    operations: 0,
    'returned 200': 0,
    'returned 412': 0,
    'unknown, since the stage was killed': 0,
    'unknown, since the client left': 0,
    'unknown, since the response was a 5xx': 0,
    'longest response, ms': 0,
  };

  return {
    figures,
    histories,
    /**
     * Sends a request, and never a second time.
     * @param cutAfter milliseconds after which the client aborts a request without a response
     * @returns nothing if no server listened, so that it was never sent
     * @throws {Error} at a response that no request of ours should get
     */
    async perform(
      run: Run,
      petId: string,
      asked: Asked,
      cutAfter?: number,
    ): Promise<Outcome | undefined> {
      clock += 1;
      const invoked = clock;
      const sentAt = performance.now();
      const response = await send(run, petId, asked, cutAfter).catch(({ cause }) => {
        return cause?.code === 'ECONNREFUSED' ? 'unsent' : 'lost';
      });
      clock += 1;
      if (response === 'unsent') return undefined;
      const outcome: Outcome =
        response === 'lost' ? { kind: 'unknown' } : toOutcome(response, asked);
      const responded = outcome.kind === 'unknown' ? Number.POSITIVE_INFINITY : clock;
      const history = histories.get(petId) ?? [];
      histories.set(petId, history);
      history.push({ asked, invoked, responded, outcome });
      figures.operations += 1;
      if (outcome.kind === 'unknown') {
        const reason = run.isKilled ? 'stage was killed' : 'client left';
        figures[`unknown, since the ${response === 'lost' ? reason : 'response was a 5xx'}`] += 1;
        return outcome;
      }
      figures[outcome.kind === 'ok' ? 'returned 200' : 'returned 412'] += 1;
      const milliseconds = performance.now() - sentAt;
      figures['longest response, ms'] = Math.max(figures['longest response, ms'], milliseconds);
      return outcome;
    },
  };
}

async function send(
  { baseUrl, apiKey }: Run,
  petId: string,
  asked: Asked,
  cutAfter: number | undefined,
) {
  const signal = cutAfter === undefined ? null : AbortSignal.timeout(Math.ceil(cutAfter));
  const headers = { Authorization: `Bearer ${apiKey}`, 'Content-Type': 'application/json' };
  const response =
    asked.kind === 'read'
      ? await fetch(
          `${baseUrl}/inventory${asked.isListed ? `?petId=${petId}&include=etag` : `/${petId}`}`,
          { headers, signal },
        )
      : await fetch(`${baseUrl}/inventory/${petId}`, {
          method: 'PATCH',
          headers: {
            ...headers,
            ...(asked.ifMatch && { 'If-Match': asked.ifMatch.join(', ') }),
            ...(asked.key !== undefined && { 'Idempotency-Key': asked.key }),
          },
          body: JSON.stringify({ quantity: asked.quantity }),
          signal,
        });
  const tag = response.headers.get('etag') ?? 'none';
  return { status: response.status, tag, body: await response.text() };
}

function toOutcome({ status, tag, body }: Awaited<ReturnType<typeof send>>, asked: Asked): Outcome {
  if (status >= 500) return { kind: 'unknown' };
  if (status === 412) return { kind: 'refused', tag };
  if (status !== 200) throw new Error(`${JSON.stringify(asked)} got ${status}: ${body}`);
  const isListed = asked.kind === 'read' && asked.isListed;
  const entry = isListed ? toEntry(body) : { ...toEntry(`[${body}]`), tag };
  return { kind: 'ok', ...entry };
}

/** The one entry of a list with tags. */
export function toEntry(body: string): Entry {
  const [{ quantity, etag }] = JSON.parse(body);
  return { quantity, tag: etag };
}
