import { AsyncLocalStorage } from 'node:async_hooks';

const deadline = new AsyncLocalStorage<number>();

/**
 * Sets the time, in milliseconds since the epoch, past which nothing that the current request does from
 * here begins another attempt of a call. A function is frozen when its request is answered and goes on
 * with the next one, maybe minutes later: a write that was still being repeated would then take effect
 * after others that came since.
 */
export function setDeadline(time: number): void {
  deadline.enterWith(time);
}

/** Whether the current request has been answered, or should have been. */
export function isOverdue(): boolean {
  return Date.now() >= (deadline.getStore() ?? Number.POSITIVE_INFINITY);
}
