import type { LogEvent } from './logEvents.ts';

/** What is read of a line: a function's, the gateway's, or Lambda's own of a call. All of it may be missing. */
export interface LoggedLine {
  /** Of a function's line Lambda's id of the call, of the gateway's our X-Request-Id. */
  readonly requestId?: string;
  readonly message?: FunctionMessage;
  /** What Lambda itself says of a call. */
  readonly record?: {
    readonly status?: string;
    readonly errorType?: string;
    readonly metrics?: { readonly durationMs?: number };
  };
  readonly method?: string;
  readonly path?: string;
  readonly sourceIp?: string;
  readonly status?: string;
  readonly latency?: string;
  readonly gatewayError?: string;
  readonly functionError?: string;
  /** Lambda's id of the call. */
  readonly functionRequestId?: string;
}

/** What a function logs: a request, its error, or what Lambda makes of a crash. */
export interface FunctionMessage {
  readonly requestId?: string;
  readonly clientRequestId?: string;
  readonly operation?: string;
  readonly status?: number;
  readonly milliseconds?: number;
  readonly readUnits?: number;
  readonly writeUnits?: number;
  readonly failedWrites?: number;
  readonly keyId?: string;
  readonly keyName?: string;
  readonly commit?: string;
  readonly refused?: string;
  readonly broken?: boolean;
  readonly error?: LoggedError;
  readonly errorType?: string;
  readonly errorMessage?: string;
}

export interface LoggedError {
  readonly name?: string;
  readonly message?: string;
  readonly cause?: LoggedError;
}

/** A line, with those of the errors behind it. */
export interface JoinedLine {
  readonly event: LogEvent;
  readonly line: LoggedLine;
  readonly errors: readonly JoinedLine[];
}

/** So many requests' errors wait for a line; those of requests that were not asked for wait in vain. */
const MAX_WAITING = 1_000;

/**
 * Puts the lines of errors, which a function logs just before the request's, to that line.
 * @param keepsRest whether errors that no request came for are lines of their own in the end
 */
export async function* joinErrors(
  events: AsyncIterable<LogEvent> | Iterable<LogEvent>,
  keepsRest: boolean,
): AsyncGenerator<JoinedLine> {
  const waiting = new Map<string, JoinedLine[]>();
  for await (const event of events) {
    const line = parseLine(event);
    const id = line.message?.requestId ?? '';
    const errors = waiting.get(id) ?? [];
    if (id !== '' && line.message?.error) {
      waiting.set(id, [...errors, { event, line, errors: [] }]);
      const [oldest = ''] = waiting.keys();
      if (waiting.size > MAX_WAITING) waiting.delete(oldest);
    } else {
      waiting.delete(id);
      yield { event, line, errors };
    }
  }
  if (keepsRest) yield* [...waiting.values()].flat();
}

/** Nothing is known of a line that is not JSON: a path with a quote in it makes one of the gateway's. */
export function parseLine({ text }: LogEvent): LoggedLine {
  try {
    const line: unknown = JSON.parse(text);
    return typeof line === 'object' && line !== null ? line : {};
  } catch {
    return {};
  }
}
