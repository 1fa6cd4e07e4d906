import { setImmediate } from 'node:timers/promises';
import { isDeepStrictEqual } from 'node:util';
import type { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import type { AdjustmentRefused } from '../../../shared/contract/errors.ts';
import type { InventoryEntry } from '../../../shared/store/inventoryEntry.ts';
import { readPetStatus, readVersion } from '../../../shared/store/inventoryRecord.ts';
import { type Draw, defineDraw } from '../../support/testCommand.ts';
import { type Call, type Database, type Item, type Reply, toError } from './database.ts';
import { defineServiceClient, hideAttempts, skipPauses } from './serviceClient.ts';

/** The stored entries by pet, as they were after one of the calls. */
export type State = ReadonlyMap<bigint, InventoryEntry>;

/** A client's request, the same in each attempt. */
export interface Request<Returned> {
  readonly name: string;
  readonly attempts: Attempt<Returned>[];
  /** What its calls changed, as indices of the state after each change. */
  readonly effects: { readonly state: number; readonly by: Attempt<Returned> }[];
  /** The index of the state when it was sent first. */
  since?: number;
}

/** A call of the store. The optional fields are set when it has ended. */
export interface Attempt<Returned> {
  readonly name: string;
  /** How many of its calls to the database failed on purpose. */
  failures: number;
  status?: 200 | 404 | 409 | 412 | 422 | 503 | 500 | 'killed';
  returned?: Returned;
  error?: Error & Partial<AdjustmentRefused>;
  /** The index of the state at its end. */
  until?: number;
}

type Status = NonNullable<Attempt<unknown>['status']>;
const statuses: Readonly<Record<string, Status>> = {
  NotFound: 404,
  PreconditionFailed: 412,
  AdjustmentRefused: 409,
  IdempotencyKeyReused: 422,
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
type Fate = keyof typeof fates;
const failures = ['lost', 'late', 'reset', 'throttled', 'conflict', 'killed'] as const;

/** Why DynamoDB refuses an item of a transaction for a moment. */
const reasons = ['TransactionConflict', 'TransactionConflict', 'ThrottlingError'] as const;

/** What the requests of a schedule are drawn from. */
export interface Stock {
  readonly draw: Draw;
  randomOne<Value>(all: readonly Value[]): Value;
  /** Two entries of this schedule alone. */
  readonly petIds: readonly [bigint, bigint];
  importEntry(petId: bigint, quantity: number, status: string, rest?: Item): Promise<void>;
  readState(): State;
}

/** The requests of a schedule. */
export interface Plan<One extends Request<Returned>, Returned> {
  readonly requests: readonly One[];
  /** Those that are sent again while calls fail. */
  readonly repeats: readonly One[];
  /** Those that are sent once more when no call fails. */
  readonly last: readonly One[];
  /** What else happens meanwhile. */
  readonly disturb?: () => unknown;
  /** Calls the store. @param say adds to the line of the trace */
  send(request: One, say: (text: string) => void): Promise<Returned>;
  /** The fate of a call of the request, of which another was drawn. */
  limitFate?(request: One, fate: Fate): Fate;
  /** What is wrong in the end. */
  judge(states: readonly State[]): Iterable<string>;
}

export type DefinePlans<One extends Request<Returned>, Returned> = (
  client: DynamoDBClient,
) => (stock: Stock) => Promise<Plan<One, Returned>>;

/** A schedule that has run, and what is wrong with it. */
export interface Judged {
  readonly seed: number;
  readonly fates: readonly Fate[];
  /** One line a step. */
  readonly trace: readonly string[];
  readonly statuses: readonly (Status | undefined)[];
  readonly problems: readonly string[];
}

export function toRequest(name: string) {
  return { name, attempts: [], effects: [] };
}

/**
 * Runs the requests of clients, one call to the database at a time. A seed draws when each call reaches the database,
 * and its fate. Then calls stop failing, and some requests are sent once more.
 */
export function defineScheduler<One extends Request<Returned>, Returned>(
  database: Database,
  definePlans: DefinePlans<One, Returned>,
) {
  let petIds: readonly [bigint, bigint] = [-1n, 0n];
  let park: (call: Call) => Promise<Reply>;
  const client = defineServiceClient((call) => park(call));
  if (database.hidesAttempts) hideAttempts(client);
  const toPlan = definePlans(client);

  return async function runSchedule(seed: number): Promise<Judged> {
    const draw = defineDraw(seed);
    const randomOne = <Value>(all: readonly Value[]) =>
      all[Math.floor(draw() * all.length)] as Value;
    petIds = [petIds[0] + 2n, petIds[1] + 2n];
    const drawn: Fate[] = [];
    const trace: string[] = [];
    const states: State[] = [new Map()];
    const versions: string[] = [];
    let failing = draw() < 0.15 ? 0 : 0.6 * draw();
    /** The attempt that runs until it makes a call or ends; all others wait. */
    let running: { readonly request: One; readonly attempt: Attempt<Returned> } | undefined;
    using _pauses = skipPauses(() => running !== undefined);
    const { plan, run } = defineTurns(draw, () => running !== undefined);
    const forgetToken = draw() < 0.5 && { ClientRequestToken: undefined };

    park = ({ action, parameters }) =>
      new Promise((resolve, reject) => {
        const own = running as NonNullable<typeof running>;
        const call = { action, parameters: { ...parameters, ...forgetToken } };
        running = undefined;
        plan(async () => {
          const reply = await toReply(call, own);
          if (reply === 'killed') return end(own.attempt, { status: reply });
          running = own;
          return reply instanceof Error ? reject(reply) : resolve(reply);
        });
      });

    /** The reply to a call at its turn, or the error in its place. */
    async function toReply(call: Call, own: NonNullable<typeof running>) {
      const drawnFate = draw() < failing ? randomOne(failures) : 'responded';
      let fate = planned.limitFate?.(own.request, drawnFate) ?? drawnFate;
      if (fate === 'conflict' && isRead(call)) fate = 'throttled';
      drawn.push(fate);
      if (fate !== 'responded' && fate !== 'killed') own.attempt.failures += 1;
      const title = `${own.attempt.name} ${call.action}`;
      trace.push(`${title} ${fates[fate]}`);
      const arrive = () => {
        trace.push(`${title} arrives late`);
        return execute(call, own);
      };
      if ((fate === 'late' || fate === 'killed') && draw() < 0.8) plan(arrive, true);
      if (fate === 'killed') return fate;
      if (fate === 'responded') return execute(call, own);
      if (fate === 'throttled') return toError('ThrottlingException');
      if (fate === 'conflict') {
        const held = Math.floor(draw() * (call.parameters.TransactItems?.length ?? 1));
        return database.refuse(call, held, randomOne(reasons));
      }
      if (fate === 'late') return Object.assign(new Error(fate), { name: 'TimeoutError' });
      if (fate === 'lost') await execute(call, own);
      return Object.assign(new Error(fate), { code: 'ECONNRESET' });
    }

    async function execute(call: Call, own?: typeof running): Promise<Reply> {
      const reply = await database.execute(call);
      if (isRead(call) || reply.status !== 200) return reply;
      const records = await Promise.all(petIds.map((petId) => database.readEntry(petId)));
      const entries = records.flatMap((record) => (record ? [toEntry(record)] : []));
      const after: State = new Map(entries.map((entry) => [entry.item.petId, entry]));
      if (isDeepStrictEqual(after, states.at(-1))) return reply;
      states.push(after);
      own?.request.effects.push({ state: states.length - 1, by: own.attempt });
      trace.push(`    the entries are ${petIds.map((id) => toText(after.get(id))).join(' and ')}`);
      return reply;
    }

    function toText(entry: InventoryEntry | undefined): string {
      if (!entry) return 'gone';
      if (!versions.includes(entry.version)) versions.push(entry.version);
      return `${entry.item.quantity} ${entry.item.status} v${versions.indexOf(entry.version)}`;
    }

    function begin(request: One): void {
      const { name, attempts } = request;
      const attempt: Attempt<Returned> = { name: `${name}${attempts.length + 1}`, failures: 0 };
      attempts.push(attempt);
      request.since ??= states.length - 1;
      running = { request, attempt };
      const sent = planned.send(request, (text) => trace.push(`${attempt.name} ${text}`));
      sent.then(
        (returned) => end(attempt, { status: 200, returned }),
        (error: NonNullable<Attempt<Returned>['error']>) => {
          const status = error.code === 'not_found' ? 404 : (statuses[error.name] ?? 500);
          end(attempt, { status, error });
        },
      );
    }

    type End = Pick<Attempt<Returned>, 'status' | 'returned' | 'error'>;
    function end(attempt: Attempt<Returned>, how: End): void {
      Object.assign(attempt, how, { until: states.length - 1 });
      trace.push(`${attempt.name}: ${how.status} ${how.error?.message ?? ''}`);
      running = undefined;
    }

    const planned = await toPlan({
      draw,
      randomOne,
      petIds,
      async importEntry(petId, quantity, status, rest = {}) {
        const Item = { p: { N: `${petId}` }, q: { N: `${quantity}` }, s: { S: status }, ...rest };
        await execute({ action: 'PutItem', parameters: { TableName: 'inventory', Item } });
      },
      readState: () => states.at(-1) ?? new Map(),
    });
    const { requests, repeats, last, disturb } = planned;
    for (const request of [...requests, ...repeats]) plan(() => begin(request));
    if (disturb) plan(disturb);
    await run(({ isStray }) => isStray);
    trace.push('No call fails from here on.');
    failing = 0;
    // Calls that are still on their way may arrive before or after.
    for (const request of last) plan(() => begin(request));
    await run(() => false);
    const attempts = requests.flatMap((request) => request.attempts);
    return {
      ...{ seed, trace, fates: drawn, statuses: attempts.map(({ status }) => status) },
      problems: [
        ...planned.judge(states),
        ...attempts.flatMap(({ status, failures, error }) => {
          if (status === 500) return `An attempt ends with ${error?.name}: ${error?.message}`;
          return status === 503 && failures === 0 ? 'A 503 comes although no call failed.' : [];
        }),
      ],
    };
  };
}

function isRead({ action }: Call): boolean {
  return action.includes('Get');
}

/** Also with a count that the service would refuse: a wrong store must be found, not fail. */
function toEntry(record: Item): InventoryEntry {
  const petId = BigInt(record.p?.N ?? 0);
  const item = { petId, quantity: Number(record.q?.N), status: readPetStatus(record) };
  return { item, version: readVersion(record) };
}

interface Event {
  readonly at: number;
  /** Whether it is a call to the database that nobody waits for any more. */
  readonly isStray: boolean;
  act(): unknown;
}

/** Events in turns that `draw` draws. @param isRunning whether the last one still runs */
function defineTurns(draw: Draw, isRunning: () => boolean) {
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
