import { execFile, spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { readStoreData } from '../../../../infra/local/storeData.ts';
import { statusOfCode } from '../../../../shared/contract/errorBody.ts';
import type { Operation } from '../../../../shared/contract/operation.ts';
import { operations } from '../../../../shared/contract/operations.ts';
import { openLocalTarget } from '../../localTarget.ts';
import type { ConformanceTarget } from '../../target.ts';

const root = join(import.meta.dirname, '../../../..');
const readme = readFileSync(join(root, 'README.md'), 'utf8');
const sample = new URL('../../../../infra/local/sample.json', import.meta.url);
const hasCurl = spawnSync('curl', ['--version']).status === 0;

let target: ConformanceTarget;
beforeAll(async () => {
  target = await openLocalTarget({ data: await readStoreData(sample) });
});
afterAll(() => target?.close());

/** The block of the README that has this text, as a reader with this stage and key has it. */
function findBlock(language: string, text: string): string {
  const blocks = [...readme.matchAll(new RegExp(`\`\`\`${language}\\n(.*?)\`\`\``, 'gs'))];
  const [, block = ''] = blocks.find(([block]) => block.includes(text)) ?? [];
  return block
    .replaceAll('http://127.0.0.1:3000/v1', target.baseUrl)
    .replace('psk_…', target.apiKey);
}

it.runIf(hasCurl)('the README’s curl lines read an entry and sell a piece of it', async () => {
  const { stdout } = await promisify(execFile)('sh', ['-c', findBlock('sh', 'curl')]);
  expect(stdout).toBe(
    '[{"petId":7,"quantity":9,"status":"available","etag":"\\"AAAACQBh\\""}]' +
      '{"petId":7,"quantity":8,"status":"available"}',
  );
});

it('the README’s TypeScript sells a piece', async () => {
  const module = ['--input-type=module-typescript', '--eval', findBlock('ts', 'updateStock')];
  const { stdout } = await promisify(execFile)(process.execPath, module, {
    cwd: root,
    env: { ...process.env, API_KEY: target.apiKey },
  });
  // After the curl lines have sold one of nine.
  expect(stdout).toBe(hasCurl ? '7\n' : '8\n');
});

it.each(Object.values<Operation>(operations))(
  'the README’s table has $operationId as the contract has it',
  ({ operationId, method, path, errors }) => {
    const row = readme.split('\n').find((line) => line.startsWith(`| ${operationId} `)) ?? '';
    expect(row).toContain(`\`${method} ${path}\``);
    expect(row).toMatch(
      new RegExp(`\\| ${errors.map((code) => statusOfCode[code]).join(', ')} \\|$`),
    );
  },
);
