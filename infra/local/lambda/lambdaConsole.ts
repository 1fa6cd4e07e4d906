import { AsyncLocalStorage } from 'node:async_hooks';
import { format } from 'node:util';

const requestIds = new AsyncLocalStorage<string>();

/** Runs an invocation so that what it logs carries its id. */
export function withRequestId<Result>(requestId: string, invoke: () => Result): Result {
  return requestIds.run(requestId, invoke);
}

/**
 * Makes `console` write as Lambda's JSON log format does, to standard error:
 * https://docs.aws.amazon.com/lambda/latest/dg/nodejs-logging.html
 */
export function useLambdaConsole(): void {
  const levels = { info: 'INFO', log: 'INFO', warn: 'WARN', error: 'ERROR' } as const;
  for (const [method, level] of Object.entries(levels)) {
    console[method as keyof typeof levels] = (...values: unknown[]) => {
      const timestamp = new Date().toISOString();
      const requestId = requestIds.getStore();
      const line = { timestamp, level, requestId, message: toMessage(values) };
      process.stderr.write(`${JSON.stringify(line, writeBigInt)}\n`);
    };
  }
}

/** One plain object stays an object; anything else becomes text. */
function toMessage(values: unknown[]): unknown {
  const [first, ...rest] = values;
  const isPlain = typeof first === 'object' && !(first instanceof Error) && rest.length === 0;
  return isPlain ? first : format(...values);
}

function writeBigInt(_key: string, value: unknown): unknown {
  return typeof value === 'bigint' ? value.toString() : value;
}
