import { readdirSync } from 'node:fs';
import { expect, it, onTestFinished, vi } from 'vitest';
import { defineSortedRows } from '../../../../infra/ops/data/sortedRows.ts';
import { openTemporaryFolder } from '../../../support/temporaryFolder.ts';

it('many parts are read without a warning', async () => {
  const warn = vi.spyOn(process, 'emitWarning');
  onTestFinished(() => warn.mockRestore());
  const folder = openTemporaryFolder();
  await using sorted = defineSortedRows(folder.toPath('.rows'), 1);
  const lines = Array.from({ length: 40 }, (_, id) => `${id},1,sold`);
  await sorted.add(lines.toReversed());
  expect((await Array.fromAsync(sorted.read())).join('')).toBe(`${lines.join('\n')}\n`);
  expect(warn).not.toHaveBeenCalled();
});

it.each([1, 400, 1_000_000])('rows are sorted by id in parts of %d bytes', async (part) => {
  const folder = openTemporaryFolder();
  const ids = [3n, -1n, 2n ** 63n - 1n, 7n, -(2n ** 63n), 2n ** 63n - 2n, 10n, 9n];
  const lines = [...ids.map((id) => `${id},1,sold`), '{"id":8,"name":"猫"}', '{"id":8,"at":"b"}'];
  {
    await using sorted = defineSortedRows(folder.toPath('.rows'), part);
    await sorted.add(lines.slice(0, 4));
    await sorted.add(lines.slice(4));
    const found = (await Array.fromAsync(sorted.read())).join('').split('\n');
    expect(found).toEqual([
      `${-(2n ** 63n)},1,sold`,
      ...['-1,1,sold', '3,1,sold', '7,1,sold', '{"id":8,"at":"b"}', '{"id":8,"name":"猫"}'],
      ...['9,1,sold', '10,1,sold', `${2n ** 63n - 2n},1,sold`, `${2n ** 63n - 1n},1,sold`, ''],
    ]);
  }
  expect(readdirSync(folder.folder)).toEqual([]);
});
