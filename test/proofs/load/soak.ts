import { randomUUID } from 'node:crypto';
import {
  createPetstoreClient,
  type PetstoreClient,
  PetstoreError,
} from '../../../shared/client/index.ts';
import { type ChildProcess, startChild } from '../../bench/childProcess.ts';
import type { Findings } from '../../support/testCommand.ts';
import type { StageProcessOptions, Started, Vitals } from '../stageProcess.ts';

/** The deployed bundles on the local stage, in a process of their own. */
export type Service = ChildProcess<Started>;

export function startService(options: StageProcessOptions): Promise<Service> {
  const script = new URL('../stageProcess.ts', import.meta.url).pathname;
  return startChild(script, [JSON.stringify(options)]);
}

export function takeVitals(service: Service): Promise<Vitals> {
  return service.ask<Vitals>({});
}

/** Requests in flight at once. */
const CONNECTIONS = 10;

/**
 * The most bytes that flat memory may grow, after a collection, from one measurement to a later one: for V8's late
 * compilation and for noise. A leak of 32 bytes a request shows from 65,536 requests on.
 */
export const MAX_GROWTH = 2 * 1024 * 1024;

const MEGABYTE = 1024 * 1024;

/** Puts the service under load for three equal stretches. V8 compiles during the first, which would look like growth. */
export async function soak(service: Service, seconds: number): Promise<Findings> {
  const first = await putUnderLoad(service, seconds / 3);
  const middle = await putUnderLoad(service, seconds / 3);
  const last = await putUnderLoad(service, seconds / 3);
  const growth = Math.max(
    middle.usedBytes - first.usedBytes,
    last.usedBytes - Math.min(first.usedBytes, middle.usedBytes),
  );
  const failures = first.failures + middle.failures + last.failures;
  const { errorLines } = last;
  return {
    section: {
      title: `A soak of ${seconds} s, ${CONNECTIONS} connections`,
      columns: ['stretch', 'requests', 'failed', ['memory after it, MB', 2]],
      rows: Object.entries({ first, middle, last }).map(
        ([name, { requests, failures, usedBytes }]) => {
          return [name, requests, failures, usedBytes / MEGABYTE];
        },
      ),
      notes: ['Memory is that of gateway and functions after a collection.'],
    },
    problems: [
      ...(growth > MAX_GROWTH ? ['The memory of the functions is not flat.'] : []),
      ...(failures > 0 ? [`${failures} requests had no 2xx response.`] : []),
      ...(errorLines.length > 0
        ? [`${errorLines.length} lines of level ERROR, first ${errorLines[0]}`]
        : []),
    ],
  };
}

/** Sends requests in sequence on each connection, as fast as the responses come. */
async function putUnderLoad(service: Service, seconds: number) {
  const client = createPetstoreClient({ ...service.first, maxRetries: 0 });
  const end = performance.now() + seconds * 1_000;
  let requests = 0;
  /** Requests without a response, or with one other than 2xx. */
  let failures = 0;

  async function sendInTurn(): Promise<void> {
    while (performance.now() < end) {
      try {
        await sendOfMix(client, requests++);
      } catch (error) {
        if (!(error instanceof PetstoreError)) throw error;
        failures += 1;
      }
    }
  }
  await Promise.all(Array.from({ length: CONNECTIONS }, sendInTurn));
  return { ...(await takeVitals(service)), requests, failures };
}

/** Ids from 1 on in `infra/local/sample.json` that have an inventory entry. */
const PETS = 40;

/**
 * Of ten requests, seven look up an entry, one lists the inventory, one lists the orders, and one updates an entry or
 * puts a unit of it and of another back, each time under another key.
 */
function sendOfMix(client: PetstoreClient, index: number): Promise<unknown> {
  const ten = Math.floor(index / 10);
  const petId = BigInt(1 + (ten % PETS));
  switch (index % 10) {
    case 0: {
      if (ten % 2 === 0) return client.updateInventory(petId, { quantity: Number(petId) });
      const adjustments = [petId, petId + 1n].map((id) => ({ petId: id, delta: 1 }));
      return client.adjustInventory(adjustments, { idempotencyKey: randomUUID() });
    }
    case 8:
      return client.listInventory();
    case 9:
      return client.listOrders();
    default:
      return client.getInventoryEntry(BigInt(1 + ((ten + 5 * index) % PETS)));
  }
}
