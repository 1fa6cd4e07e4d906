import { spawnSync } from 'node:child_process';
import { lstatSync, readdirSync, symlinkSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import type { ResourceName } from '../../../../infra/bulk/resources.ts';
import { readRows } from '../../../../infra/ops/data/dataFile.ts';
import { replaceFile } from '../../../../infra/ops/data/runExport.ts';
import { openTemporaryFolder } from '../../../support/temporaryFolder.ts';

const data = openTemporaryFolder();

async function readAll(content: string | Buffer, format: 'csv' | 'jsonl', name: ResourceName) {
  const file = data.write('file', content);
  const rows = await Array.fromAsync(readRows({ name, file, format }));
  return rows.map((row) => ('problem' in row ? `${row.line}: ${row.problem}` : row.entry.key));
}

describe('a CSV file', () => {
  const readStock = (content: string | Buffer) => readAll(content, 'csv', 'inventory');

  it('may have a byte order mark, CRLF, quotes, empty lines, columns in any order and no last line end', async () => {
    const content =
      '\uFEFFstatus,"petId",quantity\r\nsold,1,2\r\n\r\n"sold","-9223372036854775808","3"';
    expect(await readStock(content)).toEqual(['petId 1', 'petId -9223372036854775808']);
  });

  it.each([
    ['\uFEFF7,2,sold', 'petId must be an integer'],
    ['07,2,sold', '07"'],
    ['7,2,07', 'status must be "available", "pending" or "sold", and is "07"'],
    ['0x7,2,sold', 'petId must be an integer from -9223372036854775808 to'],
    ['9223372036854775808,2,sold', 'petId must be an integer from -9223372036854775808 to'],
    ['1.5,2,sold', 'petId must be an integer'],
    ['1,2147483648,sold', 'quantity must be an integer from 0 to 2147483647, and is 2147483648'],
    ['1,,sold', 'quantity must be an integer from 0 to 2147483647, and is ""'],
    ['1, 2,sold', 'quantity must be an integer from 0 to 2147483647, and is " 2"'],
    ['1,2,Sold', 'status must be "available", "pending" or "sold", and is "Sold"'],
    ['1,2', 'has 2 fields in place of 3'],
    ['1,2,sold,4', 'has 4 fields in place of 3'],
    ['1,2,"sold', 'has quotes that do not match'],
    ['1,-1,lost', '; status must be'],
  ])('has the row %s refused', async (line, problem) => {
    const [told] = await readStock(`petId,quantity,status\n${line}\n`);
    expect(told).toMatch(/^2: /);
    expect(told).toContain(problem);
  });

  it.each(['', '1,2,sold\n', 'petId,quantity\n', 'petId,quantity,status,price\n'])(
    'must name the columns, which %j does not',
    async (content) => {
      const problem = 'the first line must name the columns: petId,quantity,status';
      await expect(readStock(content)).rejects.toThrow(problem);
    },
  );
});

describe('a JSON Lines file', () => {
  it.each([
    ['text', Buffer.from([0x7b, 0xff, 0x0a]), 'The encoded data was not valid'],
    ['records', 'x'.repeat(600_000), 'line 1 is longer than any record'],
  ])('is not read where it holds no %s', async (_, content, problem) => {
    const reading = readAll(content, 'jsonl', 'pets');
    await expect(reading).rejects.toThrow(`file cannot be read: ${problem}`);
  });

  it('has lines that lie across the parts in which it is read', async () => {
    const toLine = (_: unknown, id: number) =>
      `{"id":${id},"name":"${'猫'.repeat(id % 40)}","status":"sold"}`;
    const lines = Array.from({ length: 5_000 }, toLine);
    const expected = lines.map((_, id) => `id ${id}`);
    expect(await readAll(`${lines.join('\n')}\n`, 'jsonl', 'pets')).toEqual(expected);
  });

  it('may have records as long as DynamoDB takes them', async () => {
    const line = JSON.stringify({ id: 7, name: 'x'.repeat(409_000), status: 'sold' });
    expect(await readAll(line, 'jsonl', 'pets')).toEqual(['id 7']);
  });

  it.each([
    ['{"id":1,"name":"a","status":"sold","tags":[{"id":1}]}', 'tags.0.name is missing'],
    ['{"id":1,"name":"a","status":"sold","photoUrls":"x"}', 'photoUrls must be of type array'],
    ['null', 'must be of type object, and is null'],
    ['{"id":1', 'is not JSON: Expected'],
  ])('has the row %s refused', async (line, problem) => {
    const [told] = await readAll(line, 'jsonl', 'pets');
    expect(told).toContain(`1: ${problem}`);
  });
});

describe('replacing a file', () => {
  const saved = openTemporaryFolder();
  it('names the file if the disk is full, and leaves it unchanged', () => {
    const file = saved.write('stock.csv', 'earlier\n');
    const code = `import { runCommand } from './infra/cli/usage.ts';
      import { replaceFile } from './infra/ops/data/runExport.ts';
      const content = Array.from({ length: 1_000 }, () => 'x'.repeat(1_000));
      await runCommand(() => replaceFile('${file}', content, new AbortController().signal));`;
    const limited = 'ulimit -f 8; exec "$0" --input-type=module --eval "$1"';
    const typed = ['-c', limited, process.execPath, code];
    const { status, stderr } = spawnSync('sh', typed, { encoding: 'utf8' });
    const problem = '(EFBIG: file too large, write), and is unchanged.';
    expect(stderr).toBe(`${file} cannot be written ${problem}\n`);
    expect(status).toBe(1);
    expect(saved.read('stock.csv')).toBe('earlier\n');
    expect(readdirSync(saved.folder)).toEqual(['stock.csv']);
  });

  it('keeps a link to the file', async () => {
    symlinkSync('stock.csv', saved.toPath('link.csv'));
    await replaceFile(saved.toPath('link.csv'), ['later\n'], new AbortController().signal);
    expect(lstatSync(saved.toPath('link.csv')).isSymbolicLink()).toBe(true);
    expect(saved.read('stock.csv')).toBe('later\n');
  });

  it('passes on what the content throws', async () => {
    const failure = new Error('The record 7 is not valid.');
    function* fail() {
      yield 'a line\n';
      throw failure;
    }
    const writing = replaceFile(saved.toPath('never.csv'), fail(), new AbortController().signal);
    await expect(writing).rejects.toBe(failure);
  });
});
