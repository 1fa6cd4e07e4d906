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

/** Sent once the function is loaded. */
export interface Loaded {
  /** The memory (resident set) then, in bytes. */
  readonly idleMemory: number;
  /** What loading it took, with all that it waited for. */
  readonly milliseconds: number;
  /** Of all threads of this process. */
  readonly cpuMilliseconds: number;
}

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
