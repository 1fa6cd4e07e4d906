import { isDeepStrictEqual } from 'node:util';
import {
  findResponseProblems,
  type WholeResponse,
} from '../../../infra/docs/openapi/responseProblems.ts';
import { gatewayErrors } from '../../../infra/gateway/gatewayErrors.ts';
import { decodeParameter } from '../../../infra/gateway/proxyEvent.ts';
import { type ErrorCode, statusOfCode } from '../../../shared/contract/errorBody.ts';
import { parseJson } from '../../../shared/contract/json.ts';
import { operations } from '../../../shared/contract/operations.ts';
import { readVersion } from '../../../shared/store/inventoryRecord.ts';
import { summarize } from '../../bench/report.ts';
import type { FuzzCase } from './cases.ts';
import { secretMark } from './requests.ts';
import type { Entry, FuzzTarget, Outcome } from './target.ts';

export interface Responded extends Outcome {
  readonly response: WholeResponse;
}

export function findOwnProblems({ one, response }: Responded): string[] {
  const { status, bytes } = response;
  const isImpossible = one.transport === 'event' && !one.isPossible;
  if (status >= 500 && !(isImpossible && status === 500)) {
    return [`status: ${status} ${bytes.toString('utf8', 0, 200)}`];
  }
  if (one.transport === 'socket' && one.request.method === 'HEAD') return [];
  const problems = [...findDocumentProblems(one, response), ...findErrorProblems(response)];
  return problems.map((problem) => `body: ${status}: ${problem}`);
}

/** Invalid HTTP names no operation, so the document has no response to compare. */
function findDocumentProblems(one: FuzzCase, response: WholeResponse): readonly string[] {
  const { operationId, method, path, query } = one.request;
  if (one.transport === 'event') {
    const { method: called, path: template } = operations[operationId];
    return findResponseProblems(called, template.replace('{petId}', '1'), response);
  }
  // Every address refuses oversized headers in the same way.
  const { status, bytes } = response;
  const isRefused = status === 400 && bytes.includes(gatewayErrors.DEFAULT_4XX.message);
  if (one.framing !== 'whole' || isRefused) return [];
  return findResponseProblems(method, `${path}?${query}`, response);
}

/** What the document's schemas cannot express. The 413 is the gateway's own on AWS, and we cannot change it. */
function findErrorProblems({ status, bytes }: WholeResponse): string[] {
  if (status < 400 || status === 413) return [];
  const text = bytes.toString('utf8');
  try {
    const { code, status: repeated, message } = JSON.parse(text);
    const isError = statusOfCode[code as ErrorCode] === status && repeated === status && message;
    return isError ? [] : [`no Error body: ${text.slice(0, 200)}`];
  } catch {
    return [`invalid JSON: ${text.slice(0, 200)}`];
  }
}

interface LogLine {
  readonly requestId?: string;
  readonly operation?: string;
  readonly sourceIp?: string;
  readonly status?: number | string;
  readonly keyId?: string;
}

/**
 * What is wrong with the lines written for these responses.
 * @param secrets the secrets of the keys in use
 */
export function findLogProblems(
  written: readonly string[],
  responded: readonly Responded[],
  secrets: readonly string[],
): string[] {
  const secret = new RegExp(['psk_', secretMark, ...secrets].join('|'));
  const lines = written.map((text) => ({ line: parseLine(text), shown: text.slice(0, 300) }));
  const parsed = lines.flatMap(({ line }) => line ?? []);
  const linesOf = Map.groupBy(parsed, ({ requestId }) => requestId);
  return [
    ...written.filter((text) => secret.test(text)).map((text) => `secret: in the line ${text}`),
    ...lines.flatMap(({ line, shown }) =>
      line ? [] : `log: not one line with one JSON object: ${JSON.stringify(shown)}`,
    ),
    ...responded.flatMap((each) => {
      const requestId = each.response.headers.get('x-request-id');
      return requestId === null ? [] : findLineProblems(each, linesOf.get(requestId));
    }),
  ];
}

