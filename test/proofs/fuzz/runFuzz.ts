import { randomUUID } from 'node:crypto';
import { BatchWriteItemCommand, DynamoDBClient, ScanCommand } from '@aws-sdk/client-dynamodb';
import fc from 'fast-check';
import type { LoadModule } from '../../../infra/local/lambdaFunction.ts';
import { useLambdaConsole } from '../../../infra/local/lambdaRuntime.ts';
import { operations } from '../../../shared/contract/operations.ts';
import { mintApiKey, parseApiKey } from '../../../shared/keys/apiKey.ts';
import { readVersion, toInventoryRecord } from '../../../shared/store/inventoryRecord.ts';
import { addApiKey, openLocalTarget } from '../../conformance/localTarget.ts';
import { fixtures } from '../../conformance/target.ts';
import { exactFetch } from '../../support/exactFetch.ts';
import { readAsked } from './asked.ts';
import {
  type Exchange,
  findLogProblems,
  findProblems,
  findResponder,
  findStockProblems,
  type Outcomes,
  type Stock,
  toExchange,
} from './properties.ts';
import { arbitraryRequest, type FuzzRequest } from './requests.ts';

export type FuzzTarget = Awaited<ReturnType<typeof openFuzzTarget>>;

/** Few entries, so that requests meet at them. */
const inventory = fixtures.inventory.slice(0, 13);
const petIds = inventory.map(({ petId }) => petId.toString());

/** A local stage in this process, with the conformance suite's pets and orders. */
export async function openFuzzTarget(loadModule: LoadModule) {
  const target = await openLocalTarget({ data: { ...fixtures, inventory }, loadModule });
  const client = new DynamoDBClient();
  const keys: Readonly<Record<string, string>> = {
    ...{ write0: target.apiKey, write1: await addApiKey('write') },
    ...{ read0: target.readOnlyApiKey, unknown0: mintApiKey().apiKey },
  };
  return {
    baseUrl: target.baseUrl,
    /** By the name of a request's placeholder. */
    keys,
    /** By petId. */
    async readEntries() {
      const scan = new ScanCommand({ TableName: 'inventory', ConsistentRead: true });
      const { Items = [] } = await client.send(scan);
      return new Map(Items.map((item) => [String(item.p?.N), item]));
    },
    /** Gives each entry the count that it had at first. */
    async reset(): Promise<void> {
      const puts = inventory.map((item) => ({ PutRequest: { Item: toInventoryRecord(item) } }));
      await client.send(new BatchWriteItemCommand({ RequestItems: { inventory: puts } }));
    },
    async close(): Promise<void> {
      client.destroy();
      await target.close();
    },
  };
}

export interface FuzzOptions {
  readonly seed: number;
  /** About how many requests. */
  readonly runs: number;
  /** The path of a batch to repeat, from a failure. */
  readonly path?: string | undefined;
  /** Whether a failure shrinks to the requests that it needs: by default, yes. */
  readonly shrinks?: boolean;
}

export type FuzzReport = Awaited<ReturnType<typeof runFuzz>>;

const MAX_BATCH = 40;

/** Sends batches of requests, each to the same stock, until one of them breaks a property. */
export async function runFuzz(target: FuzzTarget, options: FuzzOptions) {
  const { seed, runs, path, shrinks = true } = options;
  const statuses = new Map<number, number>();
  let failure: { problems: string[]; exchanges: Exchange[] } | undefined;
  using log = captureLog();
  const lengths = { minLength: 1, maxLength: MAX_BATCH, size: 'max' } as const;
  const batches = fc.noBias(fc.array(arbitraryRequest(petIds), lengths));
  const property = fc.asyncProperty(batches, async (requests) => {
    const exchanges: Exchange[] = [];
    const found = await sendBatch(target, requests, exchanges).catch((error: Error) => [
      `a request has a whole response: ${error.stack}`,
    ]);
    const secrets = Object.values(target.keys).map((key) => String(parseApiKey(key)?.secret));
    const problems = [...found, ...findLogProblems(log.take(), secrets)];
    for (const { status } of exchanges) statuses.set(status, (statuses.get(status) ?? 0) + 1);
    if (problems.length === 0) return;
    failure = { problems, exchanges };
    throw new Error(problems.join('\n'));
  });
  const { counterexamplePath } = await fc.check(property, {
    seed,
    numRuns: path === undefined ? Math.ceil(runs / (MAX_BATCH / 2)) : 1,
    endOnFailure: path !== undefined || !shrinks,
    ...(path !== undefined && { path }),
  });
  return { statuses, failure: failure && { ...failure, path: counterexamplePath ?? '' } };
}

