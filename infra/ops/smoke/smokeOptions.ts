import { readFile } from 'node:fs/promises';
import { parseInt64 } from '../../../shared/contract/values.ts';
import { parseDuration } from '../../cli/time.ts';
import { UsageError } from '../../cli/usage.ts';

/** @throws {UsageError} when it is no base address, or a key would travel to it unprotected */
export function parseBaseUrl(option: string, text: string | undefined): string {
  const url = text === undefined ? null : URL.parse(text);
  const isSafe = url?.protocol === 'https:' || (url?.protocol === 'http:' && isLocal(url));
  if (url && isSafe && /\/v1\/?$/.test(url.pathname) && url.search === '' && url.hash === '') {
    return `${url.origin}${url.pathname.replace(/\/$/, '')}`;
  }
  throw new UsageError(
    `${option} must be the https address of a stage, such as https://x.execute-api.eu-west-1.amazonaws.com/v1${text === undefined ? '' : `; it is "${text}"`}.`,
  );
}

/** Whether it is this machine. */
export function isLocal({ hostname }: { readonly hostname: string }): boolean {
  return /^(localhost|127\.0\.0\.1|\[::1\])$/.test(hostname);
}

/** @throws {UsageError} */
export function parseOrigin(text: string | undefined): string | undefined {
  if (text === undefined || URL.parse(text)?.origin === text) return text;
  throw new UsageError(`--origin must be such as https://www.example.com; it is "${text}".`);
}

/** @throws {UsageError} */
export function parseEntry(text: string | undefined): string | undefined {
  if (text === undefined || parseInt64(text) !== undefined) return text;
  const zero = /^-?0\d/.test(text) ? ' without a leading zero' : '';
  throw new UsageError(`--entry must be the petId of an entry, such as 7${zero}; it is "${text}".`);
}

/** In seconds, 1 to 3,600. @throws {UsageError} */
export function parseSeconds(option: string, text: string): number {
  const seconds = parseDuration(option, text) / 1_000;
  if (seconds >= 1 && seconds <= 3_600) return seconds;
  throw new UsageError(`${option} must be from 1s to 1h; it is "${text}".`);
}

/**
 * The key that is typed, or in a file, or in the environment. What is wrong with it is told without it.
 * @throws {UsageError}
 */
export async function readApiKey(
  file: string | undefined,
  typed: string | undefined,
): Promise<string> {
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
