import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';

const main = fileURLToPath(new URL('../../../infra/local/main.ts', import.meta.url));

/** `npm start` as a process of its own. */
export interface LocalProcess {
  readonly child: ChildProcess;
  readonly stdout: () => string;
  readonly stderr: () => string;
  /** Its status, or the signal that ended it. */
  readonly exited: Promise<number | string>;
}

export interface ReadyStage extends LocalProcess {
  readonly baseUrl: string;
  readonly authorization: { readonly Authorization: string };
}

const running = new Set<ChildProcess>();

/** With standard error taken for a terminal of 200 columns. */
export function runLocal(...args: string[]): LocalProcess {
  return run([...toImport(terminal), main, ...args]);
}

const terminal = 'Object.assign(process.stderr, { isTTY: true, columns: 200 })';

/** As `runLocal`, with an error that nobody catches in each other thread once a file is there. */
export function runLocalCrashing(trigger: string, ...args: string[]): LocalProcess {
  const crash = `import { existsSync } from 'node:fs';
    import { isMainThread } from 'node:worker_threads';
    const look = () => { if (existsSync(${JSON.stringify(trigger)})) throw new Error('no more\\nof this'); };
    if (!isMainThread) setInterval(look, 20);`;
  return run([...toImport(terminal), ...toImport(crash), main, ...args]);
}

/** A module that runs before any other, in every thread. */
function toImport(code: string): string[] {
  return ['--import', `data:text/javascript,${encodeURIComponent(code)}`];
}

function run(words: readonly string[]): LocalProcess {
  const child = spawn(process.execPath, words, { stdio: ['ignore', 'pipe', 'pipe'] });
  running.add(child);
  let stdout = '';
  let stderr = '';
  child.stdout.on('data', (text) => {
    stdout += text;
  });
  child.stderr.on('data', (text) => {
    stderr += text;
  });
  const exited = once(child, 'close').then(([status, signal]) => {
    running.delete(child);
    return status ?? signal;
  });
  return { child, stdout: () => stdout, stderr: () => stderr, exited };
}

/** Starts it on a free port, without a terminal, and waits for the two lines that say it is ready. */
export function startLocal(...args: string[]): Promise<ReadyStage> {
  return untilReady(run([main, '--port', '0', ...args]));
}

export async function untilReady(local: LocalProcess): Promise<ReadyStage> {
  const ready = /^Base address: (http:\/\/127\.0\.0\.1:\d+\/v1)\nAPI key: (psk_\w+)\n/;
  for (;;) {
    const [, baseUrl, apiKey] = ready.exec(local.stdout()) ?? [];
    if (baseUrl && apiKey) {
      return { ...local, baseUrl, authorization: { Authorization: `Bearer ${apiKey}` } };
    }
    const isOver = await Promise.race([
      once(local.child.stdout as NodeJS.ReadableStream, 'data').then(() => false),
      local.exited.then(() => true),
    ]);
    if (isOver) throw new Error(`The local stage did not start: ${local.stderr()}`);
  }
}

/** Ends what a failed test left running. */
export function killLocals(): void {
  for (const child of running) child.kill('SIGKILL');
}
