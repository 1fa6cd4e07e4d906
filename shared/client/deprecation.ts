import { toLink } from './pages.ts';

/** What an answer says of an operation that is deprecated. */
export interface Deprecation {
  readonly operationId: string;
  /** Since when it is (`Deprecation`, RFC 9745). */
  readonly since: Date | undefined;
  /** After when it may be gone (`Sunset`, RFC 8594). */
  readonly sunset: Date | undefined;
  /** The page that says what to call instead (`Link`, relation `deprecation`). */
  readonly documentation: string | undefined;
}

export type ReportDeprecation = (operationId: string, headers: Headers) => void;

/** Reports each deprecated operation once. */
export function defineDeprecationReport(
  onDeprecation: (deprecation: Deprecation) => void = warn,
): ReportDeprecation {
  const reported = new Set<string>();
  return function reportDeprecation(operationId, headers) {
    const since = headers.get('Deprecation');
    if (since === null || reported.has(operationId)) return;
    reported.add(operationId);
    onDeprecation({
      operationId,
      since: toDate(Number(since.replace('@', '')) * 1_000),
      sunset: toDate(Date.parse(headers.get('Sunset') ?? '')),
      documentation: toLink(headers, 'deprecation'),
    });
  };
}

function toDate(milliseconds: number): Date | undefined {
  const date = new Date(milliseconds);
  return Number.isNaN(date.getTime()) ? undefined : date;
}

function warn({ operationId, sunset, documentation }: Deprecation): void {
  const end = sunset ? `, and may be gone after ${sunset.toISOString()}` : '';
  const link = documentation ? `: see ${documentation}` : '.';
  console.warn(`The pet store's operation ${operationId} is deprecated${end}${link}`);
}
