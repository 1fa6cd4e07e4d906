import type { LogSource } from '../../../../infra/ops/logs/requestText.ts';
import { operationIds } from '../../../../shared/contract/operations.ts';
import { type Answers, AwsError } from '../aws.ts';

export type Line = Record<string, unknown>;

/** As few as this to a page, so that every search goes through several. */
const PAGE = 2;

/** Production's log groups, which CloudWatch Logs is asked for. */
export function defineLogGroups() {
  const names = ['gateway' as const, ...operationIds].map(toName);
  const groups = new Map(names.map((name) => [name, [] as LoggedEvent[]]));
  let count = 0;
  const answers: Answers = {
    FilterLogEvents(input) {
      const { logGroupName = '', filterPattern = '', nextToken } = input as Record<string, string>;
      const group = groups.get(logGroupName);
      if (!group) {
        throw new AwsError('ResourceNotFoundException', 'The specified log group does not exist.');
      }
      if (filterPattern.length > 1_024) {
        throw new AwsError('InvalidParameterException', 'The filter pattern is too long.');
      }
      const matches = definePattern(filterPattern);
      const found = group
        .filter(
          ({ timestamp, message }) => timestamp >= Number(input.startTime) && matches(message),
        )
        .sort((one, other) => one.timestamp - other.timestamp);
      // The first page is empty, as one of CloudWatch's can be.
      if (nextToken === undefined) return { events: [], nextToken: '0' };
      const end = Number(nextToken) + PAGE;
      const events = found.slice(Number(nextToken), end);
      return { events, ...(end < found.length && { nextToken: String(end) }) };
    },
  };
  return {
    answers,
    /** @param at milliseconds since the epoch */
    write(source: LogSource, at: number, line: Line): void {
      count += 1;
      const message = `${JSON.stringify(line)}\n`;
      groups.get(toName(source))?.push({ eventId: `event-${count}`, timestamp: at, message });
    },
  };
}

interface LoggedEvent {
  readonly eventId: string;
  readonly timestamp: number;
  readonly message: string;
}

function toName(source: LogSource): string {
  return source === 'gateway'
    ? '/aws/apigateway/petstore-production'
    : `/aws/lambda/petstore-production-${source}`;
}

/** The part of CloudWatch's syntax that compares fields, and joins in parentheses as JavaScript does. */
function definePattern(pattern: string): (message: string) => boolean {
  const condition = pattern
    .replace(/^\{ (.*) \}$/, '$1')
    .replace(/\$\.([\w.]+) (=|>=|<=|!=) ("[^"]*"|\d+)/g, 'compare("$1", "$2", $3)');
  const evaluate = new Function('compare', `return ${condition}`);
  return (message) => {
    const line = JSON.parse(message) as Line;
    return evaluate((path: string, operator: string, value: string | number) => {
      const names = path.split('.');
      const field = names.reduce<unknown>((inside, name) => (inside as Line)?.[name], line);
      if (typeof field !== typeof value) return false;
      if (operator === '>=') return Number(field) >= Number(value);
      if (operator === '<=') return Number(field) <= Number(value);
      const wanted = String(value).replaceAll('.', '\\.').replaceAll('*', '.*');
      return new RegExp(`^${wanted}$`).test(String(field)) === (operator === '=');
    });
  };
}

/** A function's line of a request, in Lambda's JSON format. */
export function requestLine(requestId: string, fields: Line = {}): Line {
  return toFunctionLine({
    operation: 'getPet',
    requestId,
    status: 200,
    milliseconds: 12,
    readUnits: 0.5,
    writeUnits: 0,
    keyId: 'abcdefghij',
    keyName: 'storefront-web',
    commit: '3f2a9c0d1e2f',
    version: '7',
    ...fields,
  });
}

/** A function's line of what failed, with what caused it. */
export function errorLine(requestId: string): Line {
  const cause = { name: 'TimeoutError', message: 'socket hang up', stack: 'at inner' };
  const error = { name: 'StoreError', message: 'no answer', stack: 'at outer', cause };
  return toFunctionLine({ requestId, error });
}

/** What Lambda logs of a function that could not. */
export function crashLine(lambdaId: string): Line {
  const message = { errorType: 'Runtime.ExitError', errorMessage: 'exit status 129' };
  return { ...toFunctionLine(message), requestId: lambdaId };
}

/** What Lambda logs of a call: by default of one that was too slow, once it is over. */
export function reportLine(lambdaId: string, type = 'platform.report'): Line {
  const record = { requestId: lambdaId, status: 'timeout', metrics: { durationMs: 28_000 } };
  return { time: '2026-11-20T10:00:00.000Z', type, record };
}

/** The gateway's line of a request, by default of one that a function answered. */
export function gatewayLine(requestId: string, fields: Line = {}): Line {
  return {
    requestId,
    sourceIp: '203.0.113.9',
    method: 'GET',
    path: '/v1/pets/7',
    status: '200',
    latency: '20',
    functionError: '-',
    functionRequestId: 'lambda-of-another',
    gatewayError: '-',
    ...fields,
  };
}

function toFunctionLine(message: Line): Line {
  return { timestamp: '2026-11-20T10:00:00.000Z', requestId: 'lambda-id', message };
}
