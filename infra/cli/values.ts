import * as z from 'zod';

/** How the text of an option is read. */
export interface Kind<Value> {
  /** What it must be. */
  readonly rule: string;
  /** Returns `undefined` for anything else. */
  readonly parse: (text: string) => Value | undefined;
}

export const pattern = (allowed: RegExp, rule: string): Kind<string> => ({
  rule,
  parse: (text) => (allowed.test(text) ? text : undefined),
});

export const httpUrl: Kind<string> = {
  rule: 'a URL such as http://127.0.0.1:8000',
  parse: (text) => (/^https?:/.test(text) && URL.canParse(text) ? text : undefined),
};

/** A stage's base URL. Only to this machine is the key sent unencrypted. */
export const baseUrl: Kind<string> = {
  rule: 'the https address of a stage, such as https://x.execute-api.eu-west-1.amazonaws.com/v1',
  parse: (text) =>
    /^https?:[^?#]+\/v1$/.test(text) &&
    URL.canParse(text) &&
    (text.startsWith('https') || /^(localhost|127\.0\.0\.1|\[::1\])$/.test(new URL(text).hostname))
      ? text
      : undefined,
};

export function whole(min = 0, max = Number.MAX_SAFE_INTEGER): Kind<number> {
  return {
    rule: `a whole number${max < Number.MAX_SAFE_INTEGER ? ` from ${min} to ${max}` : ''}`,
    parse: (text) =>
      /^\d+$/.test(text) && Number(text) >= min && Number(text) <= max ? Number(text) : undefined,
  };
}

export const share: Kind<number> = {
  rule: 'a share from 0 to 1, such as 0.1',
  parse: (text) => (/^(?:0?\.\d+|[01](?:\.0+)?)$/.test(text) ? Number(text) : undefined),
};

export const factor: Kind<number> = {
  rule: 'a number above 0, such as 2 or 0.5',
  parse: (text) => (/^\d{1,6}(\.\d+)?$/.test(text) && Number(text) > 0 ? Number(text) : undefined),
};

const units = { ms: 1, s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 } as const;

/** In milliseconds. */
const defineDuration = (max: number, rule: string): Kind<number> => ({
  rule,
  parse(text) {
    const [, count, unit] = /^(\d{1,9})(ms|[smhd])$/.exec(text) ?? [];
    const milliseconds = Number(count) * units[unit as keyof typeof units];
    return milliseconds <= max ? milliseconds : undefined;
  },
});

export const duration = defineDuration(
  3_653 * 86_400_000,
  'a number with s, m, h or d, such as 24h or 90d, and at most ten years',
);

/** At most the gateway's timeout for a function. */
export const delay = defineDuration(29_000, 'a time such as 200ms or 2s, at most 29s');

/** A day, of which it takes the midnight in UTC, a time with its zone, or a duration from now. */
export const end: Kind<Date> = {
  rule: 'a day ahead such as 2027-01-31, a time with its zone such as 2027-01-31T18:00:00Z, or a duration such as 90d',
  parse(text) {
    const milliseconds = duration.parse(text);
    const time =
      milliseconds === undefined
        ? (parseInstant(`${text}T00:00:00Z`) ?? parseInstant(text))
        : new Date(Date.now() + milliseconds);
    return time && time.getTime() > Date.now() ? time : undefined;
  },
};

const instant = z.iso.datetime({ offset: true });

/**
 * Reads a time as in RFC 3339 (https://www.rfc-editor.org/rfc/rfc3339#section-5.6), always with its zone. Without
 * a zone, it is another time on each machine. 30 February is no date.
 */
function parseInstant(text: string): Date | undefined {
  return instant.safeParse(text).success ? new Date(text) : undefined;
}
