import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { expect, it } from 'vitest';
import { situations } from './situations.ts';

const command = new URL('faults.ts', import.meta.url).pathname;

it('the part of the matrix that loses answers has nothing wrong', async () => {
  const { PATH, NODE_COMPILE_CACHE } = process.env;
  const { stdout } = await promisify(execFile)(
    process.execPath,
    [command, '--only', 'lostAnswer', '--lanes', '4', '--json'],
    { env: { PATH, NODE_COMPILE_CACHE }, maxBuffer: 10_000_000 },
  );
  const { cells } = JSON.parse(stdout) as { cells: { problem?: string }[] };
  expect(cells).toHaveLength(situations.length * 2);
  expect(cells.filter(({ problem }) => problem !== undefined)).toEqual([]);
});
