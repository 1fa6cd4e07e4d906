import { constants } from 'node:os';

const controller = new AbortController();
let status = 0;

/** What has become of the outputs that `watchOutput` looks after. */
export const brokenOutput = {
  /** Aborted once one of them cannot be written any more; its reason is the error, of which all has been told then. */
  signal: controller.signal,
  /** 0 until then; 141, as for what SIGPIPE ends, when the reader has left; 1 for a full disk and the like. */
  get status(): number {
    return status;
  },
} as const;

/** In place of a stack, a reader that leaves, as `head` does, is no news, and a full disk is one line. */
export function watchOutput(): void {
  // A process that runs several commands, as a test does, is not to collect listeners.
  process.stdout.off('error', breakOff).on('error', breakOff);
  process.stderr.off('error', breakOff).on('error', breakOff);
}

function breakOff(error: NodeJS.ErrnoException): void {
  if (controller.signal.aborted) return;
  status = error.code === 'EPIPE' ? 128 + constants.signals.SIGPIPE : 1;
  process.exitCode ||= status;
  controller.abort(error);
  if (error.code === 'EPIPE') return;
  process.stderr.write(
    `The standard output cannot be written (${error.message}), and what was to be read there is lost.\n`,
  );
}
