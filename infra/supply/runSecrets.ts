import { parseArgs } from 'node:util';
import { writeOut } from '../cli/writeOut.ts';
import { findApiKeys, hideApiKeys } from './findApiKeys.ts';
import { type GitLine, readCommitLines, readTrackedLines } from './gitLines.ts';

const help = `npm run secrets [-- options]

Looks for API keys in the files that git tracks: real ones, by their checksum, and none of those that examples
make up. Says where each stands and its key id, never the key; status 1 when there is one.

  --since COMMIT   also in what each commit after this one added; in the whole history where there is no such commit
`;

const flags = {
  since: { type: 'string' },
  help: { type: 'boolean', short: 'h' },
} as const;

/** @throws {Error} when git cannot tell what there is */
export async function runSecrets(args: string[]): Promise<void> {
  const { since, help: isHelp } = parseArgs({ args, options: flags }).values;
  if (isHelp) return writeOut(help);
  const folder = process.cwd();
  const found = await tellKeys(readTrackedLines(folder));
  const foundInCommits = since === undefined ? 0 : await tellKeys(readCommitLines(folder, since));
  if (found + foundInCommits === 0) return writeOut('No API keys.\n');
  await writeOut(
    'Revoke each first, by "npm run keys -- revoke KEY_ID --stage STAGE": who has the commit has the key.\n',
  );
  process.exitCode = 1;
}

/** Prints a line for each key, and says how many there were. */
async function tellKeys(lines: Iterable<GitLine> | AsyncIterable<GitLine>): Promise<number> {
  let count = 0;
  for await (const { place, text } of lines) {
    for (const keyId of findApiKeys(text)) {
      await writeOut(`${hideApiKeys(place)}: the API key of key id ${keyId}\n`);
      count += 1;
    }
  }
  return count;
}
