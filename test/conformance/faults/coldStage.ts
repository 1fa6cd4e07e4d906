import { cpSync, mkdtempSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { Context } from 'aws-lambda';
import { startEmbeddedEngine } from '../../../infra/local/engine/engine.ts';
import { operationIds } from '../../../shared/contract/operations.ts';
import { writeBundle } from '../../support/bundles.ts';
import type { Certificate } from '../../support/faults/certificate.ts';
import { type FaultyEndpoint, startFaultyEndpoint } from '../../support/faults/faultyEndpoint.ts';
import { fixtures } from '../fixtures.ts';
import { openLocalTarget } from '../localTarget.ts';
import type { ConformanceTarget } from '../target.ts';

/** A stage whose functions are the built bundles, started while the database was as a test had it. */
export interface ColdStage {
  readonly target: ConformanceTarget;
  readonly store: FaultyEndpoint;
  /** What the functions, all at once, took to warm themselves up. */
  readonly milliseconds: number;
  /** What they asked for in that time, and what they logged. */
  readonly calls: ReadonlyMap<string, number>;
  readonly logged: readonly string[];
  /** How long each request from now on has, in milliseconds, in place of the function's timeout. */
  setTimeLeft(milliseconds: number | undefined): void;
}

export interface ColdStart {
  /** Of `buildFunctions`. */
  readonly folder: string;
  /** What this process logs, as `keepLogs` gives it. */
  readonly logs: readonly string[];
  /** Makes the database what the functions start with; it is healed afterwards. */
  readonly spoil: (store: FaultyEndpoint) => Promise<void> | void;
  /** With it, the database speaks TLS. */
  readonly identity?: Certificate;
}

export async function buildFunctions(folder: string): Promise<void> {
  for (const id of operationIds) await writeBundle(id, join(folder, 'built', id));
}

export async function startCold({ folder, logs, spoil, identity }: ColdStart): Promise<ColdStage> {
  const engine = await startEmbeddedEngine({});
  const store = await startFaultyEndpoint(engine.endpoint, identity);
  const fresh = mkdtempSync(join(folder, 'stage-'));
  const require = createRequire(import.meta.url);
  let timeLeft: number | undefined;

  async function start() {
    cpSync(join(folder, 'built'), fresh, { recursive: true });
    // What is behind the file that Lambda loads, so that the warm-ups alone are timed.
    for (const id of operationIds) require(join(fresh, id, 'function.cjs'));
    await store.heal();
    await spoil(store);
    const before = logs.length;
    const started = performance.now();
    const modules = operationIds.map(async (id) => {
      const front = pathToFileURL(join(fresh, id, 'index.mjs')).href;
      return [id, (await import(/* @vite-ignore */ front)).handler] as const;
    });
    const handlers = new Map<string, Handler>(await Promise.all(modules));
    const milliseconds = performance.now() - started;
    const found = { milliseconds, calls: new Map(store.calls), logged: logs.slice(before) };
    await store.heal();
    return { handlers, found };
  }

  let starting: ReturnType<typeof start> | undefined;
  const target = await openLocalTarget({
    data: fixtures,
    startEngine: async () => ({
      endpoint: store.endpoint,
      async close() {
        await store.close();
        await engine.close();
      },
    }),
    async loadHandler(id) {
      starting ??= start();
      const handler = (await starting).handlers.get(id);
      return (...args: unknown[]) => {
        const context = args.pop() as Context;
        const left = timeLeft ?? context.getRemainingTimeInMillis();
        return handler?.(...args, { ...context, getRemainingTimeInMillis: () => left });
      };
    },
  });
  starting ??= start();
  const { found } = await starting;
  return { target, store, ...found, setTimeLeft: (milliseconds) => (timeLeft = milliseconds) };
}

type Handler = (...args: unknown[]) => Promise<unknown>;
