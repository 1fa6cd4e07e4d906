import { execFile } from 'node:child_process';
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join, normalize } from 'node:path';
import { promisify } from 'node:util';
import { projectRoot } from './bundleClient.ts';

/** The package's types, relative to their folder. */
export const ENTRY = 'client/index.d.ts';

/**
 * Writes the types that the client's entry file leads to, and no others: those of the contract's schemas
 * would need zod.
 */
export async function declareTypes(folder: string): Promise<void> {
  const all = await mkdtemp(join(tmpdir(), 'petstore-client-types-'));
  try {
    await promisify(execFile)(join(projectRoot, 'node_modules/.bin/tsc'), [
      ...['--project', join(projectRoot, 'shared/client/tsconfig.json')],
      ...['--outDir', all],
    ]);
    await copyDeclarations(all, folder);
  } finally {
    await rm(all, { recursive: true });
  }
}

/** A file that another imports. */
const source = /'(\.[^']+)\.ts'/g;

async function copyDeclarations(from: string, to: string): Promise<void> {
  const files = new Set([ENTRY]);
  for (const file of files) {
    const text = await readFile(join(from, file), 'utf8');
    for (const [, name = ''] of text.matchAll(source)) {
      files.add(normalize(join(dirname(file), `${name}.d.ts`)));
    }
    await mkdir(dirname(join(to, file)), { recursive: true });
    await writeFile(join(to, file), text.replace(source, "'$1.js'"));
  }
}
