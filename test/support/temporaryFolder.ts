import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll } from 'vitest';

/** A folder outside the checkout, deleted when the test file ends. */
export function openTemporaryFolder() {
  const folder = mkdtempSync(join(tmpdir(), 'petstore-'));
  afterAll(() => rmSync(folder, { recursive: true, force: true }));
  const toPath = (name: string) => join(folder, name);
  return {
    folder,
    toPath,
    read: (name: string) => readFileSync(toPath(name), 'utf8'),
    write(name: string, content: string | Uint8Array): string {
      writeFileSync(toPath(name), content);
      return toPath(name);
    },
  };
}
