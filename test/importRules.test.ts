import { globSync, readFileSync, statSync } from 'node:fs';
import { dirname, join, normalize } from 'node:path';
import { describe, expect, it } from 'vitest';

const root = join(import.meta.dirname, '..');

/** What each room may import: files of other rooms, and packages by name. A room's own files go without saying. */
interface Rule {
  readonly rooms: readonly string[];
  readonly packages: RegExp;
}

const nothing = /^$/;
const cdk = /^(aws-cdk-lib|constructs)(\/|$)|^node:/;
const sdk = /^@aws-sdk\/|^node:/;

/** The rooms from the ground up; each imports only rooms above its line here, so that arrows run one way. */
const rooms: Readonly<Record<string, Rule>> = {
  'shared/contract/values': { rooms: [], packages: nothing },
  'shared/contract/parameters': { rooms: ['shared/contract/values'], packages: nothing },
  'shared/contract/errors': { rooms: ['shared/contract/parameters'], packages: nothing },
  'shared/contract/schemas': {
    rooms: ['shared/contract/values', 'shared/contract/errors'],
    packages: /^zod\/mini$/,
  },
  'shared/contract': {
    rooms: [
      'shared/contract/values',
      'shared/contract/parameters',
      'shared/contract/errors',
      'shared/contract/schemas',
    ],
    packages: /^zod\/mini$/,
  },
  'shared/keys': { rooms: ['shared/contract'], packages: sdk },
  'shared/runtime': {
    rooms: ['shared/contract', 'shared/keys'],
    packages: /^@aws-sdk\/|^@smithy\/core\/retry$|^node:/,
  },
  'shared/store': {
    rooms: ['shared/contract'],
    packages: /^@aws-sdk\/|^@smithy\/core\/retry$|^node:crypto$/,
  },
  'shared/http': {
    rooms: [
      'shared/contract',
      'shared/keys',
      'shared/runtime/logger.ts',
      'shared/runtime/requestDeadline.ts',
      'shared/runtime/requestUnits.ts',
    ],
    packages: /^@middy\/|^aws-lambda$|^zod\/mini$|^node:/,
  },
  functions: { rooms: ['shared'], packages: nothing },

  // Browsers load it. Of the contract it has but types, and the codes of errors.
  'shared/client/json': { rooms: [], packages: nothing },
  'shared/client/http': {
    rooms: ['shared/client/json', 'shared/contract'],
    packages: nothing,
  },
  'shared/client/operations': {
    rooms: ['shared/client/http', 'shared/client/json', 'shared/contract'],
    packages: nothing,
  },
  'shared/client': {
    rooms: ['shared/client/operations', 'shared/client/http', 'shared/contract'],
    packages: nothing,
  },
  'shared/client/examples': { rooms: ['shared/client/index.ts'], packages: /^node:/ },
  'infra/client': { rooms: [], packages: /^esbuild$|^node:/ },

  'infra/stages': { rooms: ['shared/contract'], packages: /^node:child_process$/ },
  'infra/cli': { rooms: ['infra/stages'], packages: sdk },
  'infra/costs/prices': { rooms: [], packages: nothing },
  'infra/costs/units': { rooms: ['shared/contract'], packages: /^node:fs$/ },
  'infra/costs/bills': {
    rooms: ['infra/costs/prices', 'infra/costs/units', 'infra/stages', 'shared/contract'],
    packages: /^node:fs$/,
  },
  'infra/metrics': {
    rooms: ['infra/stages', 'shared/contract'],
    packages: cdk,
  },
  'infra/service/bundling': { rooms: ['shared/contract'], packages: cdk },
  'infra/service': {
    rooms: ['infra/service/bundling', 'infra/metrics', 'infra/stages', 'shared/contract'],
    packages: cdk,
  },
  'infra/gateway': { rooms: ['infra/service', 'infra/stages', 'shared/contract'], packages: cdk },
  'infra/backup': {
    rooms: ['infra/service/dataTables.ts', 'infra/service/keptPolicy.ts', 'infra/stages'],
    packages: cdk,
  },
  'infra/openapi': {
    rooms: ['infra/stages', 'shared/contract'],
    packages: /^zod\/mini$/,
  },
  'infra/openapi/answers': {
    rooms: ['infra/openapi', 'shared/contract'],
    packages: /^ajv(-formats)?(\/|$)|^node:zlib$/,
  },
  // A function, which the watch stack has run on a schedule.
  'infra/watch/check': { rooms: ['shared/contract'], packages: sdk },
  'infra/watch': {
    rooms: [
      'infra/watch/check',
      'infra/costs/bills',
      'infra/metrics',
      'infra/stages',
      'shared/contract',
    ],
    packages: cdk,
  },
  'infra/bulk': {
    rooms: ['infra/stages', 'shared/contract', 'shared/store', 'shared/runtime'],
    packages: /^zod\/mini$|^@aws-sdk\/|^node:/,
  },
  'infra/ops/keys': { rooms: ['infra/cli', 'shared/contract', 'shared/keys'], packages: /^node:/ },
  'infra/ops/data/files': {
    rooms: ['infra/cli', 'infra/bulk', 'shared/contract'],
    packages: /^node:/,
  },
  'infra/ops/data': {
    rooms: ['infra/ops/data/files', 'infra/cli', 'infra/bulk', 'shared/contract'],
    packages: sdk,
  },
  'infra/ops/costs': {
    rooms: [
      'infra/cli',
      'infra/costs/bills',
      'infra/costs/prices',
      'infra/costs/units',
      'infra/ops/data/files',
      'infra/stages',
      'shared/contract',
    ],
    packages: /^hyparquet$|^@aws-sdk\/|^node:/,
  },
  'infra/docs/markdown': { rooms: [], packages: nothing },
  'infra/supply': { rooms: ['infra/cli', 'shared/keys/apiKey.ts'], packages: /^node:/ },
  infra: {
    rooms: ['infra/stages', 'infra/service', 'infra/gateway', 'infra/backup', 'infra/watch'],
    packages: /^(aws-cdk-lib|cdk-nag|constructs)(\/|$)/,
  },
  'infra/docs': {
    rooms: [
      'infra/costs/bills',
      'infra/costs/prices',
      'infra/docs/markdown',
      'infra/gateway/gatewayErrors.ts',
      'infra/gateway/gatewayLimits.ts',
      'infra/openapi/openApi.ts',
      'infra/stages',
      'shared/contract',
      'shared/http/toErrorResponse.ts',
    ],
    packages: /^(@scalar\/fastify-api-reference|fastify|marked)$|^node:/,
  },
  'infra/ops/rollback': {
    rooms: ['infra/cli', 'infra/stages', 'shared/contract'],
    packages: sdk,
  },
  'infra/ops/logs': {
    rooms: ['infra/cli', 'infra/stages', 'shared/contract'],
    packages: sdk,
  },
  'infra/ops/restore': {
    rooms: ['infra/cli', 'infra/stages', 'shared/runtime/isOutage.ts'],
    packages: sdk,
  },
  'infra/ops/smoke/asking': {
    rooms: ['infra/openapi/answers', 'infra/stages', 'shared/contract'],
    packages: /^node:/,
  },
  'infra/ops/smoke/lists': {
    rooms: ['infra/ops/smoke/asking', 'shared/contract'],
    packages: nothing,
  },
  'infra/ops/smoke/rows': {
    rooms: ['infra/ops/smoke/asking', 'infra/ops/smoke/lists', 'shared/contract', 'shared/keys'],
    packages: /^node:/,
  },
  'infra/ops/smoke': {
    rooms: [
      'infra/ops/smoke/asking',
      'infra/ops/smoke/rows',
      'infra/cli',
      'infra/stages',
      'shared/contract',
    ],
    packages: /^node:/,
  },
  'infra/local/lambda': {
    rooms: ['infra/stages', 'functions', 'shared/contract'],
    packages: /^aws-lambda$|^node:/,
  },
  'infra/local/gateway': {
    rooms: [
      'infra/gateway/accessLogFormat.ts',
      'infra/gateway/gatewayErrors.ts',
      'infra/gateway/gatewayLimits.ts',
      'infra/local/lambda',
      'shared/contract',
    ],
    packages: /^aws-lambda$|^zod\/mini$|^node:/,
  },
  'infra/local/engine': { rooms: [], packages: /^dynalite(\/|$)|^node:/ },
  'infra/local': {
    rooms: [
      'infra/local/engine',
      'infra/local/gateway',
      'infra/local/lambda',
      'infra/docs',
      'infra/gateway/gatewayErrors.ts',
      'infra/cli',
      'infra/bulk',
      'infra/stages',
      'shared',
    ],
    packages: /^aws-lambda$|^zod\/mini$|^@aws-sdk\/|^node:/,
  },
};

