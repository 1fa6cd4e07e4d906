import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { statusOfCode } from '../../../../shared/contract/errorBody.ts';
import type { Operation } from '../../../../shared/contract/operation.ts';
import { operations } from '../../../../shared/contract/operations.ts';

const readme = readFileSync(new URL('../../../../README.md', import.meta.url), 'utf8');

it.each(Object.values<Operation>(operations))(
  'the README’s table has $operationId as in the contract',
  ({ operationId, method, path, errors }) => {
    const row = readme.split('\n').find((line) => line.startsWith(`| ${operationId} `)) ?? '';
    expect(row).toContain(`\`${method} ${path}\``);
    expect(row).toMatch(
      new RegExp(`\\| ${errors.map((code) => statusOfCode[code]).join(', ')} \\|$`),
    );
  },
);