/** Sends the requests one after the other, since the outcome of two writes at once has no order. */
async function sendBatch(
  target: FuzzTarget,
  requests: readonly FuzzRequest[],
  exchanges: Exchange[],
): Promise<string[]> {
  const batch = randomUUID();
  const outcomes: Outcomes = new Map();
  const tagsOf = new Map<string, Set<string>>();
  const problems: string[] = [];
  await target.reset();
  const before = await readStock(target);
  for (const request of requests) {
    const operation = findResponder(request);
    const petId = String(operation && readAsked(operation, request)?.petId);
    const isOfEntry = operation?.path === operations.updateInventory.path;
    const entry = isOfEntry ? (await target.readEntries()).get(petId) : undefined;
    let tag = entry && readVersion(entry);
    const tags = tagsOf.get(petId) ?? new Set();
    if (tag !== undefined) tagsOf.set(petId, tags.add(tag));
    // Before its first change, a tag that no entry has.
    const old = [...tags].findLast((one) => one !== tag) ?? 'AAAAAAA';
    const sent = fillIn(request, { ...target.keys, batch, old, tag: tag ?? 'none' });
    const sending = Array.from({ length: request.isTwice ? 2 : 1 }, () => send(target, sent));
    const received = await Promise.all(sending);
    // Of two at once, the one that had the effect comes first, and a second update finds its tag.
    const toPlace = ({ isReplay, status }: Exchange) => Number(isReplay) * 1_000 + status;
    for (const one of received.sort((a, b) => toPlace(a) - toPlace(b))) {
      problems.push(...findProblems({ ...one, tag }, outcomes));
      exchanges.push({ ...one, tag });
      tag = one.response.headers.get('etag')?.slice(1, -1) ?? tag;
    }
  }
  return [...problems, ...findStockProblems(before, exchanges, await readStock(target))];
}

async function readStock(target: FuzzTarget): Promise<Stock> {
  const entries = [...(await target.readEntries())];
  return new Map(entries.map(([petId, { q, s }]) => [petId, [BigInt(String(q?.N)), s?.S]]));
}

function fillIn(request: FuzzRequest, values: Readonly<Record<string, string>>): FuzzRequest {
  const fill = (text: string) => text.replaceAll(/<<(\w+)>>/g, (_, name) => values[name] ?? '');
  return { ...request, headers: request.headers.map(([name, value]) => [name, fill(value)]) };
}

async function send(target: FuzzTarget, request: FuzzRequest): Promise<Exchange> {
  const { method, path, query, body } = request;
  const lines = Map.groupBy(request.headers, ([name]) => name.toLowerCase());
  // Node.js sends a list as one line for each value.
  const headers = [...lines].map(([name, all]) => [name, all.map(([, value]) => value)]);
  const url = `${target.baseUrl}${path}${query === '' ? '' : `?${query}`}`;
  const response = await exactFetch(url, {
    ...{ method, headers: Object.fromEntries(headers) },
    ...(body && { body }),
  }).catch((cause) => {
    throw new Error(`${method} ${url}: ${cause}`);
  });
  const authorization = lines.get('authorization')?.map(([, value]) => value);
  const [, apiKey] = authorization?.join(', ').match(/^bearer +(\S+)$/i) ?? [];
  const name = Object.keys(target.keys).find((one) => target.keys[one] === apiKey);
  const permission = (['read', 'write'] as const).find((one) => name?.startsWith(one));
  return toExchange(request, response, permission);
}

/** Makes `console` write as Lambda's does, and keeps what this process writes, until it is disposed. */
function captureLog() {
  const written: string[] = [];
  const own = { ...console };
  const streams = [process.stdout, process.stderr].map((stream) => [stream, stream.write] as const);
  for (const [stream] of streams) stream.write = (text: unknown) => written.push(String(text)) > 0;
  useLambdaConsole();
  return {
    take: () => written.splice(0),
    [Symbol.dispose]() {
      for (const [stream, write] of streams) stream.write = write;
      Object.assign(console, own);
    },
  };
}
