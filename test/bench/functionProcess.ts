import { createRequire } from 'node:module';
import { Writable } from 'node:stream';
import { finished } from 'node:stream/promises';
import { pathToFileURL } from 'node:url';
import type { APIGatewayProxyEvent, APIGatewayProxyResult, Context } from 'aws-lambda';
import { toLambdaContext } from '../../infra/local/lambda/lambdaRuntime.ts';

/** Calls the function so many times, one after the other. */
export interface RunRequest {
  readonly event: APIGatewayProxyEvent;
  readonly times: number;
}

export interface RunResult extends Answer {
  readonly milliseconds: number;
  /** Of all threads of this process. */
  readonly cpuMilliseconds: number;
  /** The most memory (resident set) that the process ever had, in bytes. */
  readonly peakMemory: number;
}

/** Sent once the function is loaded. */
export interface Loaded {
  /** The memory (resident set) then, in bytes. */
  readonly idleMemory: number;
  /** What loading it took, with all that it waited for. */
  readonly milliseconds: number;
  /** Of all threads of this process. */
  readonly cpuMilliseconds: number;
}

const streamed = new WeakSet<object>();
const preludes = new WeakMap<Writable, Prelude>();

const [bundle = ''] = process.argv.slice(2);
defineLambdaRuntime();
// Lambda's runtime is an ES module itself, so the loader of both kinds is up before a function is.
const require = createRequire(bundle);
await import('node:module');
const toLoadTime = startClock();
const { handler } = (
  bundle.endsWith('.mjs') ? await import(pathToFileURL(bundle).href) : require(bundle)
) as { handler: LambdaHandler };
const loadTime = toLoadTime();

process.on('message', async (request: RunRequest) => {
  try {
    process.send?.(await run(request));
  } catch (error) {
    process.send?.({ failure: String(error) });
  }
});
process.on('disconnect', () => process.exit());
process.send?.({ idleMemory: process.memoryUsage.rss(), ...loadTime } satisfies Loaded);

async function run({ event, times }: RunRequest): Promise<RunResult> {
  // A handler may change its event.
  const events = Array.from({ length: times }, () => structuredClone(event));
  const toTime = startClock();
  let answer: Answer = { status: 0, encoding: 'identity', bytes: 0 };
  for (const one of events) {
    answer = await invoke(handler, one);
    if (answer.status !== 200) throw new Error(`The function answered ${answer.status}.`);
  }
  return { ...answer, ...toTime(), peakMemory: readPeakMemory() };
}

/** @returns what tells the time since, and the CPU of all threads of this process */
function startClock(): () => { milliseconds: number; cpuMilliseconds: number } {
  const cpu = process.cpuUsage();
  const started = performance.now();
  return () => {
    const milliseconds = performance.now() - started;
    const { user, system } = process.cpuUsage(cpu);
    return { milliseconds, cpuMilliseconds: (user + system) / 1_000 };
  };
}

/**
 * Linux's own mark. `process.resourceUsage().maxRSS` would not do: a process inherits it from the one
 * that started it (https://man7.org/linux/man-pages/man2/getrusage.2.html).
 */
function readPeakMemory(): number {
  const { readFileSync } = process.getBuiltinModule('node:fs');
  const [, kilobytes] =
    /^VmHWM:\s+(\d+) kB$/m.exec(readFileSync('/proc/self/status', 'utf8')) ?? [];
  return Number(kilobytes) * 1_024;
}

/** Streamed or buffered; `isStreamed` tells which. */
type LambdaHandler = (event: APIGatewayProxyEvent, ...rest: unknown[]) => Promise<unknown>;

interface Answer {
  readonly status: number;
  /** The body's Content-Encoding, or `identity`. */
  readonly encoding: string;
  /** The body's length as it is sent. */
  readonly bytes: number;
}

/** Calls a function as Lambda does, and drops the bytes that it answers. */
async function invoke(handler: LambdaHandler, event: APIGatewayProxyEvent): Promise<Answer> {
  const context = toLambdaContext('bench', event.requestContext.requestId, 120_000);
  return isStreamed(handler)
    ? invokeStreamed(handler, event, context)
    : invokeBuffered(handler, event, context);
}

/** Takes each chunk in a turn of the event loop of its own, so that a fast writer has to wait. */
async function invokeStreamed(
  handler: LambdaHandler,
  event: APIGatewayProxyEvent,
  context: Context,
): Promise<Answer> {
  let bytes = 0;
  const stream = new Writable({
    write(chunk: Buffer, _encoding, done) {
      bytes += chunk.length;
      setImmediate(done);
    },
  });
  const end = finished(stream);
  await Promise.all([handler(event, stream, context), end]);
  const { statusCode = 200, headers = {} } = readPrelude(stream);
  return { status: statusCode, encoding: toEncoding(headers), bytes };
}

/** The runtime hands over a buffered answer as one JSON text, the body quoted once more within. */
async function invokeBuffered(
  handler: LambdaHandler,
  event: APIGatewayProxyEvent,
  context: Context,
): Promise<Answer> {
  const result = (await handler(event, context)) as APIGatewayProxyResult;
  Buffer.from(JSON.stringify(result));
  const { statusCode, headers = {}, body, isBase64Encoded } = result;
  const bytes = Buffer.byteLength(body, isBase64Encoded ? 'base64' : 'utf8');
  return { status: statusCode, encoding: toEncoding(headers as Record<string, string>), bytes };
}

function toEncoding(headers: Record<string, string>): string {
  const [, encoding] =
    Object.entries(headers).find(([name]) => name.toLowerCase() === 'content-encoding') ?? [];
  return encoding ?? 'identity';
}

/** The status and headers of a streamed response. */
interface Prelude {
  readonly statusCode?: number;
  readonly headers?: Record<string, string>;
}

/**
 * What functions find of Lambda's runtime: `awslambda`, and a console that writes each line as JSON,
 * here to nowhere. As that runtime does, it imports no `node:fs`, since an ES module's import would load
 * `fs.promises`, and all of readline with it, before a function could.
 * https://github.com/aws/aws-lambda-nodejs-runtime-interface-client/blob/main/src/utils/cjs-require.ts
 */
function defineLambdaRuntime(): void {
  Object.assign(globalThis, {
    awslambda: {
      streamifyResponse(handler: object) {
        streamed.add(handler);
        return handler;
      },
      HttpResponseStream: {
        from(stream: Writable, prelude: Prelude) {
          preludes.set(stream, prelude);
          return stream;
        },
      },
    },
  });
  const { openSync, writeSync } = process.getBuiltinModule('node:fs');
  const sink = openSync('/dev/null', 'w');
  const writeLine = (message: unknown) => {
    writeSync(sink, `${JSON.stringify({ timestamp: new Date().toISOString(), message })}\n`);
  };
  for (const method of ['info', 'log', 'warn'] as const) console[method] = writeLine;
}

/** Whether the function streams its response. */
function isStreamed(handler: object): boolean {
  return streamed.has(handler);
}

function readPrelude(stream: Writable): Prelude {
  return preludes.get(stream) ?? {};
}
