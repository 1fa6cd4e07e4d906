import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import { once } from 'node:events';
import {
  createServer,
  type IncomingMessage,
  request,
  type Server,
  type ServerResponse,
} from 'node:http';
import { createServer as createSecureServer, type Server as SecureServer } from 'node:https';
import type { Socket } from 'node:net';
import { buffer } from 'node:stream/consumers';
import { setTimeout } from 'node:timers/promises';
import { listen } from '../../../infra/local/engine/loopback.ts';
import { type BlackHole, openBlackHole, type Silence } from './blackHole.ts';
import type { Certificate } from './certificate.ts';
import { cancel, type Fault, manglings, refusals } from './faults.ts';

/** The calls that fail. */
interface FaultRule {
  /** The DynamoDB action, for example `GetItem`; by default every action. */
  readonly action?: string;
  readonly table?: string;
  readonly fault: Fault;
  /** How many matching calls succeed first; 0 by default. */
  readonly after?: number;
  /** How many calls then fail; all by default. */
  readonly times?: number;
  /** Failing calls get no response until this settles. */
  readonly until?: Promise<unknown>;
}

export type FaultyEndpoint = Awaited<ReturnType<typeof startFaultyEndpoint>>;

/**
 * Starts an HTTP proxy before a DynamoDB endpoint that injects faults on command.
 * @param identity makes the proxy speak TLS, as DynamoDB does
 */
export async function startFaultyEndpoint(behind: string, identity?: Certificate) {
  let rules: { rule: FaultRule; met: number }[] = [];
  let requests: { action: string; body: Buffer }[] = [];

  /** The items of transactions in progress, if these occupy them. */
  const occupied = new Set<string>();
  let occupiesItems = false;

  const server = identity ? createSecureServer(identity) : createServer();
  server.on('request', async (incoming: IncomingMessage, outgoing: ServerResponse) => {
    const body = await buffer(incoming);
    const action = String(incoming.headers['x-amz-target']).split('.')[1] ?? '';
    proxy.calls.set(action, (proxy.calls.get(action) ?? 0) + 1);
    requests.push({ action, body });
    const { fault, until } = takeRule(action, body) ?? {};
    await until;
    if (fault && fault in refusals) return refusals[fault as keyof typeof refusals](outgoing);
    const items = occupiesItems ? toWrittenItems(action, body) : [];
    const isTransaction = action === 'TransactWriteItems';
    if (items.some((item) => occupied.has(item))) {
      proxy.conflicts += 1;
      const Codes = items.map((item) => (occupied.has(item) ? 'TransactionConflict' : 'None'));
      const refuse = isTransaction
        ? cancel(...Codes.map((Code) => ({ Code })))
        : refusals.transactionConflict;
      return refuse(outgoing);
    }
    if (isTransaction) for (const item of items) occupied.add(item);
    const { host: _, ...headers } = incoming.headers;
    // Only complete requests: an incomplete one would end the engine.
    const sent = withPageSize(action, body, proxy.pageSize);
    const onward = request(behind, {
      method: incoming.method ?? 'POST',
      path: incoming.url ?? '/',
      headers: { ...headers, 'content-length': sent.length },
    }).end(sent);
    onward.on('error', () => outgoing.destroy());
    onward.on('response', async (response) => {
      const { statusCode: status = 500, headers } = response;
      if (isTransaction && items.length > 0) {
        // A failed condition cancels a transaction at once.
        if (status === 200) await setTimeout(HELD);
        for (const item of items) occupied.delete(item);
      }
      if (fault) {
        const mangle = manglings[fault as keyof typeof manglings];
        return mangle(outgoing, { status, headers, body: await buffer(response) });
      }
      outgoing.writeHead(status, headers);
      return response.pipe(outgoing);
    });
  });

  function takeRule(action: string, body: Buffer): FaultRule | undefined {
    for (const entry of rules) {
      const { rule } = entry;
      if (rule.action !== undefined && rule.action !== action) continue;
      if (rule.table !== undefined && !namesTable(body, rule.table)) continue;
      entry.met += 1;
      const { after = 0, times = Number.POSITIVE_INFINITY } = rule;
      if (entry.met > after && entry.met <= after + times) return rule;
    }
    return undefined;
  }

  const port = await listen(server, 0, '');
  const door = defineDoor(server, port);
  const proxy = {
    endpoint: `${identity ? 'https' : 'http'}://127.0.0.1:${port}`,
    /** The calls since the last `heal`, by action. */
    calls: new Map<string, number>(),
    /** The same calls in order, with their inputs. */
    get requests() {
      return requests.map(({ action, body }) => ({ action, input: JSON.parse(body.toString()) }));
    },
    /** The writes that met a transaction on one of their items. */
    conflicts: 0,
    /**
     * From now on, transactions occupy their items, as DynamoDB's do, and conflict; those of the engines wait for each
     * other. https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/transaction-apis.html#transaction-conflict-handling
     */
    occupyItems() {
      occupiesItems = true;
    },
    /** If set, the most records on a page of a Scan or Query. */
    pageSize: undefined as number | undefined,
    /** From now on, calls that match the rule fail. */
    fail: (rule: FaultRule) => void rules.push({ rule, met: 0 }),
    refuse: door.refuse,
    swallow: door.swallow,
    /** Forgets every rule, the page size and the calls. */
    heal(): Promise<void> {
      rules = [];
      requests = [];
      proxy.pageSize = undefined;
      proxy.calls.clear();
      return door.open();
    },
    close: door.close,
  };
  return proxy;
}

