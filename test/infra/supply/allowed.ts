/** Licences that packages may have, as SPDX names them, and why each does no harm to who runs or changes the service. */
export const allowedLicences: Readonly<Record<string, string>> = {
  'Apache-2.0': 'permissive, and the project’s own',
  MIT: 'permissive',
  ISC: 'permissive',
  '0BSD': 'permissive, without conditions',
  'BSD-3-Clause': 'permissive',
  'MIT OR Apache-2.0': 'permissive either way',
  '(MIT OR Apache-2.0)': 'permissive either way',
};

/** Licences of packages that build and test, and of which nothing is in a function. */
export const allowedInDevelopment: Readonly<Record<string, string>> = {
  'BSD-2-Clause': 'permissive',
  'BlueOak-1.0.0': 'permissive',
  '(MIT AND Zlib)': 'permissive, both',
  '(MIT OR CC0-1.0)': 'taken under MIT',
  '(MIT OR GPL-3.0-or-later)': 'taken under MIT',
  'CC-BY-4.0': 'browsers’ data, which is used unchanged and not passed on',
  'MPL-2.0': 'holds for changes to its own files, of which there are none',
};

/** Packages whose install scripts run, and what for. */
export const allowedInstallScripts: Readonly<Record<string, string>> = {
  'classic-level': 'chooses the built binding of LevelDB, which dynalite keeps its tables in',
  esbuild: 'puts the system’s binary in the place of a slower start by Node.js',
  node: 'puts the system’s binary of Node.js 24 into node_modules, where the scripts find it',
};