/** @param lines those with the request's id */
function findLineProblems(
  { one, response: { status } }: Responded,
  lines: LogLine[] = [],
): string[] {
  const isAccess = ({ operation, sourceIp }: LogLine) =>
    operation !== undefined || sourceIp !== undefined;
  const { length } = lines.filter(isAccess);
  // Invalid HTTP has no line.
  const needsLine = one.transport === 'event' ? one.isPossible : one.framing === 'whole';
  return [
    ...lines.flatMap((line) => {
      const { status: logged, keyId } = line;
      // A response of 500 and more is a problem already.
      if (!isAccess(line) && status >= 500) return [];
      if (!isAccess(line)) return `a line about an error: ${JSON.stringify(line)}`;
      if (Number(logged) !== status) return `status ${logged} for a response with ${status}`;
      const isOwnKey = keyId === undefined || sendsKey(one, keyId);
      return isOwnKey ? [] : `the key id ${keyId}, which the request did not send`;
    }),
    ...(length > 1 || (length === 0 && needsLine) ? [`${length} lines for one request`] : []),
  ].map((problem) => `log: ${problem}`);
}

/**
 * Parses a line of Lambda's console or of the gateway's access log.
 * @returns nothing if the text is not exactly one line with one such object
 */
function parseLine(text: string): LogLine | undefined {
  if (text.indexOf('\n') !== text.length - 1) return undefined;
  try {
    const line = JSON.parse(text);
    const { timestamp, level, message, sourceIp, requestId } = line ?? {};
    const isConsole = [timestamp, level].every((one) => typeof one === 'string');
    if (isConsole) return typeof message === 'object' && message !== null ? message : undefined;
    return [sourceIp, requestId].every((one) => typeof one === 'string') ? line : undefined;
  } catch {
    return undefined;
  }
}

function sendsKey({ request }: FuzzCase, keyId: string): boolean {
  return request.headers.some(([, value]) => value.includes(`psk_${keyId}`));
}

/** The most that memory may grow from the second third of a run to the last, in bytes. */
const MAX_GROWTH = 8 * 1024 * 1024;
/** Fewer samples show only a steep trend. */
const MIN_SAMPLES = 9;

/** Memory is flat if the medians of the last two thirds of the samples are close; in the first third, caches fill. */
export function findHeapProblems(samples: readonly number[]): string[] {
  if (samples.length < MIN_SAMPLES) return [];
  const third = Math.floor(samples.length / 3);
  const middle = summarize(samples.slice(third, samples.length - third)).median;
  const growth = summarize(samples.slice(-third)).median - middle;
  if (growth <= MAX_GROWTH) return [];
  const megabytes = (growth / 1024 / 1024).toFixed(1);
  return [`heap: ${megabytes} MB more in the last third than in the second`];
}

interface Update {
  readonly petId: string;
  readonly quantity: string;
  readonly tag: string;
}

interface Delta {
  readonly petId: string;
  readonly delta: number;
}

/** Compares the inventory with the responses: an update or a sale with a 200 changes it, and nothing else does. */
export async function defineStoreOracle(target: FuzzTarget) {
  let entries = await target.readEntries();
  const others = await target.readOthers();
  const { respondedTags } = target;
  /** Entries named by writes without a response, ever and in the last batch: these may take effect later. */
  const everUnknown = new Set<string>();
  let lastUnknown = new Set<string>();

  /** @param deltas of the adjustments with a 200 that is no replay */
  function findProblem(
    updates: readonly Update[],
    deltas: readonly Delta[],
    isUnknown: boolean,
    before: Entry,
    after: Entry | undefined,
  ): string | undefined {
    if (isDeepStrictEqual(before, after)) {
      // A repeated request has no second effect, and gets the tag of its first response.
      const isRepeated = updates.every(({ tag }) => respondedTags.has(tag)) && deltas.length === 0;
      if (everUnknown.has(before.p?.N ?? '') || isRepeated) return undefined;
      return 'is unchanged after a write that got 200';
    }
    const hasItsStatus = after !== undefined && isDeepStrictEqual(after.s, before.s);
    const hasResponse = updates.some(
      ({ quantity, tag }) => after && quantity === after.q?.N && tag === `"${readVersion(after)}"`,
    );
    const counts = toCounts(Number(before.q?.N), updates, deltas);
    const isAdjusted = deltas.length > 0 && counts.has(Number(after?.q?.N));
    if (hasItsStatus && (hasResponse || isAdjusted || isUnknown)) return undefined;
    return `is ${JSON.stringify(after)}, which no response reported`;
  }

  return {
    versionOf(petId: string): string {
      const entry = entries.get(petId);
      return entry ? readVersion(entry) : 'none';
    },

    async findEntryProblems(outcomes: readonly Outcome[]): Promise<string[]> {
      const sent = outcomes.filter(({ one }) => isWrite(one));
      if (sent.length === 0) return [];
      const updates = sent.flatMap(({ response }) => (response ? parseUpdate(response) : []));
      const deltas = sent.flatMap((outcome) => (isOpen(outcome) ? [] : parseDeltas(outcome)));
      const unknown = new Set(sent.filter(isOpen).flatMap(toPetIds));
      for (const petId of unknown) everUnknown.add(petId);
      const now = await target.readEntries();
      const problems = [...entries].flatMap(([petId, before]) => {
        const isUnknown = unknown.has(petId) || lastUnknown.has(petId);
        const own = updates.filter((update) => update.petId === petId);
        const ownDeltas = deltas.filter((one) => one.petId === petId);
        const problem = findProblem(own, ownDeltas, isUnknown, before, now.get(petId));
        return problem === undefined ? [] : [`store: The entry ${petId} ${problem}.`];
      });
      for (const { tag } of updates) respondedTags.add(tag);
      entries = now;
      lastUnknown = unknown;
      return problems;
    },

    async findOtherProblems(): Promise<string[]> {
      return isDeepStrictEqual(await target.readOthers(), others)
        ? []
        : ['store: Something other than the entries has changed.'];
    },
  };
}

