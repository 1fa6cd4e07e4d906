/** Megabytes that buy one whole processor. https://docs.aws.amazon.com/lambda/latest/dg/configuration-memory.html */
const WHOLE_PROCESSOR = 1_769;

/**
 * How long Lambda takes over a cold start that waits for nothing. A function on demand has a whole processor
 * while it is loaded, and from then on the share that its memory buys.
 * https://docs.aws.amazon.com/lambda/latest/dg/lambda-runtime-environment.html
 * @param init CPU milliseconds of loading it
 * @param request CPU milliseconds of its first request
 */
export function toColdMilliseconds(init: number, request: number, megabytes: number): number {
  return init + toWarmMilliseconds(request, megabytes);
}

/** How long Lambda takes over a request that waits for nothing, by its CPU milliseconds. */
export function toWarmMilliseconds(request: number, megabytes: number): number {
  return request / Math.min(1, megabytes / WHOLE_PROCESSOR);
}
