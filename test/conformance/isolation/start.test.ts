import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, expect, test } from 'vitest';
import { operationSettings } from '../../../infra/stages/stages.ts';
import { type TableName, tables } from '../../../infra/stages/tables.ts';
import { type OperationId, operationIds } from '../../../shared/contract/operations.ts';
import { buildBundle } from '../../support/bundles.ts';

const run = promisify(execFile);
const folder = mkdtempSync(join(tmpdir(), 'petstore-start-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/**
 * Starts a bundle as Lambda's runtime does, and says what that logs of a start that fails: one line
 * with the error's type and message. Then again without each of the variables.
 */
const runtime = join(folder, 'runtime.cjs');
writeFileSync(
  runtime,
  `const [, , bundle, ...names] = process.argv;
globalThis.awslambda = { streamifyResponse: (handler) => handler };
for (const name of ['NONE', ...names]) {
  const { [name]: value } = process.env;
  delete process.env[name];
  delete require.cache[bundle];
  try {
    process.stdout.write(JSON.stringify({ name, handler: typeof require(bundle).handler }) + '\\n');
  } catch ({ name: errorType, message: errorMessage }) {
    process.stdout.write(JSON.stringify({ name, errorType, errorMessage }) + '\\n');
  }
  if (value !== undefined) process.env[name] = value;
}
process.exit();
`,
);

const toVariables = (id: OperationId) => [
  'API_KEYS_TABLE',
  'ALLOWED_ORIGINS',
  'DOCUMENTATION_ADDRESS',
  ...Object.keys(operationSettings[id].access).map((table) => tables[table as TableName].variable),
];

test.each(operationIds)(
  '%s starts with its variables, and without one of them fails with a line that names it',
  async (id) => {
    const bundle = join(folder, `${id}.cjs`);
    writeFileSync(bundle, await buildBundle(id));
    const variables = toVariables(id);
    const { stdout, stderr } = await run(process.execPath, [runtime, bundle, ...variables], {
      env: {
        PATH: process.env.PATH,
        NODE_COMPILE_CACHE: process.env.NODE_COMPILE_CACHE,
        AWS_REGION: 'local',
        ...Object.fromEntries(variables.map((variable) => [variable, 'x'])),
      },
    });
    expect(stderr).toBe('');
    expect(
      stdout
        .trimEnd()
        .split('\n')
        .map((line) => JSON.parse(line)),
    ).toEqual([
      { name: 'NONE', handler: 'function' },
      ...variables.map((name) => ({
        name,
        errorType: 'Error',
        errorMessage: `The environment variable ${name} is not set.`,
      })),
    ]);
  },
);
