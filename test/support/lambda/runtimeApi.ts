import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { json } from 'node:stream/consumers';
import { listen } from '../../../infra/local/engine/loopback.ts';

/** An invocation's event and limit. */
export interface Invocation {
  readonly event: unknown;
  /** When Lambda ends the function, in milliseconds since the epoch. */
  readonly deadline: number;
}

/** What the runtime posted for an invocation. */
export type Posted =
  | { readonly kind: 'response'; readonly value: unknown }
  /** The request's body is the stream, and its trailers come after the body. */
  | { readonly kind: 'stream'; readonly stream: IncomingMessage }
  | { readonly kind: 'error'; readonly error: RuntimeError };

export interface RuntimeError {
  readonly errorType: string;
  readonly errorMessage: string;
}

/**
 * Starts a stand-in for the Runtime API, which gives invocations to one runtime, one at a time:
 * https://docs.aws.amazon.com/lambda/latest/dg/runtimes-api.html
 */
export async function startRuntimeApi() {
  const queue: { id: string; invocation: Invocation; posted: (value: Posted) => void }[] = [];
  const running = new Map<string, (value: Posted) => void>();
  const initErrors: RuntimeError[] = [];
  const ready = Promise.withResolvers<void>();
  let waiting: ServerResponse | undefined;
  let invocations = 0;

  function deliver(): void {
    const next = waiting && queue.shift();
    if (!waiting || !next) return;
    const { id, invocation, posted } = next;
    running.set(id, posted);
    const headers = {
      'Lambda-Runtime-Aws-Request-Id': id,
      'Lambda-Runtime-Deadline-Ms': `${Math.floor(invocation.deadline)}`,
      'Lambda-Runtime-Invoked-Function-Arn': 'arn:aws:lambda:local:000000000000:function:test',
    };
    waiting.writeHead(200, headers).end(JSON.stringify(invocation.event) ?? 'null');
    waiting = undefined;
  }

  async function takePost(incoming: IncomingMessage, outgoing: ServerResponse): Promise<void> {
    const accept = () => void outgoing.writeHead(202).end('{"status":"OK"}');
    const [, id = '', kind] =
      /\/(?:invocation\/([^/]+)|init)\/(\w+)$/.exec(incoming.url ?? '') ?? [];
    if (id === '') {
      initErrors.push((await json(incoming)) as RuntimeError);
      return accept();
    }
    const posted = running.get(id);
    running.delete(id);
    if (kind === 'error') {
      posted?.({ kind, error: (await json(incoming)) as RuntimeError });
    } else if (incoming.headers['lambda-runtime-function-response-mode'] === 'streaming') {
      incoming.once('end', accept);
      return posted?.({ kind: 'stream', stream: incoming });
    } else {
      posted?.({ kind: 'response', value: await json(incoming) });
    }
    accept();
  }

  const server = createServer((incoming, outgoing) => {
    if (incoming.method === 'POST') return void takePost(incoming, outgoing).catch(() => {});
    waiting = outgoing;
    ready.resolve();
    deliver();
  });
  return {
    address: `127.0.0.1:${await listen(server, 0, '')}`,
    /** Settles when INIT is over, so that the runtime waits for an invocation. */
    ready: ready.promise,
    /** How many invocations there were. The last one has this number in its id. */
    invocations: () => invocations,
    /** The errors of INIT that the runtime reported. */
    initErrors,
    invoke(invocation: Invocation): Promise<Posted> {
      return new Promise((posted) => {
        invocations += 1;
        queue.push({ id: `invocation-${invocations}`, invocation, posted });
        deliver();
      });
    },
    close() {
      server.closeAllConnections();
      server.close();
    },
  };
}
