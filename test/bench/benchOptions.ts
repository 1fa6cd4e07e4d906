import { parseArgs } from 'node:util';
import { UsageError } from '../../infra/cli/usage.ts';

/** What runs by default. */
const usualNames = ['cold', 'first', 'list', 'warm', 'bytes'] as const;
export const partNames = [...usualNames, 'replacements'] as const;
export type PartName = (typeof partNames)[number];

export interface BenchOptions {
  readonly parts: readonly PartName[];
  /** Fewer measurements and no list of a million entries. */
  readonly quick: boolean;
  readonly json: boolean;
  /** Where the function processes of `first`, `list`, `warm` and `replacements` leave their CPU profiles. */
  readonly profile?: string;
  readonly help: boolean;
}

export const help = `Usage: npm run bench -- [options]

Measures the deployed bundles against the same operations as one writes them without looking at what
they cost (the peer), and against a floor, all in one run and in turns.

Options:
  --only PART       one of cold, first, list, warm, bytes and replacements; may be repeated
                    (default: all but replacements, which takes some ten minutes, and is for whoever
                    changes infra/service/bundling or updates the SDK)
  --quick           fewer measurements, and no list of a million entries
  --json            print the figures as JSON
  --profile FOLDER  leave a CPU profile of each function process of first, list, warm and
                    replacements in this folder, to open in Chrome's developer tools; the figures are
                    then a little higher
  --help            show this
`;

/** @throws {UsageError} or what `parseArgs` throws, when the arguments are not ones that `help` tells of */
export function parseBenchOptions(args: string[]): BenchOptions {
  const { values } = parseArgs({
    args,
    options: {
      only: { type: 'string', multiple: true, default: [...usualNames] },
      quick: { type: 'boolean', default: false },
      json: { type: 'boolean', default: false },
      profile: { type: 'string' },
      help: { type: 'boolean', default: false },
    },
  });
  const { only, ...others } = values;
  const wrong = only.find((name) => !partNames.some((known) => known === name));
  if (wrong !== undefined) {
    throw new UsageError(`Option '--only' must be one of ${partNames.join(', ')}, not '${wrong}'`);
  }
  return { ...others, parts: partNames.filter((name) => only.includes(name)) };
}