/** Each count that an entry may have: all deltas take effect, or those after the last update. */
function toCounts(
  before: number,
  updates: readonly Update[],
  deltas: readonly Delta[],
): ReadonlySet<number> {
  const sum = deltas.reduce((total, { delta }) => total + delta, before);
  const counts = new Set(updates.map(({ quantity }) => Number(quantity)));
  for (const { delta } of deltas) {
    for (const count of [...counts]) counts.add(count + delta);
  }
  return updates.length === 0 ? new Set([sum]) : counts;
}

/** Whether a write has no response, or one whose request may have changed on its way to the function. */
function isOpen({ one, response }: Outcome): boolean {
  if (!response || response.status >= 500) return true;
  const isUnchanged = one.transport === 'event' ? one.isPossible : one.framing === 'whole';
  return !isUnchanged && isAdjustment(one);
}

function isAdjustment({ request: { operationId } }: FuzzCase): boolean {
  return operationId === 'adjustInventory';
}

/** The ids that a write names. */
function toPetIds({ one, response }: Outcome): string[] {
  const { transport, request } = one;
  const texts = [request.body?.toString(), response?.bytes.toString()];
  const named = texts.flatMap((text) => [...(text?.matchAll(/"petId":\s*(-?\d+)/g) ?? [])]);
  const [last = ''] = request.path.trim().split('/').at(-1)?.split(/[?#]/) ?? [];
  const own = decodeParameter(transport === 'event' ? (request.petId ?? '') : last);
  return [own, ...(isAdjustment(one) ? named.map(([, petId = '']) => petId) : [])];
}

function isWrite(one: FuzzCase): boolean {
  return one.transport === 'event'
    ? operations[one.request.operationId].method !== 'GET'
    : /PATCH|POST/.test(Buffer.concat(one.chunks).toString('latin1'));
}

/** What an adjustment changed. */
function parseDeltas({ one, response }: Outcome): Delta[] {
  const isReplay = response?.headers.has('idempotent-replayed');
  if (!isAdjustment(one) || response?.status !== 200 || isReplay) return [];
  const { adjustments } = parseJson(one.request.body?.toString() ?? '') as {
    adjustments: { petId: number | bigint; delta: number }[];
  };
  return adjustments.map(({ petId, delta }) => ({ petId: String(BigInt(petId)), delta }));
}

function parseUpdate({ status, headers, bytes }: WholeResponse): Update[] {
  const tag = headers.get('etag') ?? '';
  if (status !== 200 || !tag.startsWith('"')) return [];
  const [, petId, quantity] = /^\{"petId":(-?\d+),"quantity":(\d+),/.exec(bytes.toString()) ?? [];
  return petId === undefined || quantity === undefined ? [] : [{ petId, quantity, tag }];
}
