import { type OperationId, operationIds } from '../../../shared/contract/operations.ts';
import { toPlain } from '../../cli/output.ts';

export type LogSource = OperationId | 'gateway';

export interface LogEvent {
  /** Unique, and the same each time the event is read. */
  readonly id: string;
  /** Milliseconds since the epoch. */
  readonly at: number;
  readonly source: LogSource;
  /** The line, without its end. */
  readonly text: string;
}

type Fields = Readonly<Record<string, unknown>>;

/** The gateway's line of a request, a function's line with `message`, or Lambda's own line with `record`. */
interface LoggedLine extends Fields {
  readonly message?: Fields & { readonly error?: LoggedError };
  readonly record?: Fields & { readonly metrics?: Fields };
}

interface LoggedError {
  readonly name?: string;
  readonly message?: string;
  readonly cause?: LoggedError;
}

export interface JoinedLine {
  readonly event: LogEvent;
  readonly line: LoggedLine;
  readonly errors: readonly JoinedLine[];
}

/**
 * Joins the lines of errors to the request's line, which a function logs just after them.
 * @param keepsRest whether errors that no request came for are lines of their own in the end
 */
export async function* joinErrors(
  events: AsyncIterable<LogEvent>,
  keepsRest: boolean,
): AsyncGenerator<JoinedLine> {
  const waiting = new Map<unknown, JoinedLine[]>();
  for await (const event of events) {
    const line = parseLine(event);
    const { requestId: id, error } = line.message ?? {};
    const errors = waiting.get(id) ?? [];
    if (error && id) {
      waiting.set(id, [...errors, { event, line, errors: [] }]);
    } else {
      waiting.delete(id);
      yield { event, line, errors };
    }
  }
  if (keepsRest) yield* [...waiting.values()].flat();
}

/** Invalid JSON is an empty line, such as one of release 1.2.0 with a quote in a client's path. */
export function parseLine({ text }: LogEvent): LoggedLine {
  try {
    return Object(JSON.parse(text));
  } catch {
    return {};
  }
}

/** Each column with its minimum width. */
const columns: readonly (readonly [name: string, width: number])[] = [
  ['TIME', '2026-12-24 09:59:00.123Z'.length],
  ['OPERATION', Math.max(...operationIds.map((id) => id.length))],
  ['STATUS', 'STATUS'.length],
  ['MS', 5],
  ['KEY', 16],
  ['VERSION', 'VERSION'.length],
  ['REQUEST', 0],
];

export const header = toRow(columns.map(([name]) => name));

/** The fields beneath a row, by their names in the log. */
const details = [
  ...['refused', 'clientRequestId', 'failedWrites', 'broken', 'errorType', 'errorMessage'],
  ...['method', 'route', 'path', 'sourceIp', 'gatewayError', 'functionError'],
];

/** A row, with its errors beneath. */
export function toText({ event, line, errors }: JoinedLine): string {
  const fields: Fields = line.message ?? line.record ?? line;
  const row = toRow([
    new Date(event.at).toISOString().replace('T', ' '),
    toCell(fields.operation ?? event.source),
    toCell(fields.status),
    toCell(fields.milliseconds ?? fields.latency ?? line.record?.metrics?.durationMs),
    toCell(fields.keyName ?? fields.keyId),
    toCell(fields.version),
    toCell(fields.requestId),
  ]);
  const known = details.filter((name) => toCell(fields[name]) !== '-');
  const causes = [line, ...errors.map((error) => error.line)].flatMap(({ message }) =>
    toCauses(message?.error),
  );
  const beneath = [
    known.map((name) => `${name}: ${fields[name]}`).join(', '),
    ...causes,
    Object.keys(fields).length === 0 ? event.text : '',
  ];
  return row + beneath.flatMap((text) => (text ? `    ${toPlain(text)}\n` : [])).join('');
}

function toRow(cells: readonly string[]): string {
  const padded = cells.map((cell, index) => cell.padEnd(columns[index]?.[1] ?? 0));
  return `${padded.join('  ').trimEnd()}\n`;
}

function toCell(value: unknown = '-'): string {
  return toPlain(String(value));
}

/** An error, with its causes below. */
function toCauses(error: LoggedError | undefined): string[] {
  if (!error) return [];
  const { name = 'Error', message = '', cause } = error;
  return [`${name}: ${message}`, ...toCauses(cause).map((text) => `caused by ${text}`)];
}
