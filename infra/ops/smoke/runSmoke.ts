import { readFile } from 'node:fs/promises';
import { parseArgs } from 'node:util';
import { parseInt64 } from '../../../shared/contract/values.ts';
import { listenForInterruption } from '../../cli/interruption.ts';
import { print } from '../../cli/output.ts';
import { parseStage, stageUsage } from '../../cli/stageOption.ts';
import { readOutput, readStack } from '../../cli/stageStack.ts';
import { parseDuration } from '../../cli/time.ts';
import { UsageError } from '../../cli/usage.ts';
import { readCommit, unknownCommit } from '../../stages/commit.ts';
import { stages } from '../../stages/stages.ts';
import { checkStage } from './checkStage.ts';
import { type LiveCommit, MAX_REQUESTS, type SmokeSettings } from './smokeClient.ts';

const help = `npm run smoke -- ${stageUsage} [--api-key-file FILE] [options]
npm run smoke -- --base-url URL [--api-key-file FILE] [options]

Proves a deployment by at most ${MAX_REQUESTS} requests, one of which lists the whole inventory.
Without --entry, it changes nothing. What needs an entry, and finds none, is skipped.

Which stage:
  ${stageUsage.padEnd(26)}  found through its stack with your AWS credentials; says which commit is live
  --base-url URL              the base address, which ends in /v1

The key:
  --api-key-file FILE         a file that holds an API key; a read key is enough
  --api-key KEY               the key itself, which other users of the machine may see; without either,
                              the environment variable PETSTORE_API_KEY

Options:
  --light                     do not list the whole inventory
  --entry PETID               write this entry's own count back; takes a key with write permission
  --expect-commit             fail unless what is live is the commit of this checkout, or PETSTORE_COMMIT
  --origin ORIGIN             an origin that the stage allows; without it, one of the stage's settings
  --timeout 10s               how long a response may be silent
  --deadline 60s              how long everything may take
  --verbose                   print every row

The status is 0 when all rows passed, 1 when one failed, 2 when the command line makes no sense.`;

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

/** Checks a stage. */
export async function runSmoke(args: string[]): Promise<void> {
  const options = parseArgs({ args, options: flags }).values;
  if (options.help) return print(help);
  const { entry, origin: typedOrigin } = options;
  if (entry !== undefined && parseInt64(entry) === undefined) {
    const zero = /^-?0\d/.test(entry) ? ' without a leading zero' : '';
    throw new UsageError(
      `--entry must be the petId of an entry, such as 7${zero}; it is "${entry}".`,
    );
  }
  if (typedOrigin !== undefined && URL.parse(typedOrigin)?.origin !== typedOrigin) {
    throw new UsageError(
      `--origin must be such as https://www.example.com; it is "${typedOrigin}".`,
    );
  }
  const timeoutSeconds = parseSeconds('--timeout', options.timeout);
  const deadlineSeconds = parseSeconds('--deadline', options.deadline);
  const expectsCommit = options['expect-commit'];
  if (expectsCommit && options.stage === undefined) {
    throw new UsageError('--expect-commit takes --stage, whose stack says what is live.');
  }
  const { baseUrl, throttles, origin, commit } = await findTarget(
    options.stage,
    options['base-url'],
  );
  const apiKey = await readApiKey(options['api-key-file'], options['api-key']);
  print(`Checking ${baseUrl} …`);
  if (commit) print(`${commit.is === 'another' ? 'WARNING  ' : ''}${commit.text}`);
  using interruption = listenForInterruption();
  const { signal } = interruption;
  const settings = {
    ...{ baseUrl, apiKey, throttles, timeoutSeconds, deadlineSeconds, signal },
    ...{ isLight: options.light, isVerbose: options.verbose, entry, origin: typedOrigin ?? origin },
    expectedCommit: expectsCommit ? commit : undefined,
  };
  const passed = await checkStage(settings, print);
  process.exitCode = interruption.status() || (passed ? 0 : 1);
}

