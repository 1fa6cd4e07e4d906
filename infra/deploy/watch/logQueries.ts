import type { Operation } from '../../../shared/contract/operation.ts';
import { operationIds, operations } from '../../../shared/contract/operations.ts';
import { toNames } from '../../stages/resourceNames.ts';
import type { Stage } from '../../stages/stages.ts';

interface LogQuery {
  readonly name: string;
  /** The gateway's log of all requests, or that beside the logs of all functions. By default only the latter. */
  readonly log?: 'access' | 'all';
  readonly lines: readonly string[];
}

const isRequest = 'filter ispresent(message.operation)';

/** Which versions have responded, and from when until when. During a canary there are two at once. */
export const deployments: readonly string[] = [
  isRequest,
  'stats min(@timestamp) as first, max(@timestamp) as last, count(*) as requests by message.operation, message.version',
  'sort first desc',
];

export const deprecatedOperations = operationIds.filter(
  (id) => (operations[id] as Operation).lifecycle.kind === 'deprecated',
);

/** Who still calls them, by the name of the key. */
export const deprecatedCallers: readonly string[] = [
  `filter message.operation in [${deprecatedOperations.map((id) => `"${id}"`).join(', ')}] and ispresent(message.keyId)`,
  'stats count(*) as requests, latest(@timestamp) as last by message.operation, message.keyName, message.keyId',
  'sort requests desc',
];

/**
 * The most frequent questions of operations and finance. The functions' lines are under `message`. What follows a `#`
 * says what to fill in.
 */
export const logQueries: readonly LogQuery[] = [
  {
    name: 'One request by its id',
    log: 'all',
    lines: [
      'fields @timestamp, @log, @message',
      'filter @message like "REQUEST_ID" # the id in place of REQUEST_ID',
      'sort @timestamp asc',
    ],
  },
  {
    name: 'Requests by status',
    log: 'all',
    lines: [
      'fields @timestamp, coalesce(message.operation, route) as request, coalesce(message.status, status) as response, message.refused, gatewayError, message.keyName, sourceIp, message.version, coalesce(message.requestId, requestId) as id',
      // The gateway has a line for every request. The function's says more, where there is one.
      'filter message.status >= 500 or (status like /^5/ and gatewayError != "-") # for 4xx: 400 in place of 500, and 4 in place of 5',
      'sort @timestamp desc',
      'limit 200',
    ],
  },
  {
    name: 'Requests of one key or address',
    log: 'all',
    lines: [
      'fields @timestamp, coalesce(message.operation, route) as request, coalesce(message.status, status) as response, message.milliseconds, message.version, message.path, message.petIds, coalesce(message.requestId, requestId) as id',
      'filter @message like /"(keyName|keyId|sourceIp)": ?"CALLER"/ # a name, a key id or an address in place of CALLER',
      'sort @timestamp desc',
      'limit 200',
    ],
  },
  {
    name: 'Slowest requests',
    lines: [
      'fields @timestamp, message.operation, message.milliseconds, message.status, message.readUnits, message.keyName, message.requestId',
      isRequest,
      'sort message.milliseconds desc',
      'limit 50',
    ],
  },
  {
    name: 'Errors with their cause',
    lines: [
      'fields @timestamp, @log, message.requestId, message.error.name, message.error.message, message.error.cause.name, message.error.cause.message, message.errorType, message.errorMessage, record.status',
      // For errors that a function did not catch, Lambda writes errorType and errorMessage into the message:
      // https://docs.aws.amazon.com/lambda/latest/dg/monitoring-cloudwatchlogs-logformat.html
      // For a timeout or a crash, only the platform's own line reports it.
      'filter level in ["ERROR", "FATAL"] or message.status >= 500 or (type = "platform.report" and record.status != "success")',
      'sort @timestamp desc',
      'limit 100',
    ],
  },
  {
    name: 'Cost in request units by key',
    lines: [
      isRequest,
      'stats sum(message.readUnits) as readUnits, sum(message.keyReadUnits) as keyReadUnits, sum(message.writeUnits) as writeUnits, sum(message.failedWrites) as failedWrites, count(*) as requests by message.keyName, message.keyId, message.operation, message.status',
      'sort requests desc',
    ],
  },
  {
    name: 'Refused credentials by reason',
    lines: [
      'filter ispresent(message.refused)',
      'stats count(*) as requests, latest(@timestamp) as last by message.refused, message.keyId, message.operation',
      'sort requests desc',
    ],
  },
  {
    name: 'Requests by address',
    log: 'access',
    lines: [
      'filter ispresent(route)',
      'stats count(*) as requests, latest(@timestamp) as last by sourceIp, userAgent, status, route, gatewayError',
      'sort requests desc',
      'limit 100',
    ],
  },
  { name: 'Deployments', lines: deployments },
  // Logs Insights refuses an empty list.
  ...(deprecatedOperations.length > 0
    ? [{ name: 'Callers of deprecated operations', lines: deprecatedCallers }]
    : []),
];

/** The name that a query is saved under, in a folder with the stage's name, and the logs that it reads. */
export function toSavedQuery(stage: Stage, { name, log, lines }: LogQuery) {
  const { stack, accessLog, functionLogs } = toNames(stage);
  const logGroupNames = {
    functions: functionLogs,
    access: [accessLog],
    all: [...functionLogs, accessLog],
  };
  return {
    name: `${stack}/${name}`,
    logGroupNames: logGroupNames[log ?? 'functions'],
    queryString: lines.join('\n| '),
  };
}
