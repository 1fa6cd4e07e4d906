import { readdirSync } from 'node:fs';
import { expect, it } from 'vitest';
import { openSortedRows } from '../../../../infra/ops/data/sortedRows.ts';
import { openTemporaryFolder } from '../../../support/temporaryFolder.ts';

const { signal } = new AbortController();

it('rows are sorted by id, and rows of one id stay in their order', async () => {
  const folder = openTemporaryFolder();
  const ids = [3n, -1n, 2n ** 63n - 1n, 7n, -(2n ** 63n), 2n ** 63n - 2n, 10n, 9n];
  const lines = [...ids.map((id) => `${id},1,sold`), '{"id":8,"name":"猫"}', '{"id":8,"at":"b"}'];
  {
    await using sorted = await openSortedRows(folder.toPath('.rows'), signal);
    await sorted.add(lines.slice(0, 4));
    await sorted.add(lines.slice(4));
    const found = (await Array.fromAsync(sorted.read())).join('').split('\n');
    expect(found).toEqual([
      `${-(2n ** 63n)},1,sold`,
      ...['-1,1,sold', '3,1,sold', '7,1,sold', '{"id":8,"name":"猫"}', '{"id":8,"at":"b"}'],
      ...['9,1,sold', '10,1,sold', `${2n ** 63n - 2n},1,sold`, `${2n ** 63n - 1n},1,sold`, ''],
    ]);
  }
  expect(readdirSync(folder.folder)).toEqual([]);
});

// More than the limit of memory. DuckDB's sort of the rows themselves would run out of it.
it('long rows are sorted among short ones', async () => {
  const folder = openTemporaryFolder();
  const toLine = (id: number) => `{"id":${id},"name":"${'猫'.repeat(id % 2 ? 1 : 4_000)}"}`;
  const ids = Array.from({ length: 20_000 }, (_, index) => (index * 7_919) % 20_000);
  await using sorted = await openSortedRows(folder.toPath('.rows'), signal);
  for (let at = 0; at < ids.length; at += 500) {
    await sorted.add(ids.slice(at, at + 500).map(toLine));
  }
  let next = 0;
  let rest = '';
  for await (const text of sorted.read()) {
    const lines = (rest + text).split('\n');
    rest = lines.pop() ?? '';
    for (const line of lines) if (line === toLine(next)) next += 1;
  }
  expect([next, rest]).toEqual([ids.length, '']);
});
