import { createRequire } from 'node:module';
import { Writable } from 'node:stream';
import { finished } from 'node:stream/promises';
import { pathToFileURL } from 'node:url';
import type { APIGatewayProxyEvent, APIGatewayProxyResult } from 'aws-lambda';
import {
  buildLambdaContext,
  defineAwslambda,
  setFunctionEnvironment,
} from '../../infra/local/lambdaRuntime.ts';

interface RunRequest {
  readonly event: APIGatewayProxyEvent;
  readonly times: number;
  /** Whether the result has the body of the last response, which takes time. */
  readonly keepsBody?: boolean;
}

export interface RunResult {
  /** The CPU of all threads of this process. */
  readonly cpuMilliseconds: number;
  readonly bytes: number;
  readonly body: string;
  readonly peakMemory: number;
}

export interface Loaded {
  readonly cpuMilliseconds: number;
  readonly idleMemory: number;
}

type LambdaHandler = (event: APIGatewayProxyEvent, ...rest: unknown[]) => Promise<unknown>;

const streamed = new WeakSet<object>();

const [bundle = '', endpoint = ''] = process.argv.slice(2);
defineLambdaRuntime();
// Lambda's runtime is an ES module itself, so both loaders are ready before a function loads.
const require = createRequire(bundle);
await import('node:module');
const started = process.cpuUsage();
const { handler } = (
  bundle.endsWith('.mjs') ? await import(pathToFileURL(bundle).href) : require(bundle)
) as { handler: LambdaHandler };
const loaded = { cpuMilliseconds: toMilliseconds(started), idleMemory: process.memoryUsage.rss() };

process.on('message', async (request: RunRequest) => {
  try {
    process.send?.(await run(request));
  } catch (error) {
    process.send?.({ failure: String(error) });
  }
});
process.on('disconnect', () => process.exit());
process.send?.(loaded satisfies Loaded);

async function run({ event, times, keepsBody = false }: RunRequest): Promise<RunResult> {
  // A handler may change its event.
  const events = Array.from({ length: times }, () => structuredClone(event));
  const started = process.cpuUsage();
  let last = { bytes: 0, body: '' };
  for (const one of events) {
    const { status, ...response } = await invoke(one, keepsBody);
    if (status !== 200) throw new Error(`The function returned ${status}.`);
    last = response;
  }
  return { ...last, cpuMilliseconds: toMilliseconds(started), peakMemory: readPeakMemory() };
}

function toMilliseconds(since: NodeJS.CpuUsage): number {
  const { user, system } = process.cpuUsage(since);
  return (user + system) / 1_000;
}

/**
 * Linux's own peak figure. `process.resourceUsage().maxRSS` would be wrong: a process inherits it from its
 * parent (https://man7.org/linux/man-pages/man2/getrusage.2.html).
 */
function readPeakMemory(): number {
  const { readFileSync } = process.getBuiltinModule('node:fs');
  const [, kilobytes] =
    /^VmHWM:\s+(\d+) kB$/m.exec(readFileSync('/proc/self/status', 'utf8')) ?? [];
  return Number(kilobytes) * 1_024;
}

/** Calls the function as Lambda does. */
async function invoke(event: APIGatewayProxyEvent, keepsBody: boolean) {
  const context = buildLambdaContext('bench', event.requestContext.requestId, 120_000);
  if (!streamed.has(handler)) {
    const result = (await handler(event, context)) as APIGatewayProxyResult;
    // The runtime passes on a buffered response as one JSON text, in which the body is quoted once more.
    Buffer.from(JSON.stringify(result));
    const { statusCode, body, isBase64Encoded } = result;
    return {
      status: statusCode,
      bytes: Buffer.byteLength(body, isBase64Encoded ? 'base64' : 'utf8'),
      body: keepsBody ? body : '',
    };
  }
  let bytes = 0;
  let body = '';
  let status = 0;
  const writeHead = (code: number) => {
    status = code;
  };
  // Takes each chunk in its own turn of the event loop, so that a fast writer has to wait.
  const stream = new Writable({
    write(chunk: Buffer, _encoding, done) {
      bytes += chunk.length;
      if (keepsBody) body += chunk;
      setImmediate(done);
    },
  });
  const response = Object.assign(stream, { writeHead });
  await Promise.all([handler(event, response, context), finished(stream)]);
  return { status, bytes, body };
}

/**
 * What functions use of Lambda's runtime: variables, `awslambda`, and a console that writes each line as JSON, here
 * to nowhere. Like that runtime, it imports no `node:fs`: an ES module's import would load `fs.promises` and all of
 * readline before a function does.
 * https://github.com/aws/aws-lambda-nodejs-runtime-interface-client/blob/main/src/utils/cjs-require.ts
 */
function defineLambdaRuntime(): void {
  setFunctionEnvironment(endpoint, 'https://docs.petstore.example');
  // The SDK reads these too.
  Object.assign(process.env, {
    AWS_REGION: 'us-east-1',
    AWS_SESSION_TOKEN: 'bench',
    AWS_EXECUTION_ENV: 'AWS_Lambda_nodejs24.x',
    AWS_LAMBDA_FUNCTION_NAME: 'bench',
  });
  defineAwslambda();
  Object.assign(awslambda, {
    streamifyResponse(streaming: object) {
      streamed.add(streaming);
      return streaming;
    },
  });
  const { openSync, writeSync } = process.getBuiltinModule('node:fs');
  const sink = openSync('/dev/null', 'w');
  const writeLine = (message: unknown) => {
    writeSync(sink, `${JSON.stringify({ timestamp: new Date().toISOString(), message })}\n`);
  };
  for (const method of ['info', 'log', 'warn'] as const) console[method] = writeLine;
}
