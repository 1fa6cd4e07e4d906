import { globSync, readFileSync } from 'node:fs';
import { dirname, join, normalize } from 'node:path';
import { describe, expect, it } from 'vitest';

const root = join(import.meta.dirname, '..');

/** What each folder may import: a folder of the project, or a package by its name. The first match counts. */
const rules: [folder: string, allowed: RegExp][] = [
  ['shared/contract', /^(shared\/contract|zod\/mini)/],
  ['shared/store', /^(shared\/(store|contract)|@aws-sdk\/|node:crypto)/],
  ['shared/keys', /^(shared\/(keys|contract)|@aws-sdk\/|node:)/],
  [
    'shared/http',
    /^(shared\/(http|contract|keys|runtime\/(logger|requestUnits))|@middy\/|aws-lambda|zod\/mini|node:)/,
  ],
  ['shared/runtime', /^(shared\/(runtime|contract|keys)|@aws-sdk\/|node:)/],
  ['functions', /^shared\//],
  ['infra/local', /^(infra\/|shared\/|functions\/|@aws-sdk\/|dynalite|aws-lambda|zod\/mini|node:)/],
  ['infra/ops', /^(infra\/|shared\/|@aws-sdk\/|zod\/mini|node:)/],
  ['infra', /^(infra\/(?!local|ops)|shared\/contract|aws-cdk-lib|cdk-nag|constructs|node:)/],
];

const sources = globSync('{functions,infra,shared}/**/*.ts', { cwd: root });

describe.each(sources)('%s', (file) => {
  const imports = toImports(file);

  it('imports only what its folder may', () => {
    const [, allowed] = rules.find(([folder]) => file.startsWith(`${folder}/`)) ?? [];
    expect(allowed).toBeDefined();
    expect(imports.filter((name) => !allowed?.test(name))).toEqual([]);
  });

  it('does not import a test', () => {
    expect(imports.filter((name) => name.startsWith('test/'))).toEqual([]);
  });
});

describe('the import rules', () => {
  it('see every kind of import', () => {
    const text = `import a from 'a';\nimport {\n  b,\n} from "./b.ts";\nexport { c } from '../c.ts';\nimport 'd';\nconst e = await import('./e.ts');`;
    expect(toImportedNames(text)).toEqual(['a', './b.ts', '../c.ts', 'd', './e.ts']);
  });

  it('go through every source file', () => {
    expect(sources).toContain('functions/updateInventory.ts');
    expect(sources.length).toBeGreaterThan(40);
  });
});

function toImports(file: string): string[] {
  return toImportedNames(readFileSync(join(root, file), 'utf8')).map((name) =>
    name.startsWith('.') ? normalize(join(dirname(file), name)) : name,
  );
}

function toImportedNames(text: string): string[] {
  const pattern = /(?:^import\s|\bfrom\s|\bimport\()\s*['"]([^'"]+)['"]/gm;
  return [...text.matchAll(pattern)].map(([, name]) => name ?? '');
}
