import { readFileSync } from 'node:fs';
import * as z from 'zod/mini';
import { statusOfCode } from '../../../shared/contract/errorBody.ts';
import type { Operation } from '../../../shared/contract/operation.ts';
import {
  mapOperations,
  type OperationId,
  operations,
} from '../../../shared/contract/operations.ts';
import { DEFAULT_LIMIT, pageQuery } from '../../../shared/contract/pageQuery.ts';

/** A kind of response that is priced: a status, and what makes its cost differ from others of the same status. */
export type ResponseKind =
  | '200'
  | `200 ${'gzip' | 'zstd' | 'petId' | 'petIds' | 'cart' | 'replay'}`
  | '304'
  | `${(typeof statusOfCode)[keyof typeof statusOfCode]}`;

/**
 * Every operation's responses. 413 and 415 cost the same as 400. An error from 500 up costs what the response would
 * have cost that it replaces.
 */
export const responsesOf = mapOperations((id): readonly ResponseKind[] => {
  const { streamed, query = {}, errors, ...row }: Operation = operations[id];
  const { requestHeaders = [] } = row;
  const statuses = errors
    .filter((code) => code !== 'payload_too_large' && code !== 'unsupported_media_type')
    .map((code) => `${statusOfCode[code]}` as const);
  return [
    '200',
    ...(streamed ? (['200 gzip', '200 zstd'] as const) : []),
    // Of one id, and of as many as a request may name.
    ...('petId' in query ? (['200 petId', '200 petIds'] as const) : []),
    // Of as many pets as one request may have.
    ...(id === 'adjustInventory' ? (['200 cart', '200 replay'] as const) : []),
    ...(requestHeaders.includes('If-None-Match') ? (['304'] as const) : []),
    ...new Set(statuses),
    '429',
  ];
});

export function growsWithInventory(operationId: OperationId, response: ResponseKind): boolean {
  const bySize: readonly ResponseKind[] = ['200', '200 gzip', '200 zstd', '304'];
  return operations[operationId].streamed && bySize.includes(response);
}

/** The measured lengths of the inventory, in entries. */
export const measuredSizes = [1_000, 10_000, 100_000] as const;

/** What AWS bills for one request, in its own units, as the tests measure it. */
export interface ResponseUnits {
  readonly operationId: OperationId;
  readonly response: ResponseKind;
  /** What it asks for at the contract's limits, such as `limit=1000`. Only the worst month has such requests. */
  readonly request?: string;
  /** The length of the inventory and of its ids, if the units grow with them. No measured entry has a version. */
  readonly entries?: number;
  readonly idDigits?: number;
  /** None if the gateway refuses a request because of its rate; one per 10 MB of a streamed response. */
  readonly gatewayRequests: number;
  readonly functionCalls: number;
  /** Assumed, see `estimateDuration`. */
  readonly billedMilliseconds: number;
  /** With an API key that the container has cached. A key lookup reads one unit more. */
  readonly readUnits: number;
  readonly writeUnits: number;
  /** Head and body, as sent to the client. */
  readonly responseBytes: number;
  /** The function's own line, Lambda's lines for the start and end of the call, and the gateway's line. */
  readonly logBytes: Readonly<Record<'request' | 'start' | 'report' | 'access', number>>;
}

/** `test/conformance/costs/units.test.ts` writes its measurements here. */
export const unitsFile = new URL('units.json', import.meta.url);

/** Reads the file once: a report asks for it a hundred times. */
export function readRecordedUnits(): readonly ResponseUnits[] {
  recordedUnits ??= JSON.parse(readFileSync(unitsFile, 'utf8')) as readonly ResponseUnits[];
  return recordedUnits;
}
let recordedUnits: readonly ResponseUnits[] | undefined;

const committedSizes = new URL('../sizes.json', import.meta.url);
const sizesFile = z.record(
  z.string(),
  z.strictObject({
    /** How many digits the entries' ids have. */
    idDigits: z.number().check(z.minimum(1), z.maximum(19)),
    /** The share of entries that have been updated at least once, and so have a version. */
    taggedShare: z.number().check(z.minimum(0), z.maximum(1)),
  }),
);
type RecordSizes = Readonly<z.output<typeof sizesFile>[string]>;

/** For a stage without measurements: the largest possible. */
export const usualSizes: RecordSizes = { idDigits: 19, taggedShare: 1 };

export function readSizes(stage = '', text = readFileSync(committedSizes, 'utf8')): RecordSizes {
  const { data, error } = sizesFile.safeParse(JSON.parse(text));
  if (error) throw new Error(`infra/costs/sizes.json: ${z.prettifyError(error)}`);
  return data[stage] ?? usualSizes;
}

/** The name and value of the version's attribute. */
const VERSION_BYTES = 6;

/**
 * The bytes of an inventory record. Two digits of a number take one byte:
 * https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/CapacityUnitCalculations.html
 */
export function toRecordBytes({ idDigits, taggedShare }: RecordSizes): number {
  return 8 + Math.ceil(idDigits / 2) + taggedShare * VERSION_BYTES;
}

interface UnitsSource {
  readonly units: readonly ResponseUnits[];
  readonly sizes?: RecordSizes;
}

/**
 * The units of a response for any length of the inventory.
 * @returns `undefined` if there is no such response: an inventory of several pages has no 304
 */
export function findUnits(
  { units, sizes }: UnitsSource,
  operationId: OperationId,
  response: ResponseKind,
  entries: number,
): ResponseUnits | undefined {
  const own = units.filter(
    (one) => one.operationId === operationId && one.response === response && !one.request,
  );
  return interpolateUnits(own, entries, sizes);
}

