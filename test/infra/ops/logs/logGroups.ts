import type { LogSource } from '../../../../infra/ops/logs/logEvents.ts';
import { type Answers, AwsError } from '../aws.ts';

type Line = Record<string, unknown>;

/** As few as this to a page, so that every search goes through several. */
const PAGE = 2;

/** Production's log groups, which CloudWatch Logs is asked for. */
export function defineLogGroups() {
  const groups = new Map<string, { eventId: string; timestamp: number; message: string }[]>();
  for (const id of ['listInventory', 'updateInventory', 'getPet', 'listOrders'] as const) {
    groups.set(toName(id), []);
  }
  groups.set(toName('gateway'), []);
  let count = 0;
  const answers: Answers = {
    FilterLogEvents(input) {
      const { logGroupName, filterPattern, startTime, nextToken } = input as {
        [name: string]: string;
      } & { startTime: number };
      const group = groups.get(logGroupName ?? '');
      if (!group) {
        throw new AwsError('ResourceNotFoundException', 'The specified log group does not exist.');
      }
      if ((filterPattern?.length ?? 0) > 1_024) {
        throw new AwsError('InvalidParameterException', 'The filter pattern is too long.');
      }
      const found = group
        .filter(({ timestamp }) => timestamp >= startTime)
        .filter(({ message }) => matches(filterPattern ?? '', message))
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
    write(source: LogSource, at: number, line: Line | string): void {
      count += 1;
      const message = `${typeof line === 'string' ? line : JSON.stringify(line)}\n`;
      groups.get(toName(source))?.push({ eventId: `event-${count}`, timestamp: at, message });
    },
    remove: (source: LogSource) => groups.delete(toName(source)),
  };
}

function toName(source: LogSource): string {
  return source === 'gateway'
    ? '/aws/apigateway/petstore-production'
    : `/aws/lambda/petstore-production-${source}`;
}

/** Whether a line matches, by the part of CloudWatch's syntax that compares fields and joins in parentheses. */
function matches(pattern: string, text: string): boolean {
  const line = toObject(text);
  if (line === undefined) return false;
  let rest = pattern.replace(
    /\$\.([\w.]+) (=|!=|>=|<=) ("[^"]*"|\d+)/g,
    (_, path: string, operator: string, value: string) =>
      String(compare(toField(line, path), operator, JSON.parse(value))),
  );
  for (let before = ''; before !== rest; ) {
    before = rest;
    rest = rest.replace(/\(([^()]*)\)/, (_, inner: string) => String(evaluate(inner)));
  }
  const [, whole] = /^\{ (.*) \}$/.exec(rest) ?? [];
  return evaluate(whole ?? '');
}

function evaluate(text: string): boolean {
  if (/^(true|false)( && (true|false))*$/.test(text)) return !text.includes('false');
  if (/^(true|false)( \|\| (true|false))*$/.test(text)) return text.includes('true');
  throw new AwsError('InvalidParameterException', `Invalid filter pattern: ${text}`);
}

function compare(field: unknown, operator: string, value: string | number): boolean {
  if (field === undefined) return false;
  if (operator === '>=') return typeof field === 'number' && field >= Number(value);
  if (operator === '<=') return typeof field === 'number' && field <= Number(value);
  const wanted = String(value).replace(/[.]/g, '\\.').replaceAll('*', '.*');
  const isEqual = typeof field === typeof value && new RegExp(`^${wanted}$`).test(String(field));
  return operator === '=' ? isEqual : !isEqual;
}

function toField(line: Line, path: string): unknown {
  return path
    .split('.')
    .reduce<unknown>((value, name) => (value as Line | undefined)?.[name], line);
}

function toObject(text: string): Line | undefined {
  try {
    return JSON.parse(text) as Line;
  } catch {
    return undefined;
  }
}
