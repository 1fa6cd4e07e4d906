import { type OperationId, operationIds } from '../../../shared/contract/operations.ts';

/** Who wrote a line. */
export type LogSource = OperationId | 'gateway';

export interface LogEvent {
  /** Of this event alone, and the same each time it is read. */
  readonly id: string;
  /** Milliseconds since the epoch. */
  readonly at: number;
  readonly source: LogSource;
  /** The line, without its end. */
  readonly text: string;
}

/** Each column with the width that it has at least; a longer value widens it from then on. */
const columns: readonly (readonly [name: string, width: number])[] = [
  ['TIME', '2026-12-24 09:59:00.123Z'.length],
  ['OPERATION', Math.max(...operationIds.map((id) => id.length))],
  ['STATUS', 0],
  ['MS', 5],
  ['UNITS', '0.5r+1w'.length],
  ['KEY', 16],
  ['COMMIT', 12],
  ['REQUEST', 0],
];

/** Lines as a person reads them: a row a request, what went wrong beneath, and the columns' names on top. */
export function defineRequestText(): (joined: JoinedLine) => string {
  const widths = columns.map(([name, width]) => Math.max(name.length, width));
  let isFirst = true;

  function toRow(cells: readonly string[]): string {
    const padded = cells.map((cell, index) => {
      widths[index] = Math.max(widths[index] ?? 0, cell.length);
      return cell.padEnd(widths[index]);
    });
    return `${padded.join('  ').trimEnd()}\n`;
  }

  return (joined) => {
    const details = toDetails(joined).map((detail) => `    ${toPlain(detail)}\n`);
    const row = toRow(toCells(joined).map(toPlain));
    const header = isFirst ? toRow(columns.map(([name]) => name)) : '';
    isFirst = false;
    return header + row + details.join('');
  };
}

function toCells({ event, line }: JoinedLine): string[] {
  const message = line.message ?? {};
  return [
    new Date(event.at).toISOString().replace('T', ' '),
    message.operation ?? event.source,
    String(message.status ?? line.status ?? '-'),
    String(message.milliseconds ?? line.latency ?? line.record?.metrics?.durationMs ?? '-'),
    toUnits(message),
    message.keyName ?? message.keyId ?? '-',
    message.commit ?? '-',
    message.requestId ?? line.requestId ?? '-',
  ];
}

/** Such as `0.5r+1w`: half a read unit, and a write unit. */
function toUnits({ readUnits = 0, writeUnits = 0 }: FunctionMessage): string {
  const parts = [readUnits && `${readUnits}r`, writeUnits && `${writeUnits}w`];
  return parts.filter(Boolean).join('+') || '-';
}

function toDetails({ event, line, errors }: JoinedLine): string[] {
  const message = line.message ?? {};
  const isUnread = Object.keys(line).length === 0;
  return [
    ...(line.method ? [toGatewayDetail(line)] : []),
    ...(message.refused ? [`refused: ${message.refused}, key id ${message.keyId ?? '-'}`] : []),
    ...(message.clientRequestId ? [`the client's id: ${message.clientRequestId}`] : []),
    ...(message.failedWrites ? [`writes refused by their condition: ${message.failedWrites}`] : []),
    ...(message.broken ? ['the answer broke off before its end'] : []),
    ...(message.errorType ? [`${message.errorType}: ${message.errorMessage ?? ''}`] : []),
    ...(line.record?.status
      ? [`Lambda: ${line.record.status} ${line.record.errorType ?? ''}`]
      : []),
    ...[message.error, ...errors.map((one) => one.line.message?.error)].flatMap(toCauses),
    ...(isUnread ? [event.text] : []),
  ];
}

function toGatewayDetail({ method, path, sourceIp, ...line }: LoggedLine): string {
  const reasons = [line.gatewayError, line.functionError].filter((text) => text && text !== '-');
  return `${method} ${path} from ${sourceIp}${reasons.length > 0 ? `: ${reasons.join(', ')}` : ''}`;
}

/** An error and, each below the other, what caused it. */
function toCauses(error: LoggedError | undefined): string[] {
  if (!error) return [];
  const { name = 'Error', message = '', cause } = error;
  return [`${name}: ${message}`, ...toCauses(cause).map((text) => `caused by ${text}`)];
}

/** A path or a message may hold what a client sent: nothing that a terminal would obey, and one line. */
function toPlain(text: string): string {
  return text
    .replace(/\s*\n\s*/g, ' ')
    .replace(/\p{Cc}/gu, '?')
    .trimEnd();
}

/** What is read of a line: a function's, the gateway's, or Lambda's own of a call. */
interface LoggedLine {
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
interface FunctionMessage {
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

interface LoggedError {
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
  events: AsyncIterable<LogEvent>,
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
