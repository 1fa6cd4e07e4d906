import { parseArgs } from 'node:util';
import { UsageError } from '../../cli/usage.ts';
import { type Clock, systemClock } from './asking/clock.ts';
import { MOST_REQUESTS } from './asking/sender.ts';
import { checkStage } from './checkStage.ts';
import { parseEntry, parseOrigin, parseSeconds, readApiKey } from './smokeOptions.ts';
import { findTarget } from './smokeTarget.ts';

const help = `npm run smoke -- --stage staging|production [--api-key-file FILE] [options]
npm run smoke -- --base-url URL [--api-key-file FILE] [options]

Checks a stage against the contract with at most ${MOST_REQUESTS} requests, one of which lists the whole inventory.
Without --entry, it changes nothing. What needs an entry, and finds none, is skipped.

Which stage:
  --stage staging|production  found through its stack with your AWS credentials; says which commit is live
  --base-url URL              the base address, which ends in /v1

The key:
  --api-key-file FILE         a file that holds an API key; a read key is enough
  --api-key KEY               the key itself, which other users of the machine may see; without either,
                              the environment variable PETSTORE_API_KEY

Options:
  --light                     do not list the whole inventory
  --entry PETID               write this entry's own count back; takes a key with write permission
  --expect-commit             fail unless what is live is the commit of this checkout, or PETSTORE_COMMIT
  --origin ORIGIN             an origin that the stage allows; without it, one that the stage names
  --timeout 10s               how long an answer may take, and a whole list be silent
  --deadline 60s              how long everything may take
  --verbose                   print every row

The status is 0 when all rows passed, 1 when one failed, 2 when the command line makes no sense.
`;

const flags = {
  stage: { type: 'string' },
  'base-url': { type: 'string' },
  'api-key-file': { type: 'string' },
  'api-key': { type: 'string' },
  light: { type: 'boolean', default: false },
  entry: { type: 'string' },
  'expect-commit': { type: 'boolean', default: false },
  origin: { type: 'string' },
  timeout: { type: 'string', default: '10s' },
  deadline: { type: 'string', default: '60s' },
  verbose: { type: 'boolean', default: false },
  help: { type: 'boolean', short: 'h' },
} as const;

/** Checks a stage. @throws {UsageError} when what was typed makes no sense */
export async function runSmoke(args: string[], clock: Clock = systemClock): Promise<void> {
  const options = parseFlags(args);
  if (options.help) process.stdout.write(help);
  else process.exitCode = (await run(options, clock)) ? 0 : 1;
}

function parseFlags(args: string[]) {
  return parseArgs({ args, options: flags }).values;
}

async function run(options: ReturnType<typeof parseFlags>, clock: Clock): Promise<boolean> {
  const entry = parseEntry(options.entry);
  const origin = parseOrigin(options.origin);
  const timeoutSeconds = parseSeconds('--timeout', options.timeout);
  const deadlineSeconds = parseSeconds('--deadline', options.deadline);
  const expectsCommit = options['expect-commit'];
  if (expectsCommit && options.stage === undefined) {
    throw new UsageError('--expect-commit takes --stage, whose stack says what is live.');
  }
  const target = await findTarget(options.stage, options['base-url']);
  const apiKey = await readApiKey(options['api-key-file'], options['api-key']);
  print(`Checking ${target.baseUrl} …`);
  if (target.commit) {
    print(`${target.commit.is === 'another' ? 'WARNING  ' : ''}${target.commit.text}`);
  }
  const settings = {
    ...{ baseUrl: target.baseUrl, throttles: target.throttles, origin: origin ?? target.origin },
    ...{ apiKey, entry, timeoutSeconds, deadlineSeconds, clock },
    ...{ isLight: options.light, isVerbose: options.verbose },
    expectedCommit: expectsCommit ? target.commit : undefined,
  };
  return checkStage(settings, print);
}

function print(line: string): void {
  process.stdout.write(`${line}\n`);
}
