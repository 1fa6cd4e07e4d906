import * as z from 'zod';
import { UsageError } from './usage.ts';

const milliseconds: Record<string, number> = {
  s: 1_000,
  m: 60_000,
  h: 3_600_000,
  d: 86_400_000,
};

/**
 * Reads `90d`, `24h`, `30m` or `0s`; the result is in milliseconds, at most ten years.
 * @throws {UsageError} on anything else
 */
export function parseDuration(option: string, text: string): number {
  const [, count, unit = ''] = /^(\d{1,9})([smhd])$/.exec(text) ?? [];
  const duration = Number(count) * (milliseconds[unit] ?? Number.NaN);
  if (duration <= 3_653 * 86_400_000) return duration;
  throw new UsageError(
    `${option} must be a number with s, m, h or d, such as 24h or 90d, and at most ten years; it is "${text}".`,
  );
}

const instant = z.iso.datetime({ offset: true });

/**
 * Reads a time as in RFC 3339 (https://www.rfc-editor.org/rfc/rfc3339#section-5.6), always with its zone. Without
 * a zone, it is another time on each machine.
 * @returns `undefined` for anything else, such as 30 February
 */
export function parseInstant(text: string): Date | undefined {
  return instant.safeParse(text).success ? new Date(text) : undefined;
}

/** Such as `2026-12-24T09:59:00Z`, without fractions of a second. */
export function toSecond(time: Date): string {
  return `${time.toISOString().slice(0, 19)}Z`;
}
