import { type ServerResponse, validateHeaderName, validateHeaderValue } from 'node:http';
import { Writable } from 'node:stream';

/** What `awslambda.HttpResponseStream.from` is told of a response. */
export interface ResponsePrelude {
  readonly statusCode?: number;
  readonly headers?: Record<string, string>;
}

const preludes = new WeakMap<Writable, ResponsePrelude>();

export function setPrelude(stream: Writable, { statusCode, headers = {} }: ResponsePrelude): void {
  for (const [name, value] of Object.entries(headers)) {
    validateHeaderName(name);
    validateHeaderValue(name, value);
  }
  preludes.set(stream, { ...(statusCode !== undefined && { statusCode }), headers });
}

/**
 * A response as a streaming function writes it. Status and headers leave with the first write; a write
 * is done when the client's connection took it. Destroyed after that, it breaks the connection, so that
 * a client never takes part of a body for the whole.
 */
export function defineResponseStream(response: ServerResponse): Writable {
  function sendHead(): void {
    if (response.headersSent) return;
    const prelude = preludes.get(stream);
    if (!prelude) throw new Error('The function wrote before it gave a status and headers.');
    response.writeHead(prelude.statusCode ?? 200, prelude.headers);
    response.flushHeaders();
  }

  const stream = new Writable({
    decodeStrings: true,
    write(chunk: Buffer, _encoding, done) {
      attempt(done, () => {
        sendHead();
        if (chunk.length === 0) done();
        else response.write(chunk, toDone(done));
      });
    },
    final(done) {
      attempt(done, () => {
        sendHead();
        response.end(toDone(done));
      });
    },
    destroy(error, done) {
      if (response.headersSent && !response.writableEnded) response.destroy();
      done(error);
    },
  });
  // Whoever called the function hears of a failure by its promise.
  stream.on('error', () => {});
  const leave = () => {
    if (!response.writableFinished) stream.destroy(new ClientLeft());
  };
  if (response.closed) leave();
  response.once('close', leave);
  return stream;
}

/** Nobody is there any more to answer. */
export class ClientLeft extends Error {
  override readonly name = 'ClientLeft';

  constructor() {
    super('The client left before the response was whole.');
  }
}

/** A connection is told to be broken by a write sooner than by its close. */
function toDone(done: (error?: Error) => void): (error?: Error | null) => void {
  return (error) => done(error ? new ClientLeft() : undefined);
}

function attempt(done: (error: Error) => void, act: () => void): void {
  try {
    act();
  } catch (error) {
    done(error as Error);
  }
}
