import type { Permission } from '../../../shared/contract/operation.ts';
import { parseDuration, parseInstant } from '../../cli/time.ts';
import { UsageError } from '../../cli/usage.ts';

/** The options of a key command, as typed. */
export interface KeyOptions {
  readonly name?: string | undefined;
  readonly permission?: string | undefined;
  readonly expires?: string | undefined;
  readonly expiring?: string | undefined;
  readonly grace?: string | undefined;
  readonly json?: boolean | undefined;
  readonly yes?: boolean | undefined;
}

/** No key is made for longer, so that a mistyped year is noticed. */
const MAX_YEARS = 10;

/** @throws {UsageError} when lists and logs could not show it */
export function parseName({ name }: KeyOptions): string {
  if (name !== undefined && /^[\w.@-]{1,64}$/.test(name)) return name;
  throw new UsageError(
    '--name must be 1 to 64 letters, digits, dots, dashes, underscores or @, such as storefront-web.',
  );
}

/** @throws {UsageError} when there is no such permission */
export function parsePermission({ permission }: KeyOptions): Permission {
  if (permission === 'read' || permission === 'write') return permission;
  throw new UsageError('--permission must be read or write; a browser gets read.');
}

/**
 * When a key is to end: a day, which means its first moment in UTC, a time with its zone, or how long
 * from now.
 * @throws {UsageError} when it is none of these, has been, or is more than ten years away
 */
export function parseExpires({ expires }: KeyOptions, now: number = Date.now()): Date | undefined {
  if (expires === undefined) return undefined;
  const time = /^\d+[smhd]$/.test(expires)
    ? new Date(now + parseDuration('--expires', expires))
    : parseInstant(/^[\d-]{10}$/.test(expires) ? `${expires}T00:00:00Z` : expires);
  if (time === undefined) {
    throw new UsageError(
      `--expires must be a day such as 2027-01-31, a time with its zone such as 2027-01-31T18:00:00Z, or a duration such as 90d; it is "${expires}".`,
    );
  }
  const last = new Date(now);
  last.setUTCFullYear(last.getUTCFullYear() + MAX_YEARS);
  if (time.getTime() > now && time <= last) return time;
  throw new UsageError(
    `--expires must lie ahead, by at most ${MAX_YEARS} years; it is ${time.toISOString()}.`,
  );
}

/** How long the old key works on, in milliseconds. @throws {UsageError} */
export function parseGrace({ grace = '24h' }: KeyOptions): number {
  return parseDuration('--grace', grace);
}

/** How near the end of a key must be for it to be listed, in milliseconds. @throws {UsageError} */
export function parseExpiring({ expiring }: KeyOptions): number | undefined {
  return expiring === undefined ? undefined : parseDuration('--expiring', expiring);
}
