import type { Writable } from 'node:stream';

const streamed = new WeakSet<object>();
const preludes = new WeakMap<Writable, Prelude>();

/** The status and headers of a streamed response. */
export interface Prelude {
  readonly statusCode?: number;
  readonly headers?: Record<string, string>;
}

/**
 * What functions find of Lambda's runtime: `awslambda`, and a console that writes each line as JSON,
 * here to nowhere. As that runtime does, it imports no `node:fs`, since an ES module's import would load
 * `fs.promises`, and all of readline with it, before a function could.
 * https://github.com/aws/aws-lambda-nodejs-runtime-interface-client/blob/main/src/utils/cjs-require.ts
 */
export function defineLambdaRuntime(): void {
  Object.assign(globalThis, {
    awslambda: {
      streamifyResponse(handler: object) {
        streamed.add(handler);
        return handler;
      },
      HttpResponseStream: {
        from(stream: Writable, prelude: Prelude) {
          preludes.set(stream, prelude);
          return stream;
        },
      },
    },
  });
  const { openSync, writeSync } = process.getBuiltinModule('node:fs');
  const sink = openSync('/dev/null', 'w');
  const writeLine = (message: unknown) => {
    writeSync(sink, `${JSON.stringify({ timestamp: new Date().toISOString(), message })}\n`);
  };
  for (const method of ['info', 'log', 'warn'] as const) console[method] = writeLine;
}

/** Whether the function streams its response. */
export function isStreamed(handler: object): boolean {
  return streamed.has(handler);
}

export function readPrelude(stream: Writable): Prelude {
  return preludes.get(stream) ?? {};
}