/** How long a transaction that takes effect occupies its items, in milliseconds. */
const HELD = 10;

/** The entries and the rows of requests that a call writes. */
function toWrittenItems(action: string, body: Buffer): string[] {
  if (!/^(TransactWrite|Put|Update|Delete)Item/.test(action)) return [];
  const { TransactItems, ...write } = JSON.parse(body.toString());
  const writes = TransactItems?.flatMap(Object.values) ?? [write];
  return writes.map(({ TableName, Key, Item }: Record<string, Record<string, object>>) => {
    const { p, r } = Key ?? Item ?? {};
    return JSON.stringify([TableName, p, r]);
  });
}

/** A batch has its tables as members. */
function namesTable(body: Buffer, table: string): boolean {
  return body.includes(`"TableName":"${table}"`) || body.includes(`"RequestItems":{"${table}":`);
}

function withPageSize(action: string, body: Buffer, pageSize: number | undefined): Buffer {
  if (pageSize === undefined || (action !== 'Scan' && action !== 'Query')) return body;
  return Buffer.from(JSON.stringify({ ...JSON.parse(body.toString()), Limit: pageSize }));
}

/** A listening server's port, which can be closed and reopened. */
function defineDoor(server: Server | SecureServer, port: number) {
  let left = 0;
  let hole: BlackHole | undefined;

  async function release(): Promise<void> {
    unsubscribe('net.client.socket', watch);
    await hole?.close();
    hole = undefined;
  }

  async function shut(): Promise<void> {
    await release();
    if (!server.listening) return;
    const closed = once(server, 'close');
    server.close();
    server.closeAllConnections();
    await closed;
  }

  async function open(): Promise<void> {
    await release();
    if (server.listening) return;
    await listen(server, port, '');
  }

  /** Only the refused client notices a refusal: https://nodejs.org/api/diagnostics_channel.html#net */
  function watch(message: unknown): void {
    const { socket } = message as { socket: Socket };
    socket.once('error', (error: Error & { code?: string; port?: number }) => {
      if (error.code !== 'ECONNREFUSED' || error.port !== port) return;
      left -= 1;
      if (left === 0) void open();
    });
  }

  return {
    /** Refuses so many connections from now on, or all until `heal`. */
    async refuse(times = Number.POSITIVE_INFINITY) {
      left = times;
      await shut();
      subscribe('net.client.socket', watch);
    },
    /** Neither responds to connections nor refuses them from now on, until `heal`. */
    async swallow(silence: Silence) {
      await shut();
      hole = await openBlackHole(port, silence);
    },
    open,
    close: shut,
  };
}
