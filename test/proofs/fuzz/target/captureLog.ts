import { useLambdaConsole } from '../../../../infra/local/lambda/lambdaRuntime.ts';

/** What this process writes, in the place of its standard streams. */
export interface CapturedLog extends Disposable {
  /** What was written since it was last asked for, each write by itself. */
  take(): readonly string[];
}

const methods = ['debug', 'info', 'log', 'warn', 'error', 'trace'] as const;

/** Has `console` write as Lambda's does, and keeps that, until it is disposed of. */
export function captureLog(): CapturedLog {
  let written: string[] = [];
  const own = methods.map((method) => [method, console[method]] as const);
  const streams = [process.stdout, process.stderr].map((stream) => [stream, stream.write] as const);
  for (const [stream] of streams) {
    stream.write = (text: unknown) => {
      written.push(String(text));
      return true;
    };
  }
  useLambdaConsole();
  return {
    take() {
      const taken = written;
      written = [];
      return taken;
    },
    [Symbol.dispose]() {
      for (const [stream, write] of streams) stream.write = write;
      for (const [method, write] of own) console[method] = write;
    },
  };
}
