import { readdirSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname } from 'node:path';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { type TableDefinition, tables } from '../../../../infra/stages/tables.ts';
import { operationIds } from '../../../../shared/contract/operations.ts';
import { buildBundle } from '../../../support/bundles.ts';
import { synthesizeBundles } from '../../../support/synthesizedAssembly.ts';

/** Bytes. A cold start reads and compiles all of it: find out what grew before raising this. */
const BUDGET = 225_000;

const bundles = await synthesizeBundles();

describe.each(operationIds)('the bundle of %s', (id) => {
  const path = bundles[id];
  const code = readFileSync(path, 'utf8');

  beforeAll(() => {
    vi.stubEnv('AWS_REGION', 'us-east-1');
    vi.stubEnv('ALLOWED_ORIGINS', '*');
    vi.stubEnv('DOCUMENTATION_ADDRESS', 'https://docs.petstore.example');
    for (const { variable } of Object.values<TableDefinition>(tables))
      vi.stubEnv(variable, 'table');
    vi.stubGlobal('awslambda', { streamifyResponse: (handler: unknown) => handler });
  });
  afterAll(() => {
    vi.unstubAllEnvs();
    vi.unstubAllGlobals();
  });

  it('is one CommonJS file that exports the handler', () => {
    expect(readdirSync(dirname(path))).toEqual(['index.js']);
    expect(createRequire(path)(path).handler).toBeTypeOf('function');
  });

  it('is byte for byte what other tests build without the CDK', async () => {
    expect(Buffer.from(await buildBundle(id)).equals(readFileSync(path))).toBe(true);
  });

  it('stays within its budget', () => {
    expect(Buffer.byteLength(code)).toBeLessThan(BUDGET);
  });

  it('brings its own SDK', () => {
    expect(code).not.toMatch(/require\("@/);
    expect(code).toContain('DynamoDB_20120810');
  });

  it.each([
    ['SSO', 'GetRoleCredentials'],
    ['STS', 'AssumeRoleWithWebIdentity'],
    ['process', 'credential_process'],
    ['container', 'AWS_CONTAINER_CREDENTIALS_RELATIVE_URI'],
    ['instance metadata', 'meta-data/iam'],
  ])('leaves the %s credentials out', (_, trace) => {
    expect(code).not.toContain(trace);
  });

  it('takes its credentials from the environment', () => {
    expect(code).toContain('AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY must both be set.');
  });
});
