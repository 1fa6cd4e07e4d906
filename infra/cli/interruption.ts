import { constants } from 'node:os';

/** Under npm, one Ctrl-C arrives twice: from the terminal, and again from npm. */
const ECHO_MILLISECONDS = 500;

/** Watches for Ctrl-C and SIGTERM, until it is disposed of. */
export function listenForInterruption() {
  const controller = new AbortController();
  let status = 0;

  function interrupt(name: NodeJS.Signals): void {
    status = 128 + constants.signals[name];
    controller.abort();
    setTimeout(stopListening, ECHO_MILLISECONDS).unref();
  }

  function stopListening(): void {
    for (const name of names) process.off(name, interrupt);
  }

  const names = ['SIGINT', 'SIGTERM'] as const;
  for (const name of names) process.on(name, interrupt);
  return {
    /** Aborted by the first of them. A later signal ends the process. */
    signal: controller.signal,
    /** The exit status, such as 130 for Ctrl-C. */
    status: () => status,
    [Symbol.dispose]: stopListening,
  };
}
