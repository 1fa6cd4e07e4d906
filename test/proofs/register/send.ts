import { type Agent, request } from 'node:http';
import { text } from 'node:stream/consumers';
import type { Run } from './killableStage.ts';

export interface Request {
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
