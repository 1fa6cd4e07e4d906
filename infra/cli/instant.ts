/**
 * A time written as RFC 3339 (https://www.rfc-editor.org/rfc/rfc3339#section-5.6) with its zone, since
 * without one it would mean another time on each machine.
 * @returns `undefined` for anything else, such as a day that there is not
 */
export function parseInstant(text: string): Date | undefined {
  const [, wall, fraction = '', zone] =
    /^(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d)(\.\d{1,9})?(Z|[+-]\d\d:\d\d)$/.exec(text) ?? [];
  const time = new Date(`${wall}${fraction}${zone}`);
  // JavaScript takes the 30th of February for the 2nd of March.
  if (Number.isNaN(time.getTime()) || toSecond(new Date(`${wall}Z`)) !== `${wall}Z`) {
    return undefined;
  }
  return time;
}

/** Such as `2026-12-24T09:59:00Z`; a part of a second is left out. */
export function toSecond(time: Date): string {
  return Number.isNaN(time.getTime()) ? '' : `${time.toISOString().slice(0, 19)}Z`;
}
