// Replaces two modules that the SDK loads on every cold start, and that functions never use. Either alone saves nothing
// that can be measured. Together they take 5 ms off INIT, and some 5 % off a cold start: see test/bench/README.md.

/** Replaces `@smithy/core/event-streams`, which loads `node:zlib`. No DynamoDB operation has an event stream. */
export function EventStreamSerde(): never {
  throw new Error('The bundles leave event streams out: no DynamoDB operation has one.');
}

/** Replaces that of `node:fs/promises`, which loads readline. The SDK reads its configuration files with it. */
export function readFile(path: string, encoding: BufferEncoding): Promise<string> {
  return process.getBuiltinModule('node:fs').promises.readFile(path, encoding);
}
