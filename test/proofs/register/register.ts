import { writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { log } from '../../../infra/cli/output.ts';
import type { OptionValues } from '../../../infra/cli/program.ts';
import { UsageError } from '../../../infra/cli/usage.ts';
import { whole } from '../../../infra/cli/values.ts';
import type { Engine, StartEngine } from '../../../infra/local/engine/engine.ts';
import { type ChildProcess, startChild } from '../../bench/childProcess.ts';
import { dynoxideIsInstalled, startDynoxide } from '../../support/engines.ts';
import {
  type Draw,
  defineDraw,
  type Findings,
  makeScratchFolder,
  runProof,
} from '../../support/testCommand.ts';
import type { StageProcessOptions, Started } from '../stageProcess.ts';
import { findContradiction, type Outcome } from './checker.ts';
import { type Histories, perform, petIds, type Run, runClient } from './client.ts';
import { explore, type Kind, toFindings } from './interleavings/explore.ts';
import { findLedgerProblems, type Ledger, readCounts, runSeller, settle } from './seller.ts';

/** Milliseconds between the stage's start and its kill. */
const [MIN_LIFE, MAX_LIFE] = [3_000, 10_000];

const text = {
  about: [
    "Proves that acknowledged means stored. Clients read, update and sell a few entries at once and abort some requests. The local stage, on a folder, is repeatedly killed with SIGKILL and restarted. Then each entry's history must be linearizable, and the pieces of those that are sold must add up. Exits with status 1 if one is not.",
    'With --schedules, runs updates of one entry, then adjustments of two, against the embedded engine, one call at a time. A seed draws when each call reaches it, whether the call fails, loses its response or arrives late, and when the function is killed. Each 200 must have one effect, and each 404, 409 and 412 none. Otherwise exits with status 1 and shows the steps.',
  ],
  options: {
    clients: { value: 'N', about: 'number of concurrent clients', ...whole(1, 999), default: '8' },
    seconds: {
      value: 'N',
      about: 'length of the run, at least 5; the stage is killed every 3 to 10 seconds',
      ...whole(5, 99_999),
      default: '60',
    },
    seed: {
      value: 'S',
      about: 'draws the same requests, aborts and kills, though not how they interleave',
      ...whole(0, 2 ** 31 - 1),
      default: '1',
    },
    engine: {
      value: 'NAME',
      choices: ['dynalite', 'dynoxide'],
      about:
        "dynalite, in the stage's process, or dynoxide if installed, in its own process that is killed too",
      default: 'dynalite',
    },
    schedules: {
      value: 'N',
      about:
        'number of schedules, with the seeds from --seed on; each seed gives one schedule; 1 shows its steps',
      ...whole(),
      default: '0',
    },
  },
} as const;

await runProof('register', text, async (options) => {
  const { schedules, seed, engine } = options;
  if (schedules > 0) return runSchedules(schedules, seed);
  if (engine === 'dynoxide' && !dynoxideIsInstalled) {
    throw new UsageError('Dynoxide is not installed: it exists only for linux-x64');
  }
  return runClients(options);
});

async function runSchedules(count: number, seed: number): Promise<Findings> {
  const run = (kind: Kind) =>
    explore({ kind, count, seed }, ({ trace }, index) => {
      if (count === 1) process.stdout.write(`${kind}:\n${trace.join('\n')}\n\n`);
      else if (index % 10_000 === 9_999) log(`${index + 1} schedules of ${kind} …`);
      return false;
    });
  // One after the other: each sets the environment of its functions.
  const found = { updates: await run('updates'), adjustments: await run('adjustments') };
  return toFindings(found, `${count} schedules of each kind from seed ${seed}`);
}

async function runClients(options: RegisterOptions): Promise<Findings> {
  const { clients, seconds, seed, engine } = options;
  const { histories, kills, ledger, before, after } = await runRegister(options);
  const times = [...histories.values()].flat().map(({ invoked, responded }) => responded - invoked);
  const slowest = Math.max(...times.filter(Number.isFinite));
  const entries = [...histories].map(([petId, history]) => {
    return { petId, history, problem: findContradiction(history) };
  });
  const countWith = (status: number) =>
    ledger.filter(({ statuses }) => statuses.includes(status)).length;
  const outcomes = ['ok', 'refused', 'killed', 'client left', '5xx'];
  return {
    section: {
      title: `Acknowledged means stored: ${clients} clients for ${seconds} s on ${engine}, seed ${seed}`,
      columns: ['petId', 'history', 'operations', '200', '412', ...outcomes.slice(2)],
      rows: entries.map(({ petId, problem, history }) => [
        ...[petId, problem ? 'violation' : 'linearizable', history.length],
        ...outcomes.map((name) => history.filter(({ outcome }) => toName(outcome) === name).length),
      ]),
      notes: [
        'After the last three, it is unknown whether an update took effect.',
        `Of ${ledger.length} other changes with keys, ${countWith(200)} took effect, ${countWith(409)} were refused, and ${countWith(412)} came too late.`,
        `${kills} kills by SIGKILL; the slowest response took ${Math.round(slowest)} ms.`,
      ],
    },
    problems: [
      ...findLedgerProblems(ledger, before, after),
      ...entries.flatMap(({ petId, problem, history }) => {
        if (problem === undefined) return [];
        const file = join(tmpdir(), `petstore-register-${seed}-${petId}.json`);
        writeFileSync(file, JSON.stringify({ petId, problem, history }, null, 1));
        return [`${petId}: ${problem}. Its history is in ${file}.`];
      }),
    ],
  };
}

function toName(outcome: Outcome): string | undefined {
  return outcome.kind === 'unknown' ? outcome.reason : outcome.kind;
}

type RegisterOptions = OptionValues<typeof text>;

/**
 * Lets clients read, update and sell a few entries while the stage is repeatedly killed.
 * @returns the histories; each begins and ends with a read of the entry while no other operation runs
 */
async function runRegister({ clients, seconds, seed, engine }: RegisterOptions) {
  const folder = makeScratchFolder('register');
  const stage = startKillableStage(folder, engine === 'dynoxide' ? startDynoxide : undefined);
  try {
    const histories: Histories = new Map(petIds.map((petId) => [petId, []]));
    /** Reads each entry. @throws {Error} if one has no response */
    async function readAll(): Promise<void> {
      const run = await stage.run();
      for (const petId of petIds) {
        const outcome = await perform(histories, run, petId, { kind: 'read' });
        if (outcome?.kind !== 'ok') throw new Error(`Entry ${petId} could not be read.`);
      }
    }
    await readAll();
    const before = await readCounts(stage.run);
    const ledger: Ledger = [];
    const end = performance.now() + seconds * 1_000;
    const work = Array.from({ length: clients }, (_, index) => {
      const shared = { run: stage.run, draw: defineDraw(seed + index + 1), end };
      // Every fourth sells.
      return index % 4 === 3
        ? runSeller({ ...shared, ledger })
        : runClient({ ...shared, histories });
    });
    const killing = killAgainAndAgain(stage, defineDraw(seed), end);
    const [kills] = await Promise.all([killing, ...work]);
    await readAll();
    await settle(stage.run, ledger);
    return { histories, kills, ledger, before, after: await readCounts(stage.run) };
  } finally {
    await stage.end();
  }
}

async function killAgainAndAgain(
  stage: ReturnType<typeof startKillableStage>,
  draw: Draw,
  end: number,
): Promise<number> {
  for (let kills = 0; ; kills += 1) {
    await stage.run();
    const life = MIN_LIFE + draw() * (MAX_LIFE - MIN_LIFE);
    if (performance.now() + life >= end) return kills;
    await setTimeout(life);
    await stage.killAndStart();
    log(`Killed ${kills + 1} times …`);
  }
}

/**
 * The local stage on a folder, in a process that is killed and restarted.
 * @param startEngine starts an engine in its own process, which is killed with the stage; by default the stage has one
 */
function startKillableStage(folder: string, startEngine?: StartEngine) {
  const script = new URL('../stageProcess.ts', import.meta.url).pathname;
  let child: ChildProcess<Started> | undefined;
  let engine: Engine | undefined;
  let run = start();

  async function start(): Promise<Run> {
    engine = await startEngine?.({ dir: folder });
    const options: StageProcessOptions = { dir: folder, endpoint: engine?.endpoint };
    child = await startChild<Started>(script, [JSON.stringify(options)]);
    return { ...child.first, isKilled: false };
  }

  async function end(): Promise<void> {
    child?.kill();
    await engine?.close();
    await child?.end();
  }

  return {
    /** Resolves when the stage responds. Rejects if it cannot start. */
    run: () => run,
    /** Kills the stage with SIGKILL and restarts it on the same folder. */
    async killAndStart(): Promise<void> {
      const killed = await run;
      killed.isKilled = true;
      run = end().then(start);
      await run;
    },
    end,
  };
}
