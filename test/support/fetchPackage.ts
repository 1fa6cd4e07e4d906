import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { projectRoot } from '../../infra/stages/projectRoot.ts';

/** A version of a package, and the SHA-512 that npm publishes for it. */
export interface FetchedPackage {
  readonly spec: string;
  readonly integrity: string;
}

/**
 * Fetches a package without its dependencies, and without running its scripts. The first use fetches it, and later
 * uses find it beside the installed packages.
 * @returns its folder
 * @throws {Error} if npm has another package under this version
 */
export function fetchPackage({ spec, integrity }: FetchedPackage): string {
  const folder = join(projectRoot, 'node_modules/.cache', spec);
  if (existsSync(folder)) return folder;
  const unpacked = `${folder}-${process.pid}`;
  mkdirSync(unpacked, { recursive: true });
  const options = ['pack', spec, '--json', '--prefer-offline', '--pack-destination', unpacked];
  const [packed] = JSON.parse(String(execFileSync('npm', options)));
  if (packed.integrity !== integrity) throw new Error(`${spec} is ${packed.integrity}.`);
  execFileSync('tar', ['-xzf', join(unpacked, packed.filename), '-C', unpacked]);
  try {
    renameSync(join(unpacked, 'package'), folder);
  } catch (error) {
    // Another process was faster.
    if (!existsSync(folder)) throw error;
  }
  rmSync(unpacked, { recursive: true });
  return folder;
}
