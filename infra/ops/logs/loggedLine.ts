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

/** Nothing is known of a line that is not JSON: a path with a quote in it makes one of the gateway's. */
export function parseLine({ text }: LogEvent): LoggedLine {
  try {
    const line: unknown = JSON.parse(text);
    return typeof line === 'object' && line !== null ? line : {};
  } catch {
    return {};
  }
}
