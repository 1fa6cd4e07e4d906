import { readFileSync } from 'node:fs';
import { beforeAll, describe, expect, it } from 'vitest';
import { replacements } from '../../../../infra/service/bundling/bundling.ts';
import { operationIds } from '../../../../shared/contract/operations.ts';
import { readMetafile } from '../../../support/bundles.ts';

/** The files of all bundles that import each replaced module. */
const importers = new Map(
  Object.keys(replacements).map((module) => [module, new Set<string>()] as const),
);

beforeAll(async () => {
  for (const id of operationIds) {
    for (const [file, { imports }] of Object.entries((await readMetafile(id)).inputs)) {
      for (const { original = '' } of imports) {
        (importers.get(original) ?? importers.get(`node:${original}`))?.add(file);
      }
    }
  }
});

describe.each(Object.entries(replacements))('what takes the place of %s', (module, path) => {
  // esbuild says nothing of a name that is missing behind `import * as`; it is undefined when called.
  it('exports every name that is used of it', async () => {
    const exported = Object.keys(await import(path));
    const files = [...(importers.get(module) ?? [])];
    expect(files).not.toEqual([]);
    for (const file of files) {
      const used = toUsedNames(readFileSync(file, 'utf8'), module.replace(/^node:/, ''));
      expect(used, file).not.toEqual([]);
      expect(exported, file).toEqual(expect.arrayContaining(used));
    }
  });
});

describe('the names that a file uses of a module', () => {
  it.each([
    ['import { a, b as c } from "x";', ['a', 'b']],
    ["import d, { a } from 'node:x';", ['a', 'default']],
    ['import * as n from "x"; n.a(); call(n.b, n.a);', ['a', 'b']],
    ['const { a, b: c } = require("x");', ['a', 'b']],
    ['var n = require("node:x"); n.a()', ['a']],
    ['const { a } = await import("x");', ['a']],
  ])('of %s are %j', (text, names) => {
    expect(toUsedNames(text, 'x')).toEqual(names);
  });

  it.each(['export * from "x";', 'import("x").then(use)', 'import * as n from "x"; use(n);'])(
    'cannot be told of %s',
    (text) => {
      expect(() => toUsedNames(text, 'x')).toThrow('cannot be told');
    },
  );
});

/** @throws {Error} when the module is used in a way that does not tell its names */
function toUsedNames(text: string, module: string): string[] {
  const specifier = `['"](?:node:)?${module.replaceAll('.', '\\.')}['"]`;
  const mentions =
    text.match(new RegExp(`(?:from|import|require)\\s*\\(?\\s*${specifier}`, 'g')) ?? [];
  const statement = new RegExp(
    `(?:import|const|var|let)\\s+([^;=]*?)\\s*(?:from|=\\s*(?:await\\s+)?(?:import|require)\\s*\\()\\s*${specifier}`,
    'g',
  );
  const clauses = [...text.matchAll(statement)].map(([, clause]) => clause ?? '');
  const names = clauses.flatMap((clause) => toNames(clause, text));
  if (clauses.length < mentions.length || names.length < clauses.length) {
    throw new Error(`Which names of ${module} are used cannot be told.`);
  }
  return [...new Set(names)].sort();
}

/** The names behind one import: listed in braces, members of a namespace, or the default. */
function toNames(clause: string, text: string): string[] {
  const [, listed = ''] = /\{([^}]*)\}/.exec(clause) ?? [];
  const inBraces = listed
    .split(',')
    .map((name) => name.trim().split(/\s+as\s+|\s*:\s*/)[0] ?? '')
    .filter((name) => name !== '');
  const [, namespace] = /^(?:\*\s+as\s+)?(\w+)/.exec(clause) ?? [];
  if (namespace === undefined) return inBraces;
  if (clause.includes('{')) return [...inBraces, 'default'];
  const isDefault = !clause.startsWith('*') && text.includes(`import ${namespace}`);
  if (isDefault) return ['default'];
  const members = text.matchAll(new RegExp(`\\b${namespace}\\.(\\w+)`, 'g'));
  return [...members].map(([, member]) => member ?? '');
}
