import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';

export interface Finished {
  /** `null` when it was killed. */
  readonly status: number | null;
  readonly seconds: number;
  /** The most memory it held, where /proc tells. */
  readonly peakMegabytes: number | undefined;
  readonly stdout: string;
  readonly stderr: string;
}

/**
 * Runs a command of `infra/ops/data` in a process of its own.
 * @param killAt the percentage of progress at which it is killed without a warning
 */
export async function runOpsCommand(
  command: string,
  args: readonly string[],
  killAt = Number.POSITIVE_INFINITY,
): Promise<Finished> {
  const [name, ...options] = command.split(' ');
  const started = performance.now();
  const child = spawn(process.execPath, [`infra/ops/data/${name}.ts`, ...options, ...args], {
    cwd: join(import.meta.dirname, '../../..'),
  });
  let peakMegabytes: number | undefined;
  const watch = setInterval(() => {
    peakMegabytes = readPeak(child.pid) ?? peakMegabytes;
  }, 50);
  child.stderr.on('data', (data: Buffer) => {
    const [, percent] = /(\d+)% of/.exec(data.toString()) ?? [];
    if (Number(percent) >= killAt) child.kill('SIGKILL');
  });
  const [stdout, stderr, [status]] = await Promise.all([
    text(child.stdout),
    text(child.stderr),
    once(child, 'exit') as Promise<[number | null]>,
  ]);
  clearInterval(watch);
  const seconds = (performance.now() - started) / 1_000;
  return { status, seconds, peakMegabytes, stdout, stderr };
}

function readPeak(pid = 0): number | undefined {
  try {
    const [, kilobytes] = /VmHWM:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8')) ?? [];
    return kilobytes === undefined ? undefined : Math.round(Number(kilobytes) / 1_024);
  } catch {
    return undefined;
  }
}
