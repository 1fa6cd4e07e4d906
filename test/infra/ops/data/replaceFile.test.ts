import { spawnSync } from 'node:child_process';
import { readdirSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { replaceFile } from '../../../../infra/ops/data/writeContent.ts';
import { openDataFolder } from './dataFolder.ts';

const data = openDataFolder();
const never = new AbortController().signal;

describe('replacing a file', () => {
  it('names the file that is not written when the disk takes no more, and leaves it as it was', () => {
    const file = data.write('stock.csv', ['earlier']);
    const code = `import { runCommand } from './infra/cli/usage.ts';
      import { replaceFile } from './infra/ops/data/writeContent.ts';
      const content = Array.from({ length: 1_000 }, () => 'x'.repeat(1_000));
      await runCommand(() => replaceFile('${file}', content, new AbortController().signal));`;
    const limited = 'ulimit -f 8; exec "$0" --input-type=module --eval "$1"';
    const { status, stderr } = spawnSync('sh', ['-c', limited, process.execPath, code], {
      encoding: 'utf8',
    });
    expect(stderr).toBe(
      `${file} cannot be written (EFBIG: file too large, write), and is as it was.\n`,
    );
    expect(status).toBe(1);
    expect(data.read('stock.csv')).toBe('earlier\n');
    expect(readdirSync(data.folder)).toEqual(['stock.csv']);
  });

  it('passes on what the content throws', async () => {
    const failure = new Error('The record 7 is not valid.');
    const content = {
      *[Symbol.iterator]() {
        yield 'a line\n';
        throw failure;
      },
    };
    await expect(replaceFile(data.toPath('never.csv'), content, never)).rejects.toBe(failure);
  });
});
