import { globSync, readFileSync } from 'node:fs';
import { dirname, join, normalize } from 'node:path';
import { expect, it, test } from 'vitest';
import { projectRoot } from '../infra/stages/projectRoot.ts';

/** The rooms from the ground up: each imports only rooms before it. A file belongs to the longest matching name. */
const rooms = [
  ...['shared/contract', 'shared/keys', 'shared/runtime', 'shared/store', 'shared/http'],
  ...['shared/client', 'functions', 'infra/stages', 'infra/gateway', 'infra/cli', 'infra/deploy'],
  ...['infra/costs', 'infra/docs', 'infra/local', 'infra/ops', 'infra'],
];

/** The allowed imports, of files by path and packages by name. */
const rules: readonly [importer: string, from: RegExp, allowed: RegExp][] = [
  ['nobody imports tests', /./, /^(?!test\/)/],
  ['the contract imports only zod', /^shared\/contract\//, /^(shared\/contract\/|zod\/mini$)/],
  ['functions import only shared', /^functions\//, /^shared\//],
  ['only the local stage imports functions', /^(?!infra\/local\/)/, /^(?!functions\/)/],
  [
    'only the command line imports costs',
    /^infra\/(?!costs\/|petstore\.ts$)|^(?!infra\/)/,
    /^(?!infra\/costs\/)/,
  ],
  [
    'the client imports no package',
    /^shared\/client\/(?!examples\/)/,
    /^shared\/(client|contract)\//,
  ],
];

const read = (file: string) => readFileSync(join(projectRoot, file), 'utf8');
const sources = globSync('{functions,infra,shared}/**/*.ts', { cwd: projectRoot });
const imports = new Map(sources.map((file) => [file, toImports(file)]));

function findArrows(isWrong: (from: string, to: string) => boolean): string[] {
  return [...imports].flatMap(([from, names]) =>
    names.filter((to) => isWrong(from, to)).map((to) => `${from} imports ${to}`),
  );
}

it('sees every kind of import', () => {
  const text = `import a from 'a';\nimport {\n  b,\n} from "./b.ts";\nexport { c } from '../c.ts';\nimport 'd';\nconst e = await import('./e.ts');`;
  expect(toNames(text)).toEqual(['a', './b.ts', '../c.ts', 'd', './e.ts']);
  expect(findArrows(() => true).length).toBeGreaterThan(500);
});

it('lets rooms import only those before them', () => {
  const isUpward = (from: string, to: string) => imports.has(to) && toFloor(to) > toFloor(from);
  expect(findArrows(isUpward)).toEqual([]);
});

it('allows no circular imports', () => {
  const done = new Set<string>();
  function visit(file: string, path: readonly string[]): void {
    if (path.includes(file)) expect.fail([...path, file].join(' → '));
    if (done.has(file)) return;
    for (const name of imports.get(file) ?? []) visit(name, [...path, file]);
    done.add(file);
  }
  for (const file of sources) visit(file, []);
});

test.each(rules)('%s', (_, importer, allowed) => {
  expect(findArrows((from, to) => importer.test(from) && !allowed.test(to))).toEqual([]);
});

it('imports zod only as `* as z` of zod/mini where it is bundled: a named import bundles every locale', () => {
  const bundled = sources.filter((file) =>
    /^(functions|shared|infra\/gateway|infra\/deploy\/(watch\/check|hook))\//.test(file),
  );
  const lines = bundled.flatMap((file) => read(file).match(/.* from ['"]zod.*$/gm) ?? []);
  expect(new Set(lines)).toEqual(
    new Set(["import * as z from 'zod/mini';", "import type * as z from 'zod/mini';"]),
  );
});

it('lets no command load the CDK, except its list of regions, and to count what costs money', () => {
  const builder = 'infra/deploy/buildApp.ts';
  const importers = [...imports].flatMap(([from, to]) => (to.includes(builder) ? [from] : []));
  expect(importers.sort()).toEqual(['infra/app.ts', 'infra/costs/resources.ts']);
  expect(read('infra/costs/resources.ts').match(/.*buildApp\.ts.*/g)).toEqual([
    expect.stringContaining(' = await import('),
  ]);
  const loaded = new Set(['infra/petstore.ts', 'infra/docs/client/client.ts']);
  for (const file of loaded) {
    for (const name of imports.get(file) ?? []) if (name !== builder) loaded.add(name);
  }
  expect(loaded).toContain('infra/ops/keys/runKeys.ts');
  const ofCdk = [...loaded].filter((name) => /^(aws-cdk-lib|cdk-nag|constructs)\b/.test(name));
  expect(ofCdk).toEqual(['aws-cdk-lib/region-info']);
});

/** Fails for a folder that no room names. */
function toFloor(file: string): number {
  const names = rooms.filter((room) => `${file}/`.startsWith(`${room}/`));
  const [own] = names.sort((one, other) => other.length - one.length);
  expect(own, file).toBeDefined();
  return rooms.indexOf(own ?? '');
}

function toImports(file: string): string[] {
  return toNames(read(file)).map((name) =>
    name.startsWith('.') ? normalize(join(dirname(file), name)) : name,
  );
}

function toNames(text: string): string[] {
  const pattern = /(?:^import\s|\bfrom\s|\bimport\()\s*['"]([^'"]+)['"]/gm;
  return [...text.matchAll(pattern)].map(([, name]) => name ?? '');
}
