import { AsyncLocalStorage } from 'node:async_hooks';

const deadline = new AsyncLocalStorage<number>();

/**
 * Sets the time, in milliseconds since the epoch, after which the current request starts no further attempt of a call.
 * Lambda freezes a function after its response and resumes it with the next request, perhaps minutes later. A write
 * still in retries would then take effect after newer writes.
 */
export function setDeadline(time: number): void {
  deadline.enterWith(time);
}

/** Whether the current request is past its deadline. */
export function isOverdue(): boolean {
  return Date.now() >= (deadline.getStore() ?? Number.POSITIVE_INFINITY);
}
