import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll } from 'vitest';

/** A temporary folder of data files, gone when the test file ends. */
export function openDataFolder() {
  const folder = mkdtempSync(join(tmpdir(), 'petstore-data-'));
  afterAll(() => rmSync(folder, { recursive: true, force: true }));
  const toPath = (name: string) => join(folder, name);
  return {
    folder,
    toPath,
    read: (name: string) => readFileSync(toPath(name), 'utf8'),
    /** Writes the lines and returns the file's path. */
    write(name: string, lines: readonly string[]): string {
      writeFileSync(toPath(name), toText(lines));
      return toPath(name);
    },
  };
}

const statuses = ['available', 'pending', 'sold'];

/** Lines of an inventory's CSV file in the order of their ids, which lie scattered over all of int64. */
export function toStockLines(rows: number): string[] {
  const step = (2n ** 64n - 1n) / BigInt(Math.max(rows - 1, 1));
  const lines = Array.from({ length: rows }, (_, row) => {
    const id = row === rows - 1 ? 2n ** 63n - 1n : -(2n ** 63n) + BigInt(row) * step;
    return `${id},${(row * 7_919) % 2_147_483_648},${statuses[row % 3]}`;
  });
  return ['petId,quantity,status', ...lines];
}

/** The text of a file with these lines. */
export function toText(lines: readonly string[]): string {
  return lines.map((line) => `${line}\n`).join('');
}
