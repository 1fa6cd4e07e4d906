/**
 * Logs one structured line. Lambda's JSON log format adds the time, the level and the request id:
 * https://docs.aws.amazon.com/lambda/latest/dg/nodejs-logging.html
 */
export function logInfo(line: Record<string, unknown>): void {
  console.info(line);
}

/** As `logInfo`, for what may be a mistake in the stage's settings. */
export function logWarn(line: Record<string, unknown>): void {
  console.warn(line);
}

/** As `logInfo`, with an error and its causes. */
export function logError(line: Record<string, unknown>, error: unknown): void {
  console.error({ ...line, error: toLoggedError(error) });
}

/** Omits other fields of an error, since they may hold a client's data. */
function toLoggedError(error: unknown): Record<string, unknown> {
  if (!(error instanceof Error)) return { message: String(error) };
  const { name, message, stack, cause } = error;
  return { name, message, stack, ...(cause !== undefined && { cause: toLoggedError(cause) }) };
}
