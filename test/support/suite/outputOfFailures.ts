import { format } from 'node:util';
import { afterAll, beforeEach, type RunnerTask } from 'vitest';

// A run logs some tens of thousands of requests. Vitest's `silent: 'passed-only'` formats each line and sends it
// to another process. Here lines are kept as they are, and written only if a test or a hook failed.
const shared = globalThis as { keptOutput?: (() => void)[] };
shared.keptOutput ??= keepOutput();
const kept = shared.keptOutput;

beforeEach(({ onTestFailed }) => {
  kept.length = 0;
  onTestFailed(show);
});

// biome-ignore lint/correctness/noEmptyPattern: vitest reads the wanted fixtures from the pattern.
afterAll(({}, file) => {
  if (hasFailed(file)) show();
  kept.length = 0;
});

function hasFailed(task: Readonly<RunnerTask>): boolean {
  return task.result?.state === 'fail' || (task.type === 'suite' && task.tasks.some(hasFailed));
}

function show(): void {
  for (const write of kept.splice(0)) write();
}

function keepOutput(): (() => void)[] {
  const lines: (() => void)[] = [];
  const writers = (['stdout', 'stderr'] as const).map((name) => {
    const stream = process[name];
    const write = stream.write.bind(stream);
    stream.write = (chunk: Uint8Array | string, ...others: unknown[]) => {
      lines.push(() => write(chunk));
      const written = others.find((other) => typeof other === 'function');
      if (written) process.nextTick(written);
      return true;
    };
    return write;
  });
  for (const method of ['debug', 'error', 'info', 'log', 'warn'] as const) {
    console[method] = (...values) => lines.push(() => writers[1]?.(`${format(...values)}\n`));
  }
  return lines;
}
