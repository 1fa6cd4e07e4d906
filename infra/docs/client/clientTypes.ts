import { execFile } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { build } from 'tsdown';
import { projectRoot } from '../../stages/projectRoot.ts';

/**
 * The types that the client exports, with those that they need, in one module without imports. Every compiler finds
 * them, with every `moduleResolution`.
 */
export function readClientTypes(): Promise<string> {
  types ??= buildTypes();
  return types;
}

/** Kept, since the documentation and the package both have them, and compiling takes a second. */
let types: Promise<string> | undefined;

async function buildTypes(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'petstore-client-types-'));
  try {
    const project = join(projectRoot, 'shared/client/tsconfig.json');
    const tsc = join(projectRoot, 'node_modules/.bin/tsc');
    // So small a project is not worth more threads.
    const options = ['--project', project, '--outDir', folder, '--singleThreaded'];
    await promisify(execFile)(tsc, options);
    const { bundles } = await build({
      config: false,
      cwd: folder,
      entry: 'client/index.d.ts',
      tsconfig: false,
      // It only joins declarations. Without a generator, it would look for TypeScript's API, which 7.0 does not have.
      dts: { dtsInput: true, emitDtsOnly: true, generator: 'oxc' },
      write: false,
      logLevel: 'error',
    });
    const [file] = bundles.flatMap(({ chunks }) => chunks);
    if (file?.type !== 'chunk') throw new Error('tsdown gave no types.');
    return file.code;
  } finally {
    await rm(folder, { recursive: true });
  }
}
