import { constants } from 'node:os';
import { brokenOutput } from './output.ts';

/** Under npm, one Ctrl-C arrives twice: from the terminal, and again from npm. */
const ECHO_MILLISECONDS = 500;

/** Watches for Ctrl-C, SIGTERM and a reader that leaves, until it is disposed of. */
export function listenForInterruption() {
  const controller = new AbortController();
  let first = 0;
  let status = 0;

  function interrupt(name: NodeJS.Signals): void {
    if (!controller.signal.aborted) {
      first = performance.now();
      status = 128 + constants.signals[name];
      controller.abort();
    } else if (performance.now() - first > ECHO_MILLISECONDS) {
      process.exit(128 + constants.signals[name]);
    }
  }

  function stopUnread(): void {
    status ||= brokenOutput.status;
    controller.abort();
  }

  const names = ['SIGINT', 'SIGTERM'] as const;
  for (const name of names) process.on(name, interrupt);
  brokenOutput.signal.addEventListener('abort', stopUnread);
  if (brokenOutput.signal.aborted) stopUnread();
  return {
    /** Aborted by the first of them. The next signal ends the process. */
    signal: controller.signal,
    /** The exit status, such as 130 for Ctrl-C. */
    status: () => status,
    [Symbol.dispose]() {
      for (const name of names) process.off(name, interrupt);
      brokenOutput.signal.removeEventListener('abort', stopUnread);
    },
  };
}
