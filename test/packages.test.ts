import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
// @ts-expect-error: it has no types.
import semver from 'semver';
import { expect, it } from 'vitest';
import { projectRoot } from '../infra/stages/projectRoot.ts';
import packageJson from '../package.json' with { type: 'json' };
import lock from '../package-lock.json' with { type: 'json' };

/** Licences of packages in functions: all permissive. */
const inFunctions = /^(MIT|Apache-2\.0|ISC|0BSD|BSD-3-Clause|MIT OR Apache-2\.0)$/;
/** Licences of packages that only build and test. MPL-2.0 covers changes to its own files; there are none. */
const inDevelopment =
  /^(BSD-2-Clause|BlueOak-1\.0\.0|MPL-2\.0|CC-BY-4\.0|\(MIT (AND Zlib|OR CC0-1\.0|OR GPL-3\.0-or-later)\))$/;
/** dynalite's LevelDB, esbuild and Node.js 24 each install the system's binary. */
const installScripts = ['classic-level', 'esbuild', 'node'];

interface Locked {
  readonly license?: string;
  readonly engines?: { readonly node?: string };
  readonly dev?: boolean;
  readonly hasInstallScript?: boolean;
  readonly resolved?: string;
  readonly integrity?: string;
  /** Part of the package around it, which has the hash. */
  readonly inBundle?: boolean;
}

const { '': project, ...locked } = lock.packages as Record<string, Locked>;
const packages = Object.entries(locked).map(([path, one]) => ({ path, ...one }));
const pathsOf = (isWanted: (one: Locked) => boolean) =>
  packages.filter(isWanted).map(({ path, license }) => `${path}: ${license}`);

it('every package has a licence that its use allows', () => {
  expect(packages.length).toBeGreaterThan(200);
  const isAllowed = ({ license = '', dev }: Locked) =>
    inFunctions.test(license) || (dev === true && inDevelopment.test(license));
  expect(pathsOf((one) => !isAllowed(one))).toEqual([]);
  expect(project?.license).toBe(packageJson.license);
  expect(packageJson.license).toMatch(inFunctions);
});

it('only packages with a reason have an install script', () => {
  const names = packages.filter((one) => one.hasInstallScript).map(({ path }) => path);
  const found = new Set(names.map((path) => path.replace(/^.*node_modules\//, '')));
  expect([...found].sort()).toEqual(installScripts);
  expect(Object.keys(packageJson.allowScripts).sort()).toEqual(installScripts);
  // So npm stops at any other, instead of a warning.
  expect(readFileSync(join(projectRoot, '.npmrc'), 'utf8')).toMatch(/^strict-allow-scripts=true$/m);
});

it('every package is pinned by its hash, and none by its address', () => {
  expect(pathsOf((one) => !/^sha512-/.test(one.integrity ?? '') && !one.inBundle)).toEqual([]);
  expect(pathsOf(({ resolved }) => resolved !== undefined)).toEqual([]);
});

it('every dependency is pinned to one version', () => {
  const { dependencies, devDependencies } = packageJson;
  const versions = Object.values({ ...dependencies, ...devDependencies });
  expect(versions.filter((version) => !/^\d+\.\d+\.\d+(-[\w.]+)?$/.test(version))).toEqual([]);
});

it('every script that a text names exists', () => {
  const texts = globSync(
    ['*.{md,yaml}', '.github/**/*.yml', '{infra,shared,test}/**/*.{md,ts,js,txt}'],
    { cwd: `${import.meta.dirname}/..`, exclude: ['**/node_modules'] },
  );
  const named = texts.flatMap((file) => {
    const text = readFileSync(`${import.meta.dirname}/../${file}`, 'utf8');
    return [...text.matchAll(/\bnpm run (?:-s )?([a-z][\w:-]*)/g)].map(([, name = '']) => ({
      file,
      name,
    }));
  });
  expect(named.length).toBeGreaterThan(50);
  // The changelog names scripts of earlier versions.
  const unknown = named.filter(
    ({ file, name }) => file !== 'CHANGELOG.md' && !(name in packageJson.scripts),
  );
  expect(unknown).toEqual([]);
});

it('no package needs another Node.js than package.json names', () => {
  const earliest = packageJson.engines.node.match(/\d+\.\d+\.\d+/g) ?? [];
  expect(earliest.length).toBeGreaterThan(0);
  const isMet = ({ engines }: Locked) =>
    earliest.every((version) => semver.satisfies(version, engines?.node ?? '*'));
  expect(pathsOf((one) => !isMet(one))).toEqual([]);
});
