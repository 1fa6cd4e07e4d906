import { randomUUID } from 'node:crypto';
import { BatchWriteItemCommand, DynamoDBClient, ScanCommand } from '@aws-sdk/client-dynamodb';
import fc from 'fast-check';
import { useLambdaConsole } from '../../../infra/local/lambdaRuntime.ts';
import type { LoadModule } from '../../../infra/local/localStage.ts';
import { mintApiKey, parseApiKey } from '../../../shared/keys/apiKey.ts';
import { readVersion, toInventoryRecord } from '../../../shared/store/inventoryRecord.ts';
import { addApiKey, openLocalTarget } from '../../conformance/localTarget.ts';
import { fixtures } from '../../conformance/target.ts';
import { type ExactResponse, exactFetch } from '../../support/exactFetch.ts';
import { type Entries, type Exchange, findProblems, toExchange } from './properties.ts';
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
    async readEntries(): Promise<Entries> {
      const scan = new ScanCommand({ TableName: 'inventory', ConsistentRead: true });
      const { Items = [] } = await client.send(scan);
      return new Map(
        Items.map((item) => [
          String(item.p?.N),
          {
            quantity: BigInt(String(item.q?.N)),
            status: String(item.s?.S),
            tag: readVersion(item),
          },
        ]),
      );
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

const MAX_BATCH = 40;

/** Sends batches of requests, each to the same stock, until an exchange breaks a property. */
export async function runFuzz(target: FuzzTarget, options: FuzzOptions) {
  const { seed, runs, path, shrinks = true } = options;
  /** The number of responses by status. */
  const statuses = new Map<number, number>();
  using log = captureLog();
  const lengths = { minLength: 1, maxLength: MAX_BATCH, size: 'max' } as const;
  const batches = fc.noBias(fc.array(arbitraryRequest(petIds), lengths));
  const property = fc.asyncProperty(batches, async (requests) => {
    for await (const status of sendBatch(target, requests, log.take)) {
      statuses.set(status, (statuses.get(status) ?? 0) + 1);
    }
  });
  const { counterexamplePath, errorInstance } = await fc.check(property, {
    seed,
    numRuns: path === undefined ? Math.ceil(runs / (MAX_BATCH / 2)) : 1,
    endOnFailure: path !== undefined || !shrinks,
    ...(path !== undefined && { path }),
  });
  return {
    statuses,
    ...(counterexamplePath !== null && { path: counterexamplePath }),
    /** The requests of the failed batch and their responses, then the properties that the last one breaks. */
    failure: errorInstance instanceof Error ? errorInstance.message : '',
  };
}

/**
 * Sends the requests one after the other, and yields the statuses.
 * @throws {Error} if an exchange breaks a property
 */
async function* sendBatch(
  target: FuzzTarget,
  requests: readonly FuzzRequest[],
  takeLog: () => readonly string[],
): AsyncGenerator<number> {
  const batch = randomUUID();
  const secrets = Object.values(target.keys).map((key) => String(parseApiKey(key)?.secret));
  const outcomes = new Map();
  const lines: string[] = [];
  await target.reset();
  const first = await target.readEntries();
  let before = first;
  for (const request of requests) {
    const tag = before.get(request.petId)?.tag ?? 'none';
    const earlier = first.get(request.petId)?.tag ?? tag;
    // Before its first change, a tag that no entry has.
    const old = earlier === tag ? 'AAAAAAA' : earlier;
    const response = await send(target, request, { ...target.keys, batch, old, tag });
    // A read that changes something shows with the next write.
    const after = request.method === 'GET' ? before : await target.readEntries();
    const exchange = toExchange(request, response, [before, after], takeLog());
    const problems = findProblems(exchange, { secrets, outcomes });
    lines.push(describe(exchange));
    if (problems.length > 0) throw new Error([...lines, ...problems].join('\n'));
    yield response.status;
    before = after;
  }
}

/** @param values by the name of their placeholder */
function send(
  { baseUrl }: FuzzTarget,
  { method, path, query, headers, body }: FuzzRequest,
  values: Readonly<Record<string, string>>,
): Promise<ExactResponse> {
  const fill = (text: string) => text.replaceAll(/<<(\w+)>>/g, (_, name) => values[name] ?? '');
  // Node.js sends a list as one line for each value.
  const lines = Map.groupBy(headers, ([name]) => name.toLowerCase());
  const sent = [...lines].map(([name, all]) => [name, all.map(([, value]) => fill(value))]);
  return exactFetch(`${baseUrl}${path}${query && `?${query}`}`, {
    ...{ method, headers: Object.fromEntries(sent) },
    ...(body && { body }),
  });
}

function describe({ request, status, response }: Exchange): string {
  const { method, path, query, headers, body } = request;
  const sent = [`${method} ${path}?${query}`, JSON.stringify(headers), body ?? ''].join(' ');
  return `${sent.slice(0, 2_000)}\n→ ${status} ${response.text.slice(0, 500)}`;
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
