import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { pathToFileURL } from 'node:url';
import type { APIGatewayProxyEvent } from 'aws-lambda';
import { type Answer, invoke, type LambdaHandler } from './invoke.ts';
import { defineLambdaRuntime } from './lambdaRuntime.ts';

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

/** Sent once the function is loaded: the memory (resident set) then, in bytes. */
export interface Loaded {
  readonly idleMemory: number;
}

const [bundle = ''] = process.argv.slice(2);
defineLambdaRuntime();
const { handler } = (
  bundle.endsWith('.mjs') ? await import(pathToFileURL(bundle).href) : createRequire(bundle)(bundle)
) as { handler: LambdaHandler };

process.on('message', async (request: RunRequest) => {
  try {
    process.send?.(await run(request));
  } catch (error) {
    process.send?.({ failure: String(error) });
  }
});
process.on('disconnect', () => process.exit());
process.send?.({ idleMemory: process.memoryUsage.rss() } satisfies Loaded);

async function run({ event, times }: RunRequest): Promise<RunResult> {
  // A handler may change its event.
  const events = Array.from({ length: times }, () => structuredClone(event));
  const cpu = process.cpuUsage();
  const started = performance.now();
  let answer: Answer = { status: 0, encoding: 'identity', bytes: 0 };
  for (const one of events) {
    answer = await invoke(handler, one);
    if (answer.status !== 200) throw new Error(`The function answered ${answer.status}.`);
  }
  const milliseconds = performance.now() - started;
  const { user, system } = process.cpuUsage(cpu);
  return {
    ...answer,
    milliseconds,
    cpuMilliseconds: (user + system) / 1_000,
    peakMemory: readPeakMemory(),
  };
}

/**
 * Linux's own mark. `process.resourceUsage().maxRSS` would not do: a process inherits it from the one
 * that started it (https://man7.org/linux/man-pages/man2/getrusage.2.html).
 */
function readPeakMemory(): number {
  const [, kilobytes] =
    /^VmHWM:\s+(\d+) kB$/m.exec(readFileSync('/proc/self/status', 'utf8')) ?? [];
  return Number(kilobytes) * 1_024;
}
