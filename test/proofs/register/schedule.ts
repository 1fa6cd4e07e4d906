import { Readable } from 'node:stream';
import { setImmediate } from 'node:timers/promises';
import type { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { HttpResponse } from '@smithy/core/protocols';
import { StandardRetryStrategy } from '@smithy/core/retry';
import { defineDynamoDB } from '../../../shared/runtime/dynamodb.ts';
import type { InventoryEntry } from '../../../shared/store/inventoryEntry.ts';
import { readVersion, toInventoryItem } from '../../../shared/store/inventoryRecord.ts';
import { defineInventoryUpdates } from '../../../shared/store/inventoryUpdates.ts';
import { type Draw, defineDraw } from '../../support/testCommand.ts';
import { type Call, type Database, type Item, type Reply, toError } from './database.ts';

/** A client's update, sent once or more. Each time, it is an update of its own. */
export interface Request {
  readonly name: string;
  readonly quantity: number;
  /** The `If-Match`; drawn when it is sent first. */
  versions?: readonly string[] | undefined;
  readonly attempts: Attempt[];
}

/** A call of the store. The optional fields are set when it has ended. */
export interface Attempt {
  readonly name: string;
  readonly request: Request;
  /** The changes that its calls made to the stored entry. */
  readonly effects: Record<'before' | 'after', InventoryEntry | undefined>[];
  /** How many of its calls to the database failed on purpose. */
  failures: number;
  status?: 200 | 404 | 412 | 503 | 500 | 'killed';
  returned?: InventoryEntry;
  error?: Error;
  /** The stored entry at its end. */
  current?: InventoryEntry | undefined;
}

export type Schedule = Awaited<ReturnType<ReturnType<typeof defineScheduler>>>;

const statuses: Readonly<Record<string, 404 | 412 | 503>> = {
  NotFound: 404,
  PreconditionFailed: 412,
  StoreUnavailable: 503,
};

/** What happens to a call to the database. */
export const fates = {
  responded: 'is responded',
  lost: 'takes effect, and its response is lost',
  late: 'times out, and may still arrive',
  reset: 'fails before its effect',
  throttled: 'is throttled',
  conflict: 'conflicts with another transaction',
  killed: 'is in flight when the function is killed, and may still arrive',
};
export type Fate = keyof typeof fates;
export const failures = ['lost', 'late', 'reset', 'throttled', 'conflict', 'killed'] as const;

interface Event {
  readonly at: number;
  /** Whether it is a call to the database that nobody waits for any more. */
  readonly isStray: boolean;
  act(): unknown;
}

/** Events in turns that `draw` draws. @param isRunning whether the last one still runs */
export function defineTurns(draw: Draw, isRunning: () => boolean) {
  const events: Event[] = [];
  let now = 0;
  return {
    // Delays of all lengths, so that a call can arrive after many others.
    plan(act: Event['act'], isStray = false): void {
      events.push({ at: now + 1_000 ** draw(), isStray, act });
    },
    /** Runs until only events that may be left are left. */
    async run(mayBeLeft: (event: Event) => boolean): Promise<void> {
      while (!events.every(mayBeLeft)) {
        events.sort((one, other) => one.at - other.at);
        const next = events.shift() as Event;
        now = next.at;
        await next.act();
        while (isRunning()) await setImmediate();
      }
    },
  };
}

interface Meeting {
  readonly call: Call;
  readonly fate: Fate;
  readonly title: string;
  readonly trace: string[];
  readonly draw: Draw;
  readonly database: Database;
  plan(act: () => unknown, isStray: boolean): void;
  execute(call: Call): Promise<Reply>;
}

/** The reply to a call at its turn, or the error in its place. */
export async function meet({ call, fate, title, trace, draw, database, plan, execute }: Meeting) {
  trace.push(`${title} ${fates[fate]}`);
  const arrive = () => {
    trace.push(`${title} arrives late`);
    return execute(call);
  };
  if ((fate === 'late' || fate === 'killed') && draw() < 0.8) plan(arrive, true);
  if (fate === 'killed') return fate;
  if (fate === 'responded') return execute(call);
  if (fate === 'throttled') return toError('ThrottlingException');
  if (fate === 'conflict') {
    const held = Math.floor(draw() * (call.parameters.TransactItems?.length ?? 1));
    return database.refuse(call, held, reasons[Math.floor(draw() * reasons.length)] as string);
  }
  if (fate === 'late') return Object.assign(new Error(fate), { name: 'TimeoutError' });
  if (fate === 'lost') await execute(call);
  return Object.assign(new Error(fate), { code: 'ECONNRESET' });
}

/**
 * Runs two clients' updates of one entry, one call to the database at a time. A seed draws when each call reaches the
 * database, and its fate. One client sends a request up to three times, with a response or not. The other sends
 * another request or two. Most have an `If-Match`. Then calls stop failing, and the first client sends its request once
 * more.
 */
export function defineScheduler(database: Database) {
  let petId = 0n;
  let park: (call: Call) => Promise<Reply>;
  const client = defineServiceClient((call) => park(call));
  if (database.hidesAttempts) hideAttempts(client);
  const updates = defineInventoryUpdates(client, 'inventory');

  return async function runSchedule(seed: number) {
    const draw = defineDraw(seed);
    const randomOne = <Value>(all: readonly Value[]) =>
      all[Math.floor(draw() * all.length)] as Value;
    // An entry of this schedule alone.
    petId += 1n;
    const drawn: Fate[] = [];
    /** One line a step. */
    const trace: string[] = [];
    const versions: string[] = [];
    let current: InventoryEntry | undefined;
    let failing = draw() < 0.15 ? 0 : 0.6 * draw();
    /** The attempt that runs until it makes a call or ends; all others wait. */
    let running: Attempt | undefined;
    using _pauses = skipPauses(() => running !== undefined);
    const { plan, run } = defineTurns(draw, () => running !== undefined);

    park = (call) =>
      new Promise((resolve, reject) => {
        const attempt = running as Attempt;
        running = undefined;
        plan(async () => {
          const reply = await toReply(call, attempt);
          if (reply === 'killed') return end(attempt, { status: reply });
          running = attempt;
          return reply instanceof Error ? reject(reply) : resolve(reply);
        });
      });

    async function execute(call: Call, attempt?: Attempt): Promise<Reply> {
      const reply = await database.execute(call);
      if (call.action === 'GetItem' || reply.status !== 200) return reply;
      const record = await database.readEntry(petId);
      const after = record && { item: toInventoryItem(record), version: readVersion(record) };
      if (toText(after) === toText(current)) return reply;
      attempt?.effects.push({ before: current, after });
      current = after;
      trace.push(`    the entry is ${toText(after)}`);
      return reply;
    }

    function toText(entry: InventoryEntry | undefined): string {
      return entry
        ? `${entry.item.quantity} ${entry.item.status} ${toName(entry.version)}`
        : 'gone';
    }

    function toName(version: string): string {
      if (!versions.includes(version)) versions.push(version);
      return `v${versions.indexOf(version)}`;
    }

    function begin(request: Request): void {
      const { attempts, quantity } = request;
      if (attempts.length === 0 && current && draw() < 0.6) {
        const known = versions.filter((one) => one === current?.version || draw() < 0.2);
        request.versions = draw() < 0.9 ? known : known.slice(0, 1);
      }
      const name = `${request.name}${attempts.length + 1}`;
      const attempt: Attempt = { name, request, effects: [], failures: 0 };
      attempts.push(attempt);
      const ifMatch = request.versions ? `, If-Match ${request.versions.map(toName)}` : '';
      trace.push(`${name} sets ${quantity}${ifMatch}`);
      running = attempt;
      updates.setQuantity({ petId, quantity, versions: request.versions }).then(
        ({ item, version }) => end(attempt, { status: 200, returned: { item, version } }),
        (error: Error) => end(attempt, { status: statuses[error.name] ?? 500, error }),
      );
    }

    function end(attempt: Attempt, how: Pick<Attempt, 'status' | 'returned' | 'error'>): void {
      Object.assign(attempt, how, { current });
      trace.push(
        `${attempt.name}: ${how.status}${how.returned ? `, ${toText(how.returned)}` : ''}`,
      );
      running = undefined;
    }

    function toReply(call: Call, attempt: Attempt) {
      const { name, request } = attempt;
      const fate = randomFate(call, request);
      drawn.push(fate);
      if (fate !== 'responded' && fate !== 'killed') attempt.failures += 1;
      return meet({
        call,
        fate,
        title: `${name} ${call.action}`,
        trace,
        draw,
        database,
        plan,
        execute: (one) => execute(one, attempt),
      });
    }

    function randomFate({ action }: Call, { versions }: Request): Fate {
      const isRead = action === 'GetItem';
      const fate = draw() < failing ? randomOne(failures) : 'responded';
      if (fate === 'conflict' && isRead) return 'throttled';
      // An update without If-Match may have a second effect when its call is repeated, as the guide says.
      return !versions && (fate === 'lost' || fate === 'late') ? 'reset' : fate;
    }

    async function importEntry(quantity: number, status: string, rest: Item = {}): Promise<void> {
      const Item = { p: { N: `${petId}` }, q: { N: `${quantity}` }, s: { S: status }, ...rest };
      await execute({ action: 'PutItem', parameters: { TableName: 'inventory', Item } });
    }

    const toRequest = (name: string, quantity: number): Request => {
      return { name, quantity, attempts: [] };
    };
    const repeated = toRequest('A', 11);
    const others = [toRequest('B', 12), toRequest('C', 13)];
    if (draw() < 0.5) others.pop();
    const v = draw() < 0.5 ? { v: { B: 'AAAAAAA=' as never } } : {};
    if (draw() < 0.97) await importEntry(10, 'a', v);
    const repeats = randomOne([[], [repeated], [repeated, repeated]]);
    for (const request of [repeated, ...repeats, ...others]) plan(() => begin(request));
    // An import of another status.
    if (draw() < 0.2) plan(() => current && importEntry(current.item.quantity, 's'));
    await run(({ isStray }) => isStray);
    trace.push('No call fails from here on.');
    failing = 0;
    plan(() => begin(repeated));
    await run(() => false);
    return { seed, requests: [repeated, ...others], fates: drawn, trace };
  };
}

/** Why DynamoDB refuses an item of a transaction for a moment. */
const reasons = ['TransactionConflict', 'TransactionConflict', 'ThrottlingError'];

/** Pauses take no time: the call after a pause may still come late, since its turn is drawn. */
export function skipPauses(isAttempt: () => boolean): Disposable {
  const { setTimeout: wait } = globalThis;
  globalThis.setTimeout = ((...timer: Parameters<typeof wait>) =>
    isAttempt() ? globalThis.setImmediate(timer[0]) : wait(...timer)) as typeof wait;
  return {
    [Symbol.dispose]() {
      globalThis.setTimeout = wait;
    },
  };
}

/** A client whose errors do not say how often a call was attempted. */
function hideAttempts({ middlewareStack }: DynamoDBClient): void {
  middlewareStack.add(
    (next) => async (args) => {
      try {
        return await next(args);
      } catch (error) {
        throw Object.assign(error as object, { $metadata: {} });
      }
    },
    { step: 'initialize', priority: 'low' },
  );
}

/** The service's own client. Each attempt of a call goes to `send` instead of a network. */
export function defineServiceClient(send: (call: Call) => Promise<Reply>): DynamoDBClient {
  const requestHandler = {
    async handle({ headers, body: sent }: { headers: Record<string, string>; body: Uint8Array }) {
      const [, action = ''] = headers['x-amz-target']?.split('.') ?? [];
      const parameters = JSON.parse(new TextDecoder().decode(sent));
      const { status: statusCode, body: reply } = await send({ action, parameters });
      const stream = new Readable({ read() {} });
      stream.push(JSON.stringify(reply));
      stream.push(null);
      const body = Object.assign(stream, { complete: true });
      return { response: new HttpResponse({ statusCode, headers: {}, body }) };
    },
  };
  const client = defineDynamoDB({ cacheMiddleware: true });
  client.config.requestHandler = requestHandler as never;
  // Every call has its whole budget of retries, after any earlier failures.
  client.config.retryStrategy = async () => new StandardRetryStrategy(client.config.maxAttempts);
  // Nobody checks signatures, which would take half of the time.
  client.config.signer = async () => ({ sign: async (request: unknown) => request }) as never;
  return client;
}
