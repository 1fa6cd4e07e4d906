import { inspect } from 'node:util';
import { vi } from 'vitest';

/** From here on keeps, as text to its full depth, all that this process would log. */
export function keepLogs(): readonly string[] {
  const lines: string[] = [];
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
