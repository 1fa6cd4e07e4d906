import { parseStage } from '../../cli/stageOption.ts';
import { parseDuration } from '../../cli/time.ts';
import { UsageError } from '../../cli/usage.ts';
import type { Stage } from '../../stages/stages.ts';
import type { StatusRange } from './filterPatterns.ts';

/** The options of the command, as typed. */
export interface LogOptions {
  readonly stage?: string | undefined;
  readonly request?: string | undefined;
  readonly key?: string | undefined;
  readonly status?: string | undefined;
  readonly since?: string | undefined;
  readonly follow?: boolean | undefined;
  readonly json?: boolean | undefined;
}

/** What is looked for. */
export interface LogSearch {
  readonly stage: Stage;
  /** An X-Request-Id: everything that is known of this one request. */
  readonly request?: string | undefined;
  /** A key's name or key id. */
  readonly key?: string | undefined;
  readonly status?: StatusRange | undefined;
  /** As typed, or the default, such as `1h`. */
  readonly since: string;
  /** Milliseconds since the epoch. */
  readonly from: number;
  readonly follow: boolean;
  readonly json: boolean;
}

/** @throws {UsageError} when what was typed makes no sense */
export function parseLogSearch(options: LogOptions): LogSearch {
  const { request, follow = false, json = false } = options;
  const others = [options.key, options.status, options.follow];
  if (request !== undefined && others.some((value) => value !== undefined)) {
    throw new UsageError('--request finds one request: leave out --key, --status and --follow.');
  }
  const since = options.since ?? (request !== undefined ? '1d' : follow ? '1m' : '1h');
  return {
    stage: parseStage(options.stage),
    request: request === undefined ? undefined : parseRequest(request),
    key: options.key === undefined ? undefined : parseKey(options.key),
    status: options.status === undefined ? undefined : parseStatus(options.status),
    since,
    from: Date.now() - parseDuration('--since', since),
    follow,
    json,
  };
}

/** What an X-Request-Id can be, of ours or of a client's. */
function parseRequest(text: string): string {
  if (/^[\w.-]{1,64}$/.test(text) && !isWholeKey(text)) return text;
  throw new UsageError(
    '--request must be an X-Request-Id: 1 to 64 letters, digits, dots, dashes or underscores.',
  );
}

function parseKey(text: string): string {
  if (/^[\w.@-]{1,64}$/.test(text) && !isWholeKey(text)) return text;
  throw new UsageError(
    '--key must be the name or the key id that npm run keys -- list shows, not the key itself.',
  );
}

function parseStatus(text: string): StatusRange {
  const [, hundreds, rest] = /^([1-5])(\d\d|xx)$/.exec(text) ?? [];
  if (rest === 'xx') return { from: Number(`${hundreds}00`), to: Number(`${hundreds}99`) };
  if (rest !== undefined) return { from: Number(text), to: Number(text) };
  throw new UsageError(`--status must be such as 404 or 5xx; it is "${text}".`);
}

/** Typed by mistake; messages do not repeat it. */
function isWholeKey(text: string): boolean {
  return text.startsWith('psk_');
}
