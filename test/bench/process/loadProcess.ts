import { createRequire } from 'node:module';
import { pathToFileURL } from 'node:url';
import { defineLambdaRuntime } from './lambdaRuntime.ts';

/** What loading a bundle took, in a process that has loaded nothing else. */
export interface LoadSample {
  readonly milliseconds: number;
  /** Of all threads of the process. */
  readonly cpuMilliseconds: number;
  /** The modules of Node's own that were loaded with it, internal ones included. */
  readonly builtins: readonly string[];
}

const [bundle = ''] = process.argv.slice(2);
defineLambdaRuntime();
const require = createRequire(bundle);
// Lambda's runtime is an ES module itself, so the loader of both kinds is up before a function is.
await import('node:module');

const known = new Set(toLoaded());
const cpu = process.cpuUsage();
const started = performance.now();
await (bundle.endsWith('.mjs') ? import(pathToFileURL(bundle).href) : require(bundle));
const milliseconds = performance.now() - started;
const { user, system } = process.cpuUsage(cpu);
const sample: LoadSample = {
  milliseconds,
  cpuMilliseconds: (user + system) / 1_000,
  builtins: toLoaded().filter((name) => !known.has(name)),
};
process.send?.(sample);
process.disconnect();

function toLoaded(): string[] {
  const { moduleLoadList } = process as unknown as { moduleLoadList: string[] };
  return moduleLoadList
    .filter((entry) => entry.startsWith('NativeModule '))
    .map((entry) => entry.slice('NativeModule '.length));
}
