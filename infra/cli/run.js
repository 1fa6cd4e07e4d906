import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { pathToFileURL } from 'node:url';

// Runs a TypeScript file with its arguments. Without a file, it only checks the version of Node.js, before another
// program runs. It is JavaScript, so that a Node.js that is too old for TypeScript can still say so: if npm ran no
// install scripts, the machine's own Node.js runs this.
const { devDependencies } = JSON.parse(
  readFileSync(new URL('../../package.json', import.meta.url), 'utf8'),
);
const [needed, found] = [devDependencies.node, process.versions.node].map((version) =>
  Number.parseInt(version, 10),
);
if (found < needed) {
  process.stderr.write(
    `This needs Node.js ${needed} and runs on ${process.versions.node}: run "npm ci --ignore-scripts=false", which puts Node.js ${needed} into node_modules.\n`,
  );
  process.exit(1);
}
process.argv.splice(1, 1);
const [, file] = process.argv;
if (file !== undefined) await import(pathToFileURL(resolve(file)).href);
