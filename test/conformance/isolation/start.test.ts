import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, expect, test } from 'vitest';
import { operationSettings } from '../../../infra/stages/stages.ts';
import { type TableName, tables } from '../../../infra/stages/tables.ts';
import { operationIds } from '../../../shared/contract/operations.ts';
import { buildBundle } from '../../support/bundles.ts';

const folder = mkdtempSync(join(tmpdir(), 'petstore-start-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** Loads a bundle as Lambda's runtime does, then again without each of the variables, and prints the outcomes. */
const runtime = `
const [, bundle, ...names] = process.argv;
globalThis.awslambda = { streamifyResponse: (handler) => handler };
const outcomes = ['NONE', ...names].map((name) => {
  const { [name]: value } = process.env;
  delete process.env[name];
  delete require.cache[bundle];
  try {
    return typeof require(bundle).handler;
  } catch ({ message }) {
    return message;
  } finally {
    if (value !== undefined) process.env[name] = value;
  }
});
console.log(JSON.stringify(outcomes));
process.exit();
`;

test.each(operationIds)(
  '%s starts with its variables, and without one of them fails with a line that names it',
  async (id) => {
    const bundle = join(folder, `${id}.cjs`);
    writeFileSync(bundle, await buildBundle(id));
    const names = Object.keys(operationSettings[id].access) as TableName[];
    const variables = [
      ...['API_KEYS_TABLE', 'ALLOWED_ORIGINS', 'DOCUMENTATION_ADDRESS'],
      ...names.map((table) => tables[table].variable),
    ];
    const { PATH, NODE_COMPILE_CACHE } = process.env;
    const set = Object.fromEntries(variables.map((variable) => [variable, 'x']));
    const env = { PATH, NODE_COMPILE_CACHE, AWS_REGION: 'local', ...set };
    const args = ['-e', runtime, bundle, ...variables];
    expect(await promisify(execFile)(process.execPath, args, { env })).toEqual({
      stderr: '',
      stdout: `${JSON.stringify([
        'function',
        ...variables.map((name) => `The environment variable ${name} is not set.`),
      ])}\n`,
    });
  },
);
