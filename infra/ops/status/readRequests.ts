import { type OperationId, operationIds } from '../../../shared/contract/operations.ts';
import { findOperation } from '../../../shared/contract/paths.ts';
import { hideSecrets } from '../../../shared/keys/hideSecrets.ts';
import { FILTERED } from '../../gateway/gatewayErrors.ts';
import { checkAgent, toNames } from '../../stages/resourceNames.ts';
import type { Stage } from '../../stages/stages.ts';
import { type QueryRow, toNumber } from './cloudWatch.ts';

// What the logs of the last hours say of requests and of those who send them.

/** Asks some logs, of the last hour or of more. */
export type Query = (
  names: string[],
  lines: readonly string[],
  hours?: number,
) => Promise<QueryRow[]>;

/** The gateway logs a line for every request, also where it calls no function. It logs the status as text. */
export const accessQuery = [
  'filter ispresent(route)',
  `fields strcontains(userAgent, "${checkAgent}") as isCheck`,
  'stats count(*) as lines, latest(requestId) as request by isCheck, method, route, status, gatewayError',
];

/** Errors with their cause. The platform's line shows what a function could not log, such as a timeout. */
export const errorQuery = [
  'filter level in ["ERROR", "FATAL"] or (type = "platform.report" and record.status != "success")',
  'fields coalesce(message.requestId, record.requestId, requestId) as id',
  'stats count(*) as lines, latest(id) as request, latest(message.error.message) as text, latest(message.error.cause.message) as causeText by @log, message.error.name as error, message.error.cause.name as cause, message.errorType as crash, record.status as ended',
  'sort lines desc',
];

/** Shown of each operation. */
const MAX_ERRORS = 3;

/** Rows that are read, and callers or ids that are shown. */
const MAX_CALLERS = 1_000;
const MAX_SHOWN = 5;

/** Clients' requests of the last hour by operation, with the most frequent errors. */
export async function readRequests(stage: Stage, query: Query) {
  const [access, logged] = await Promise.all([
    query([toNames(stage).accessLog], accessQuery),
    query(toNames(stage).functionLogs, errorQuery),
  ]);
  const isFailure = ({ status = '' }: QueryRow) => status.startsWith('5');
  const findRequested = ({ method, route }: QueryRow) => findOperation(method, route);
  const isCheck = (row: QueryRow) => row.isCheck === '1';
  const operations = operationIds.map((operation) => {
    const own = access.filter((row) => findRequested(row) === operation && !isCheck(row));
    // A flood that the firewall blocks would hide what others get.
    const rows = own.filter(({ gatewayError }) => gatewayError !== FILTERED);
    return {
      operation,
      requests: sumLines(rows),
      failed: sumLines(rows.filter(isFailure)),
      clientErrors: sumLines(rows.filter(({ status = '' }) => status.startsWith('4'))),
    };
  });
  const ofGateway = access
    .filter((row) => isFailure(row) && (row.gatewayError ?? '-') !== '-')
    .map((row) => summarizeError(row, findRequested(row), `${row.status} ${row.gatewayError}`));
  const ofFunctions = logged.map((row) => {
    const operation = operationIds.find((id) =>
      row['@log']?.endsWith(`:${toNames(stage).toFunctionLog(id)}`),
    );
    return summarizeError(row, operation, describeError(row));
  });
  const found = [...ofFunctions, ...ofGateway].sort((one, other) => other.count - one.count);
  const errors = [...Map.groupBy(found, ({ operation }) => operation).values()];
  const refused = access.filter((row) => isCheck(row) && row.status === '401');
  return {
    operations,
    errors: errors.flatMap((some) => some.slice(0, MAX_ERRORS)),
    /** Requests of the scheduled check that got 401. */
    refusedChecks: sumLines(refused),
  };
}

function summarizeError(row: QueryRow, operation: OperationId | undefined, error: string) {
  const { request = '' } = row;
  // The id goes to a shell, whatever is in the log.
  const requestId = /^[\w-]{2,64}$/.test(request) ? request : undefined;
  const count = toNumber(row.lines);
  const { error: name = '', cause = name, causeText = '' } = row;
  return {
    operation: operation ?? 'gateway',
    count,
    error: hideSecrets(error),
    requestId,
    /** The innermost known error, such as `TimeoutError: socket hang up`. */
    cause: hideSecrets(`${cause}: ${causeText}`),
  };
}

function describeError({
  error,
  text = '',
  cause,
  causeText = '',
  crash,
  ended,
}: QueryRow): string {
  if (error === undefined) return crash ?? `Lambda ended the call: ${ended}`;
  return `${error}: ${text}${cause === undefined ? '' : `, caused by ${cause}: ${causeText}`}`;
}

function sumLines(rows: readonly QueryRow[]): number {
  return rows.reduce((sum, { lines }) => sum + toNumber(lines), 0);
}

/** Requests by key, of every status. The line of a 503 has what was asked for. */
export const callerQuery = [
  'filter ispresent(message.operation)',
  'stats count(*) as lines by message.keyName as name, message.keyId as id, message.status as status, message.path as path, message.petIds as petIds',
  'sort lines desc',
  `limit ${MAX_CALLERS}`,
];

/** Requests by address, of every status, also those that reached no function. */
export const addressQuery = [
  'filter ispresent(route)',
  'stats count(*) as lines by sourceIp as name, status',
  'sort lines desc',
  `limit ${MAX_CALLERS}`,
];

export function summarizeCallers(rows: readonly QueryRow[]) {
  const refused = rows.flatMap(({ path, petIds, lines }) => {
    const paths = petIds?.split(' ').map((id) => `/inventory/${id}`) ?? (path ? [path] : []);
    return paths.map((one) => ({ path: one, count: toNumber(lines) }));
  });
  const named = rows.map(({ name = 'without a key', id, ...row }) => ({
    ...row,
    name: id ? `${name === 'without a key' ? 'unknown key' : name} (${id})` : name,
  }));
  return {
    keys: rankCallers(named),
    /** The entries and pets with the most 503s. */
    refused: rankSums(refused, ({ path }) => path).map(([path, count]) => ({ path, count })),
  };
}

/** The callers with the most requests, each with its statuses, the most frequent first. */
export function rankCallers(rows: readonly QueryRow[]) {
  const counted = rows.map(({ name = '-', status = '-', lines }) => {
    return { name, status, count: toNumber(lines) };
  });
  return rankSums(counted, ({ name }) => name).map(([name, requests]) => ({
    name: hideSecrets(name),
    requests,
    statuses: rankSums(
      counted.filter((one) => one.name === name),
      ({ status }) => status,
    ).map(([status, count]) => ({ status, count })),
  }));
}

/** The largest sums, by a name. */
function rankSums<Row extends { readonly count: number }>(
  rows: readonly Row[],
  toName: (row: Row) => string,
): [string, number][] {
  return Array.from(Map.groupBy(rows, toName), ([name, some]): [string, number] => [
    name,
    some.reduce((sum, { count }) => sum + count, 0),
  ])
    .sort(([, one], [, other]) => other - one)
    .slice(0, MAX_SHOWN);
}
