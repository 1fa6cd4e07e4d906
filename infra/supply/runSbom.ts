import { execFileSync } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import packageJson from '../../package.json' with { type: 'json' };
import { writeOut } from '../cli/writeOut.ts';
import { type Bom, toRuntimeBom, withName } from './runtimeBom.ts';

const help = `npm run sbom [-- options]

Writes what the project is made of, by the lock file, as CycloneDX documents: runtime.cdx.json with what the functions
can be made of, all.cdx.json with what builds and tests them too. Asks no registry.

  --out FOLDER   default: dist/sbom
`;

const flags = {
  out: { type: 'string', default: 'dist/sbom' },
  help: { type: 'boolean', short: 'h' },
} as const;

/** @throws {Error} when npm fails, or a file cannot be written */
export async function runSbom(args: string[]): Promise<void> {
  const { out, help: isHelp } = parseArgs({ args, options: flags }).values;
  if (isHelp) return writeOut(help);
  const all = withName(readLockedPackages(), packageJson.name);
  mkdirSync(out, { recursive: true });
  for (const [name, bom] of Object.entries({ runtime: toRuntimeBom(all), all })) {
    const file = join(out, `${name}.cdx.json`);
    writeFileSync(file, `${JSON.stringify(bom, null, 2)}\n`);
    await writeOut(`${file}: ${bom.components.length} packages\n`);
  }
}

/** By npm's own command, from the lock file: what is installed may be more, or for another system. */
function readLockedPackages(): Bom {
  const options = ['--sbom-format', 'cyclonedx', '--sbom-type', 'application'];
  const printed = execFileSync('npm', ['sbom', '--package-lock-only', ...options], {
    encoding: 'utf8',
    maxBuffer: 64 * 1024 * 1024,
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  return JSON.parse(printed) as Bom;
}
