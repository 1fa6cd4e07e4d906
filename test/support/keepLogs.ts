import { inspect } from 'node:util';
import { afterAll, vi } from 'vitest';

/** Captures all logs of this process, as text to their full depth, until the end of the file's tests. */
export function keepLogs(): string[] {
  const lines: string[] = [];
  afterAll(() => void vi.restoreAllMocks());
  const keep = (...values: unknown[]) => void lines.push(inspect(values, { depth: null }));
  for (const method of ['debug', 'error', 'info', 'log', 'trace', 'warn'] as const) {
    vi.spyOn(console, method).mockImplementation(keep);
  }
  for (const stream of [process.stdout, process.stderr]) {
    vi.spyOn(stream, 'write').mockImplementation((text) => {
      keep(String(text));
      return true;
    });
  }
  return lines;
}
