/** The message of a 403 to any other Host header. */
export const foreignHostRefusal =
  'This answers only to 127.0.0.1, localhost and [::1] in the Host header.';

/**
 * Whether a Host header names this machine. In DNS rebinding, a web page makes its own name resolve to this machine,
 * and the browser lets the page read the answers: they come from its origin. The Host header still has that name.
 */
export function isLoopbackHost(host: string | undefined): boolean {
  return /^(127\.0\.0\.1|localhost|\[::1\])(:\d+)?$/i.test(host ?? '');
}
