import { AsyncLocalStorage } from 'node:async_hooks';
import type { ServerResponse } from 'node:http';
import { Writable } from 'node:stream';
import { format } from 'node:util';
import type { Context } from 'aws-lambda';
import { type TableDefinition, tables } from '../../stages/tables.ts';

// What Lambda's Node.js runtime gives a function: variables, globals, a console, a context and a stream to answer with.

/** Settings of the SDK that would lead the functions away from the engine, or to other credentials. */
const misleading = [
  'AWS_IGNORE_CONFIGURED_ENDPOINT_URLS',
  'AWS_PROFILE',
  'AWS_SESSION_TOKEN',
  'AWS_USE_DUALSTACK_ENDPOINT',
  'AWS_USE_FIPS_ENDPOINT',
];

/** Sets in this process what Lambda sets for a function. It must precede the import of the functions. */
export function setFunctionEnvironment(endpoint: string, documentationAddress: string): void {
  for (const name of misleading) delete process.env[name];
  Object.assign(process.env, {
    AWS_ENDPOINT_URL_DYNAMODB: endpoint,
    AWS_REGION: 'local',
    AWS_ACCESS_KEY_ID: 'local',
    AWS_SECRET_ACCESS_KEY: 'local',
    ALLOWED_ORIGINS: '*',
    DOCUMENTATION_ADDRESS: documentationAddress,
  });
  for (const [name, { variable }] of Object.entries<TableDefinition>(tables)) {
    process.env[variable] = name;
  }
}

/**
 * Defines the global that Lambda's Node.js runtime has, with what streaming functions use of it:
 * https://docs.aws.amazon.com/lambda/latest/dg/config-rs-write-functions.html
 * Functions look for it when they are imported.
 */
export function defineAwslambda(): void {
  Object.assign(globalThis, {
    awslambda: {
      streamifyResponse: (handler: unknown) => handler,
      HttpResponseStream: {
        from(stream: Writable, prelude: ResponsePrelude): Writable {
          preludes.set(stream, prelude);
          return stream;
        },
      },
    },
  });
}

/** What `awslambda.HttpResponseStream.from` is given for a response. */
interface ResponsePrelude {
  readonly statusCode?: number;
  readonly headers?: Record<string, string>;
}

const preludes = new WeakMap<Writable, ResponsePrelude>();

/** Has what an invocation logs carry its id. */
export const requestIds = new AsyncLocalStorage<string>();

/**
 * Makes `console` write as Lambda's JSON log format does, to standard error:
 * https://docs.aws.amazon.com/lambda/latest/dg/nodejs-logging.html
 */
export function useLambdaConsole(): void {
  const levels = { info: 'INFO', log: 'INFO', warn: 'WARN', error: 'ERROR' } as const;
  const writeBigInt = (_: string, value: unknown) =>
    typeof value === 'bigint' ? value.toString() : value;
  for (const [method, level] of Object.entries(levels)) {
    console[method as keyof typeof levels] = (...values: unknown[]) => {
      const [first, ...rest] = values;
      // One plain object stays an object; anything else becomes text.
      const isPlain = typeof first === 'object' && !(first instanceof Error) && rest.length === 0;
      const message = isPlain ? first : format(...values);
      const timestamp = new Date().toISOString();
      const line = { timestamp, level, requestId: requestIds.getStore(), message };
      process.stderr.write(`${JSON.stringify(line, writeBigInt)}\n`);
    };
  }
}

/** What Lambda tells a function of its invocation. */
export function toLambdaContext(
  functionName: string,
  awsRequestId: string,
  timeoutMilliseconds: number,
): Context {
  const deadline = Date.now() + timeoutMilliseconds;
  return {
    awsRequestId,
    functionName,
    functionVersion: '$LATEST',
    getRemainingTimeInMillis: () => Math.max(0, deadline - Date.now()),
  } as Context;
}

/**
 * A response as a streaming function writes it. Status and headers leave with the first write; a write
 * is done when the client's connection took it. Destroyed after that, it breaks the connection, so that
 * a client never takes part of a body for the whole.
 */
export function defineResponseStream(response: ServerResponse): Writable {
  /** Sends status and headers before anything else, and tells the stream where that or `act` fails. */
  function send(done: (error: Error) => void, act: () => void): void {
    try {
      const prelude = preludes.get(stream);
      if (!prelude) throw new Error('The function wrote before it gave a status and headers.');
      if (!response.headersSent) {
        response.writeHead(prelude.statusCode ?? 200, prelude.headers);
        response.flushHeaders();
      }
      act();
    } catch (error) {
      done(error as Error);
    }
  }

  const stream = new Writable({
    write(chunk: Buffer, _encoding, done) {
      send(done, () => (chunk.length === 0 ? done() : response.write(chunk, toDone(done))));
    },
    final(done) {
      send(done, () => response.end(toDone(done)));
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
}

/** A connection is told to be broken by a write sooner than by its close. */
function toDone(done: (error?: Error) => void): (error?: Error | null) => void {
  return (error) => done(error ? new ClientLeft() : undefined);
}
