import { operationIds } from '../../../shared/contract/operations.ts';
import type { FunctionMessage, JoinedLine, LoggedError, LoggedLine } from './loggedLine.ts';

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
