import { readFile } from 'node:fs/promises';
import { parseArgs } from 'node:util';
import { runCommand, UsageError } from '../../../infra/cli/usage.ts';
import { defineSmokeReport } from './smokeReport.ts';
import './smokeSettings.ts';

const help = `npm run smoke -- --base-url URL [--api-key-file FILE | --api-key KEY] [--origin ORIGIN] [--verbose]

Checks a deployed stage against the contract with the rows of the conformance suite that change nothing.

  --base-url URL          the base address, which ends in /v1
  --api-key-file FILE     a file that holds an API key; a read key is enough
  --api-key KEY           the key itself, which other users of the machine may see; without either,
                          the environment variable PETSTORE_API_KEY
  --origin ORIGIN         an origin that the stage allows; without it, the one that the stage names
  --verbose               print every row
`;

const flags = {
  'base-url': { type: 'string' },
  'api-key-file': { type: 'string' },
  'api-key': { type: 'string' },
  origin: { type: 'string' },
  verbose: { type: 'boolean' },
  help: { type: 'boolean', short: 'h' },
} as const;

await runCommand(async (args) => {
  const options = parseArgs({ args, options: flags }).values;
  if (options.help) return print(help.trimEnd());
  const baseUrl = parseBaseUrl(options['base-url']);
  const apiKey = await readApiKey(options['api-key-file'], options['api-key']);
  const origin = parseOrigin(options.origin);
  print(`Checking ${baseUrl} …`);
  // Not before it is needed, since it takes longer to load than a mistake takes to tell.
  const { startVitest } = await import('vitest/node');
  const report = defineSmokeReport(print, defineRedaction(apiKey), options.verbose === true);
  const vitest = await startVitest('test', [], {
    config: false,
    root: import.meta.dirname,
    include: ['smokeSuite.ts'],
    watch: false,
    silent: true,
    pool: 'threads',
    maxWorkers: 1,
    retry: 1,
    // A list of a million entries takes its time.
    testTimeout: 120_000,
    provide: { smoke: { baseUrl, apiKey, origin } },
    reporters: [report],
  });
  await vitest.close();
  process.exitCode = report.finish() ? 0 : 1;
});

function parseBaseUrl(text: string | undefined): string {
  const url = text === undefined ? null : URL.parse(text);
  const isLocal = /^(localhost|127\.0\.0\.1|\[::1\])$/.test(url?.hostname ?? '');
  const isSafe = url?.protocol === 'https:' || (url?.protocol === 'http:' && isLocal);
  if (url && isSafe && /\/v1\/?$/.test(url.pathname) && url.search === '' && url.hash === '') {
    return `${url.origin}${url.pathname.replace(/\/$/, '')}`;
  }
  throw new UsageError(
    `--base-url must be the https address of a stage, such as https://x.execute-api.eu-west-1.amazonaws.com/v1${text === undefined ? '' : `; it is "${text}"`}.`,
  );
}

function parseOrigin(text: string | undefined): string | undefined {
  if (text === undefined || URL.parse(text)?.origin === text) return text;
  throw new UsageError(`--origin must be such as https://www.example.com; it is "${text}".`);
}

/** What is wrong with a key is told without the key. */
async function readApiKey(file: string | undefined, typed: string | undefined): Promise<string> {
  if (file !== undefined && typed !== undefined) {
    throw new UsageError('Give --api-key-file or --api-key, not both.');
  }
  const apiKey =
    (file === undefined ? typed : await readKeyFile(file)) ?? process.env.PETSTORE_API_KEY;
  if (apiKey === undefined || apiKey === '') {
    throw new UsageError(
      'Give --api-key-file FILE, or set PETSTORE_API_KEY, or give --api-key KEY.',
    );
  }
  if (/^psk_[0-9A-Za-z]{42}$/.test(apiKey)) return apiKey;
  throw new UsageError('The API key must be psk_ and 42 letters and digits.');
}

async function readKeyFile(file: string): Promise<string> {
  try {
    return (await readFile(file, 'utf8')).trim();
  } catch (error) {
    throw new UsageError(`--api-key-file cannot be read: ${(error as Error).message}.`);
  }
}

/** The suite sends the key also in capitals, cut short, changed and without its prefix. */
function defineRedaction(apiKey: string): (text: string) => string {
  const secret = apiKey.slice('psk_'.length);
  const traces = new RegExp(`psk_\\w*|\\w*(${secret.slice(0, 16)}|${secret.slice(-16)})\\w*`, 'gi');
  return (text) => text.replace(traces, '[API key]');
}

function print(line: string): void {
  process.stdout.write(`${line}\n`);
}