/** The units of a page of so many items, between those of the usual and of the largest page; or of a list of so many. */
export function findPageUnits(source: UnitsSource, operationId: OperationId, items: number) {
  const usual = findUnits(source, operationId, '200', items);
  const { maximum = DEFAULT_LIMIT } = pageQuery.limit.schema;
  const all = findAllUnits(source, operationId, items);
  const largest = all.find(({ request }) => request === `limit=${maximum}`);
  if (!usual || !largest || usual.entries !== undefined) return usual;
  const between = (name: 'readUnits' | 'responseBytes') =>
    interpolate(items, [
      [DEFAULT_LIMIT, usual[name]],
      [maximum, largest[name]],
    ]);
  const responseBytes = Math.round(between('responseBytes'));
  return {
    ...usual,
    readUnits: Math.ceil(2 * between('readUnits')) / 2,
    responseBytes,
    billedMilliseconds: estimateDuration(operationId, '200', { responseBytes }),
  };
}

/** Every request that was measured for an operation, also those at the contract's limits. */
export function findAllUnits({ units, sizes }: UnitsSource, id: OperationId, entries: number) {
  const own = units.filter(({ operationId }) => operationId === id);
  const requests = Map.groupBy(own, ({ response, request }) => `${response} ${request}`);
  return [...requests.values()].flatMap((points) => interpolateUnits(points, entries, sizes) ?? []);
}

/**
 * Between measured lengths of the inventory, or beyond the last two, it interpolates linearly. The length of ids is
 * treated in the same way.
 */
function interpolateUnits(
  points: readonly ResponseUnits[],
  entries: number,
  sizes: RecordSizes = usualSizes,
): ResponseUnits | undefined {
  const [first] = points;
  if (first?.entries === undefined) return first;
  const { operationId, response } = first;
  const { idDigits } = sizes;
  if (response === '304' && entries * toRecordBytes(sizes) > BYTES_OF_A_PAGE) return undefined;
  const byDigits = [...Map.groupBy(points, (point) => Number(point.idDigits))];
  const between = (name: 'readUnits' | 'responseBytes') => {
    const ofDigits = byDigits.map(([digits, own]): Point => {
      const lengths = own.map((point): Point => [Number(point.entries), point[name]]);
      return [digits, interpolate(entries, lengths)];
    });
    return interpolate(idDigits, ofDigits);
  };
  const versionBytes = toRecordBytes(sizes) - toRecordBytes({ idDigits, taggedShare: 0 });
  const responseBytes = Math.round(between('responseBytes'));
  return {
    ...first,
    entries,
    idDigits,
    // Rounded to half units, of 4 KB each.
    readUnits: Math.round(2 * (between('readUnits') + (entries * versionBytes) / 8_192)) / 2,
    responseBytes,
    gatewayRequests: toGatewayRequests(responseBytes),
    billedMilliseconds: estimateDuration(operationId, response, { entries }),
  };
}

type Point = readonly [at: number, value: number];

/** Linear between two neighbouring points, or beyond the last two. */
function interpolate(at: number, points: readonly Point[]): number {
  const behind = points.findIndex(([start]) => start >= at);
  const index = behind < 0 ? points.length - 1 : Math.max(behind, 1);
  const [end, last] = points[index] ?? points[0] ?? [0, 0];
  const [start, value] = points[index - 1] ?? [end, last];
  return start === end ? value : value + ((last - value) * (at - start)) / (end - start);
}

/** A page of a Scan has this many bytes of records. */
const BYTES_OF_A_PAGE = 2 ** 20;

/** A streamed response counts as one request for each 10 MB, rounded up: https://aws.amazon.com/api-gateway/pricing/ */
export const BYTES_OF_A_REQUEST = 10 * 2 ** 20;

export function toGatewayRequests(responseBytes: number): number {
  return Math.max(1, Math.ceil(responseBytes / BYTES_OF_A_REQUEST));
}

/**
 * The milliseconds that Lambda bills for a call with the memory of `stages.ts`. They are an assumption, since the model
 * knows no network. They consist of the CPU that `npm run bench` measures, at the memory's share of a processor, and
 * some 5 ms for each call of DynamoDB. The exact values are in a bill, or in the platform's report lines.
 */
export function estimateDuration(
  operationId: OperationId,
  response: ResponseKind,
  { entries = 1_000, responseBytes = 0 }: { entries?: number; responseBytes?: number } = {},
) {
  if (growsWithInventory(operationId, response)) {
    const [small, large] = listMilliseconds[toBodyKind(response)];
    return Math.ceil(small + ((large - small) * (entries - 1_000)) / 99_000);
  }
  if (response === '429') return 0;
  if (['400', '401', '403'].includes(response)) return 2;
  // A transaction, and then a read of the entries or a write of the refusal.
  if (operationId === 'adjustInventory') return response === '422' ? 15 : 20;
  if (response === '412') return 15;
  // To decode and write a page of 173 KB takes 9 ms of a whole processor, and a function with 512 MB has 29 % of one.
  return 10 + Math.floor(responseBytes / 5_120);
}

/** For 1,000 and 100,000 entries, with 1,024 MB. */
const listMilliseconds = { plain: [25, 700], gzip: [30, 900], zstd: [26, 730] } as const;

export function toBodyKind(response: ResponseKind): keyof typeof listMilliseconds {
  if (response === '200 zstd') return 'zstd';
  return response === '200 gzip' ? 'gzip' : 'plain';
}