/** Who opens a folder should see all of it at a glance. */
const MOST_FILES = 15;

const sources = globSync('{functions,infra,shared}/**/*.ts', { cwd: root });

describe.each(sources)('%s', (file) => {
  it('imports only what its room may', () => {
    const room = toRoom(file);
    const { rooms: allowed, packages } = rooms[room] as Rule;
    const isAllowed = (name: string) =>
      name.endsWith('.ts')
        ? toRoom(name) === room || allowed.some((one) => name === one || name.startsWith(`${one}/`))
        : packages.test(name);
    expect(toImports(file).filter((name) => !isAllowed(name))).toEqual([]);
  });
});

describe('the import rules', () => {
  it('see every kind of import', () => {
    const text = `import a from 'a';\nimport {\n  b,\n} from "./b.ts";\nexport { c } from '../c.ts';\nimport 'd';\nconst e = await import('./e.ts');`;
    expect(toImportedNames(text)).toEqual(['a', './b.ts', '../c.ts', 'd', './e.ts']);
  });

  it('go through every source file, each in a room of its own folder', () => {
    expect(sources).toContain('functions/updateInventory.ts');
    expect(sources.length).toBeGreaterThan(100);
    for (const file of sources) expect(toRoom(file)).toBeDefined();
  });

  it('let no files import each other in a circle', () => {
    const below = new Map(sources.map((file) => [file, toImports(file)]));
    const done = new Set<string>();
    function visit(file: string, path: readonly string[]): void {
      if (path.includes(file)) expect.fail(`${[...path, file].join(' → ')}`);
      if (done.has(file)) return;
      for (const name of below.get(file) ?? []) visit(name, [...path, file]);
      done.add(file);
    }
    for (const file of sources) visit(file, []);
  });

  it('let no rooms import each other in a circle', () => {
    const order = Object.keys(rooms);
    for (const [index, room] of order.entries()) {
      const upward = (rooms[room]?.rooms ?? [])
        .map((name) => (name.endsWith('.ts') ? toRoom(name) : name))
        .filter((name) => order.indexOf(name) >= index);
      expect(upward, room).toEqual([]);
    }
  });
});

describe('a folder', () => {
  const files = globSync('{functions,infra,shared,test}/**/*', { cwd: root }).filter((path) =>
    statSync(join(root, path)).isFile(),
  );
  const folders = Map.groupBy(files, dirname);

  it.each([...folders.keys()])(`%s holds at most ${MOST_FILES} files`, (folder) => {
    expect(folders.get(folder)?.length).toBeLessThanOrEqual(MOST_FILES);
  });
});

/** The most deeply nested room that the file lies in. */
function toRoom(file: string): string {
  let folder = dirname(file);
  while (!(folder in rooms) && folder !== '.') folder = dirname(folder);
  return folder;
}

function toImports(file: string): string[] {
  return toImportedNames(readFileSync(join(root, file), 'utf8'))
    .map((name) => (name.startsWith('.') ? normalize(join(dirname(file), name)) : name))
    .filter((name) => !name.endsWith('.json'));
}

function toImportedNames(text: string): string[] {
  const pattern = /(?:^import\s|\bfrom\s|\bimport\()\s*['"]([^'"]+)['"]/gm;
  return [...text.matchAll(pattern)].map(([, name]) => name ?? '');
}
