import { describe, expect, it } from 'vitest';
import packageJson from '../../../package.json' with { type: 'json' };
import lock from '../../../package-lock.json' with { type: 'json' };
import { allowedInDevelopment, allowedInstallScripts, allowedLicences } from './allowed.ts';

interface Locked {
  readonly license?: string;
  readonly dev?: boolean;
  readonly hasInstallScript?: boolean;
  readonly resolved?: string;
  readonly integrity?: string;
  readonly inBundle?: boolean;
}

const { '': project, ...locked } = lock.packages as Record<string, unknown> as Record<
  string,
  Locked
>;
const packages = Object.entries(locked).map(([path, one]) => ({
  ...one,
  path,
  name: path.replace(/^.*node_modules\//, ''),
}));

/** Those for which it does not hold, by their paths. */
const exceptions = (holds: (one: (typeof packages)[number]) => boolean) =>
  packages.filter((one) => !holds(one)).map(({ path, license }) => `${path}: ${license}`);

describe('the licence of every package', () => {
  it('is one that is allowed', () => {
    const allowed = { ...allowedLicences, ...allowedInDevelopment };
    expect(packages.length).toBeGreaterThan(300);
    expect(exceptions(({ license = '' }) => license in allowed)).toEqual([]);
  });

  it('that a function may be made of is permissive', () => {
    const isAllowed = ({ license = '' }: Locked) => license in allowedLicences;
    expect(exceptions((one) => one.dev === true || isAllowed(one))).toEqual([]);
    expect(packageJson.license in allowedLicences).toBe(true);
    expect(project?.license).toBe(packageJson.license);
  });

  it('is in use, where it is allowed', () => {
    const found = new Set(packages.map(({ license }) => license));
    const allowed = [...Object.keys(allowedLicences), ...Object.keys(allowedInDevelopment)];
    expect(allowed.filter((one) => !found.has(one))).toEqual([]);
  });
});

it('only packages with a reason run a script when they are installed', () => {
  const scripts = packages.filter((one) => one.hasInstallScript).map(({ name }) => name);
  expect([...new Set(scripts)].sort()).toEqual(Object.keys(allowedInstallScripts).sort());
  expect(packageJson.allowScripts).toEqual(
    Object.fromEntries(Object.keys(allowedInstallScripts).map((name) => [name, true])),
  );
});

it('every package is held to its hash, and none to the address that somebody fetched it from', () => {
  expect(exceptions((one) => /^sha512-/.test(one.integrity ?? '') || isUnpacked(one))).toEqual([]);
  expect(exceptions(({ resolved }) => resolved === undefined)).toEqual([]);
});

/** It comes in the package that it lies in, whose hash holds for it. */
function isUnpacked({ inBundle }: Locked): boolean {
  return inBundle === true;
}

it('every dependency is of one version exactly', () => {
  const { dependencies, devDependencies, optionalDependencies } = packageJson;
  const versions = Object.entries({ ...dependencies, ...devDependencies, ...optionalDependencies });
  expect(versions.filter(([, version]) => !/^\d+\.\d+\.\d+$/.test(version))).toEqual([]);
});