/** Where every origin is allowed. */
const ANY_ORIGIN = 'https://smoke.invalid';

type Target = Pick<SmokeSettings, 'baseUrl' | 'throttles' | 'origin'> & { commit?: LiveCommit };

/** A deployed stage, found through its stack's outputs, or an address. */
async function findTarget(
  stageName: string | undefined,
  address: string | undefined,
): Promise<Target> {
  if (stageName === undefined) {
    const baseUrl = parseBaseUrl('--base-url', address);
    if (isLocal(new URL(baseUrl).hostname)) {
      return { baseUrl, throttles: undefined, origin: ANY_ORIGIN };
    }
    // Which stage it is of is not known: its requests come no faster than staging lets them through.
    return { baseUrl, throttles: stages.staging.settings.throttles, origin: undefined };
  }
  if (address !== undefined) throw new UsageError('Give --stage or --base-url, not both.');
  const stage = parseStage(stageName);
  const stack = await readStack(stage);
  const { throttles, allowedOrigins } = stage.settings;
  return {
    baseUrl: parseBaseUrl('The output BaseUrl', readOutput(stack, 'BaseUrl')),
    throttles,
    origin: allowedOrigins[0] === '*' ? ANY_ORIGIN : allowedOrigins[0],
    commit: compareCommits(stack.outputs.Commit, readCommit()),
  };
}

/** @throws {UsageError} when it is no base address, or a key would travel to it unprotected */
function parseBaseUrl(option: string, text: string | undefined): string {
  const url = text === undefined ? null : URL.parse(text);
  const isSafe = url?.protocol === 'https:' || (url?.protocol === 'http:' && isLocal(url.hostname));
  if (url && isSafe && /\/v1\/?$/.test(url.pathname) && url.search === '' && url.hash === '') {
    return `${url.origin}${url.pathname.replace(/\/$/, '')}`;
  }
  throw new UsageError(
    `${option} must be the https address of a stage, such as https://x.execute-api.eu-west-1.amazonaws.com/v1${text === undefined ? '' : `; it is "${text}"`}.`,
  );
}

/** @param live what the stack says, if it does */
function compareCommits(live: string | undefined, checkout: string): LiveCommit {
  if (live === undefined || live === unknownCommit) {
    return { is: 'not known', text: 'The commit that is live is not known.' };
  }
  if (checkout === unknownCommit) {
    return { is: 'not known', text: `Live is ${live}; this checkout's commit is not known.` };
  }
  return live === checkout
    ? { is: 'same', text: `Live is ${live}, as is this checkout.` }
    : { is: 'another', text: `Live is ${live}, but this checkout is ${checkout}.` };
}

function isLocal(hostname: string): boolean {
  return /^(localhost|127\.0\.0\.1|\[::1\])$/.test(hostname);
}

function parseSeconds(option: string, text: string): number {
  const seconds = parseDuration(option, text) / 1_000;
  if (seconds >= 1 && seconds <= 3_600) return seconds;
  throw new UsageError(`${option} must be from 1s to 1h; it is "${text}".`);
}

/** The key that is typed, or in a file, or in the environment. What is wrong with it is told without it. */
async function readApiKey(file: string | undefined, typed: string | undefined): Promise<string> {
  if (file !== undefined && typed !== undefined) {
    throw new UsageError('Give --api-key-file or --api-key, not both.');
  }
  const read = file === undefined ? undefined : readFile(file, 'utf8');
  const held = await read?.catch(({ message }: Error) => {
    throw new UsageError(`--api-key-file cannot be read: ${message}.`);
  });
  const apiKey = held?.trim() ?? typed ?? process.env.PETSTORE_API_KEY;
  if (!apiKey) {
    throw new UsageError(
      'Give --api-key-file FILE, or set PETSTORE_API_KEY, or give --api-key KEY.',
    );
  }
  if (/^psk_[0-9A-Za-z]{42}$/.test(apiKey)) return apiKey;
  throw new UsageError('The API key must be psk_ and 42 letters and digits.');
}
