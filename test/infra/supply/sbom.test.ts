import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { homedir, tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import type { Bom } from '../../../infra/supply/runtimeBom.ts';
import lock from '../../../package-lock.json' with { type: 'json' };

const root = join(import.meta.dirname, '../../..');
let folder: string;
let texts: Record<'all' | 'runtime', string>;

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'petstore-sbom-'));
  const env = { PATH: process.env.PATH, NODE_COMPILE_CACHE: process.env.NODE_COMPILE_CACHE };
  execFileSync(process.execPath, ['infra/supply/sbom.ts', '--out', folder], { cwd: root, env });
  const read = (name: string) => readFileSync(join(folder, `${name}.cdx.json`), 'utf8');
  texts = { all: read('all'), runtime: read('runtime') };
});
afterAll(() => rmSync(folder, { recursive: true }));

interface Locked {
  readonly version: string;
  readonly dev?: boolean;
  readonly optional?: boolean;
}

/** Of the lock file, as `name@version`, in order. */
function toIds(isWanted: (one: Locked) => boolean): string[] {
  const { '': _, ...packages } = lock.packages as Record<string, unknown> as Record<string, Locked>;
  const wanted = Object.entries(packages).filter(([, one]) => isWanted(one));
  const ids = wanted.map(
    ([path, { version }]) => `${path.replace(/^.*node_modules\//, '')}@${version}`,
  );
  return [...new Set(ids)].sort();
}

const read = (name: 'all' | 'runtime') => JSON.parse(texts[name]) as Bom & { bomFormat: string };
const idsOf = (bom: Bom) =>
  [...new Set(bom.components.map(({ purl }) => decodeURIComponent(purl).slice(8)))].sort();

it('lists every package of the lock file', () => {
  expect(read('all').bomFormat).toBe('CycloneDX');
  expect(idsOf(read('all'))).toEqual(toIds(() => true));
});

it('lists apart what the functions can be made of', () => {
  const ids = idsOf(read('runtime'));
  expect(ids).toEqual(toIds(({ dev, optional }) => !dev && !optional));
  // What development needs too, which npm's own --omit dev leaves out.
  expect(ids.map((id) => id.replace(/@[^@]+$/, ''))).toEqual(
    expect.arrayContaining(['zod', '@aws-sdk/client-dynamodb', '@middy/core']),
  );
});

it('has a relation only to what it lists', () => {
  const { metadata, components, dependencies } = read('runtime');
  const refs = [metadata.component, ...components].map((one) => one['bom-ref']);
  expect(dependencies.map(({ ref }) => ref).sort()).toEqual(refs.sort());
  for (const { dependsOn } of dependencies)
    expect(refs).toEqual(expect.arrayContaining([...dependsOn]));
});

it('has the project’s name, and nothing of the machine', () => {
  for (const name of ['all', 'runtime'] as const) {
    expect(read(name).metadata.component.name).toBe('petstore-inventory-service');
    expect(texts[name]).not.toContain(root);
    expect(texts[name]).not.toContain(homedir());
    expect(texts[name]).not.toContain(`"${basename(root)}"`);
  }
});
