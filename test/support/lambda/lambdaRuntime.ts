import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { copyFileSync, mkdtempSync, rmSync } from 'node:fs';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { createInterface } from 'node:readline';
import type { Context } from 'aws-lambda';
import { type FetchedPackage, fetchPackage } from '../fetchPackage.ts';
import { type Invocation, type Posted, type RuntimeError, startRuntimeApi } from './runtimeApi.ts';

/** Lambda's own runtime client. The runtime of Node.js 24 is built from it. */
const runtimeClient: FetchedPackage = {
  spec: 'aws-lambda-ric@4.0.2',
  integrity:
    'sha512-FE5Vskx7mYNnqAnWWJXUOsLp2VGgdsJsCoRLFTa8L4Yk0QVtArqR8q58yPA++QC1a73ZWJXBQ2AH31nIAv7NOQ==',
};

export type LambdaRuntime = Awaited<ReturnType<typeof startLambdaRuntime>>;

/**
 * Runs a function's bundle in a process of its own under Lambda's runtime client, with the variables of this process.
 * @param entry the file that Lambda loads
 */
export async function startLambdaRuntime(entry: string, variables: NodeJS.ProcessEnv = {}) {
  const api = await startRuntimeApi();
  const folder = mkdtempSync(join(tmpdir(), 'petstore-runtime-'));
  copyFileSync(join(fetchPackage(runtimeClient), 'index.mjs'), join(folder, 'index.mjs'));
  // In place of the native module, which would have to be compiled.
  copyFileSync(join(import.meta.dirname, 'rapidClient.cjs'), join(folder, 'rapid-client.node.js'));
  const { NODE_OPTIONS: _, ...inherited } = process.env;
  const child = spawn(process.execPath, [join(folder, 'index.mjs')], {
    env: {
      ...inherited,
      AWS_LAMBDA_FUNCTION_NAME: 'test',
      AWS_LAMBDA_FUNCTION_VERSION: '$LATEST',
      AWS_LAMBDA_FUNCTION_MEMORY_SIZE: '512',
      AWS_LAMBDA_LOG_GROUP_NAME: '/aws/lambda/test',
      AWS_LAMBDA_LOG_STREAM_NAME: 'test',
      AWS_LAMBDA_LOG_FORMAT: 'JSON',
      AWS_LAMBDA_RUNTIME_API: api.address,
      LAMBDA_TASK_ROOT: dirname(entry),
      _HANDLER: 'index.handler',
      ...variables,
    },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const lines: string[] = [];
  const strayLines: string[] = [];
  createInterface(child.stdout).on('line', (line) => lines.push(line));
  createInterface(child.stderr).on('line', (line) => strayLines.push(line));
  const exited = once(child, 'exit').then(([status]) => status as number | null);
  const ended = exited.then((status) => {
    throw new Error(`The runtime ended with status ${status}: ${strayLines.join('\n')}`);
  });
  const ready = Promise.race([api.ready, ended]);
  ready.catch(() => {});

  /** The log lines of the invocations after the first so many. */
  const linesAfter = (invocations: number) =>
    lines.filter((line) => Number(/"invocation-(\d+)"/.exec(line)?.[1]) > invocations);

  const invoke = (invocation: Invocation): Promise<Posted> =>
    Promise.race([api.invoke(invocation), ended]);

  return {
    invoke,
    /** Settles when INIT is over. Rejects if the process ends before. */
    ready,
    /** Settles when the process ends, with its status. */
    exited,
    hasEnded: () => child.exitCode !== null,
    /** What it wrote to the standard output: its log. */
    lines,
    linesAfter,
    invocations: api.invocations,
    /** What it wrote to the standard error. */
    strayLines,
    initErrors: api.initErrors,
    /** The function as the local stage's gateway calls it. */
    async handler(...values: readonly unknown[]): Promise<unknown> {
      const [event, context] = [values[0], values.at(-1) as Context];
      const deadline = Date.now() + context.getRemainingTimeInMillis();
      const posted = await invoke({ event, deadline });
      if (posted.kind === 'error') throw toError(posted.error);
      if (posted.kind === 'response') return posted.value;
      return Promise.race([sendStream(posted.stream, values[1] as ServerResponse), ended]);
    },
    async close(): Promise<void> {
      child.kill('SIGKILL');
      await exited;
      api.close();
      rmSync(folder, { recursive: true });
    },
  };
}

function toError({ errorType, errorMessage }: RuntimeError): Error {
  return Object.assign(new Error(errorMessage), { name: errorType });
}

/** The status and headers of a streamed response. */
interface Prelude {
  readonly statusCode?: number;
  readonly headers?: Readonly<Record<string, string>>;
}

const DELIMITER = Buffer.alloc(8);

/** The head of a streamed response, and its body, to read before its trailers. */
export async function openStream(
  stream: IncomingMessage,
): Promise<{ prelude: Prelude; body: AsyncGenerator<Buffer, void, undefined> }> {
  const chunks = stream[Symbol.asyncIterator]() as AsyncIterator<Buffer>;
  let head = Buffer.alloc(0);
  let end = -1;
  while (end < 0) {
    const { value, done } = await chunks.next();
    if (done) break;
    head = Buffer.concat([head, value]);
    end = head.indexOf(DELIMITER);
  }
  async function* readBody(): AsyncGenerator<Buffer, void, undefined> {
    const rest = head.subarray(end + DELIMITER.length);
    if (end >= 0 && rest.length > 0) yield rest;
    for (let next = await chunks.next(); !next.done; next = await chunks.next()) yield next.value;
  }
  return { prelude: end < 0 ? {} : JSON.parse(head.toString('utf8', 0, end)), body: readBody() };
}

/** The error in the trailers of a streamed response that was read to its end, if the function failed. */
export function toStreamError({ trailers }: IncomingMessage): RuntimeError | undefined {
  const body = trailers['lambda-runtime-function-error-body'];
  return body ? JSON.parse(Buffer.from(body, 'base64').toString()) : undefined;
}

/** @throws the function's error, if it failed */
async function sendStream(stream: IncomingMessage, response: ServerResponse): Promise<void> {
  const { prelude, body } = await openStream(stream);
  response.writeHead(prelude.statusCode ?? 200, prelude.headers);
  for await (const chunk of body) {
    // The API reads on after the client has left.
    if (response.destroyed || response.write(chunk)) continue;
    const settled = new AbortController();
    const { signal } = settled;
    await Promise.race([once(response, 'drain', { signal }), once(response, 'close', { signal })]);
    settled.abort();
  }
  const error = toStreamError(stream);
  if (error) throw toError(error);
  response.end();
}
