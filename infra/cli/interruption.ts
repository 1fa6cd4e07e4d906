import { constants } from 'node:os';

/** Under npm, one Ctrl-C arrives twice: from the terminal, and again from npm. */
const ECHO_MILLISECONDS = 500;

/** Watches for Ctrl-C and SIGTERM, until it is disposed of. */
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

  const names = ['SIGINT', 'SIGTERM'] as const;
  for (const name of names) process.on(name, interrupt);
  return {
    /** Aborted by the first of them. The next signal ends the process. */
    signal: controller.signal,
    /** The exit status, such as 130 for Ctrl-C. */
    status: () => status,
    [Symbol.dispose]() {
      for (const name of names) process.off(name, interrupt);
    },
  };
}
