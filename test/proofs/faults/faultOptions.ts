import { parseArgs } from 'node:util';
import { UsageError } from '../../../infra/cli/usage.ts';
import { type FaultName, faultNames } from './cell.ts';

export interface FaultOptions {
  readonly faults: readonly FaultName[];
  readonly lanes: number;
  readonly json: boolean;
  readonly help: boolean;
}

export const help = `Usage: npm run faults -- [options]

Runs every operation while each of its calls to the database fails, in every way, once and always, and
holds each answer against what is stored. Ends with status 1 at a wrong success, a 500, a late answer, an
update that was refused and is stored, or a list that ended and is not whole.

Options:
  --only FAULT    one of ${faultNames.slice(0, 3).join(', ')}, …; may be repeated (default: all)
  --lanes N       stages that run at once, most of which wait at any time (default: 24)
  --json          print every cell as JSON
  --help          show this
`;

/** @throws {UsageError} or what `parseArgs` throws, when the arguments are not ones that `help` tells of */
export function parseFaultOptions(args: string[]): FaultOptions {
  const { values } = parseArgs({
    args,
    options: {
      only: { type: 'string', multiple: true, default: [...faultNames] },
      lanes: { type: 'string', default: '24' },
      json: { type: 'boolean', default: false },
      help: { type: 'boolean', default: false },
    },
  });
  const { only, lanes, ...others } = values;
  const wrong = only.find((name) => !faultNames.some((known) => known === name));
  if (wrong !== undefined) {
    throw new UsageError(`Option '--only' must be one of ${faultNames.join(', ')}, not '${wrong}'`);
  }
  if (!/^[1-9]\d?$/.test(lanes)) throw new UsageError(`Option '--lanes' must be 1 to 99`);
  return {
    ...others,
    lanes: Number(lanes),
    faults: faultNames.filter((name) => only.includes(name)),
  };
}
