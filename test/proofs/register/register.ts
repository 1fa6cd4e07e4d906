import { randomUUID } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import type { OptionValues } from '../../../infra/cli/program.ts';
import { UsageError } from '../../../infra/cli/usage.ts';
import { whole } from '../../../infra/cli/values.ts';
import type { Engine, StartEngine } from '../../../infra/local/engine/engine.ts';
import { type ChildProcess, startChild } from '../../bench/childProcess.ts';
import { toText } from '../../bench/report.ts';
import { dynoxideIsInstalled, startDynoxide } from '../../support/engines.ts';
import {
  type Draw,
  defineDraw,
  makeScratchFolder,
  runTestCommand,
} from '../../support/testCommand.ts';
import type { StageProcessOptions, Started } from '../stageProcess.ts';
import { findContradiction, type Outcome } from './checker.ts';
import { defineRecorder, type Run, runClient } from './client.ts';
import { explore, toReport } from './interleavings/explore.ts';

/** Entries of `infra/local/sample.json`: few, so that the clients conflict. */
const petIds = ['1', '2', '3', '4'];
/** Milliseconds between the stage's start and its kill. */
const [MIN_LIFE, MAX_LIFE] = [3_000, 10_000];

const text = {
  about: [
    "Proves that acknowledged means stored. Clients read and update a few entries at once and abort some requests. The local stage, on a folder, is repeatedly killed with SIGKILL and restarted. Then each entry's history must be linearizable. Exits with status 1 if one is not.",
    'With --schedules, runs updates of one entry against the embedded engine, one call at a time. A seed draws when each call reaches it, whether the call fails, loses its response or arrives late, and when the function is killed. Each 200 must have one effect, and each 404 and 412 none. Otherwise exits with status 1 and shows the steps.',
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

await runTestCommand('register', text, async (options) => {
  const { schedules, seed, engine } = options;
  if (schedules > 0) return runSchedules(schedules, seed);
  if (engine === 'dynoxide' && !dynoxideIsInstalled) {
    throw new UsageError('Dynoxide is not installed: it exists only for linux-x64');
  }
  await runClients(options);
});

async function runSchedules(count: number, seed: number): Promise<void> {
  const found = await explore({ count, seed }, ({ trace }, index) => {
    if (count === 1) process.stdout.write(`${trace.join('\n')}\n\n`);
    else if (index % 10_000 === 9_999) process.stderr.write(`${index + 1} schedules …\n`);
  });
  process.stdout.write(toReport(found, `${count} schedules from seed ${seed}`));
  if (found.problems.size > 0) process.exitCode = 1;
}

async function runClients(options: RegisterOptions): Promise<void> {
  const { clients, seconds, seed, engine } = options;
  const { entries, slowest, kills } = await runRegister(options);
  const verdicts = entries.map((entry) => {
    return { ...entry, problem: findContradiction(entry.history) };
  });
  const wrong = verdicts.filter(({ problem }) => problem !== undefined);
  const outcomes = ['ok', 'refused', 'killed', 'client left', '5xx'];
  const report = toText({
    title: `Acknowledged means stored: ${clients} clients for ${seconds} s on ${engine}, seed ${seed}`,
    columns: ['petId', 'history', 'operations', '200', '412', ...outcomes.slice(2)],
    rows: verdicts.map(({ petId, problem, history }) => [
      ...[petId, problem ? 'violation' : 'linearizable', history.length],
      ...outcomes.map((name) => history.filter(({ outcome }) => toName(outcome) === name).length),
    ]),
    notes: [
      'After the last three, it is unknown whether an update took effect.',
      `${kills} kills by SIGKILL; the slowest response took ${Math.round(slowest)} ms.`,
      ...wrong.map(({ petId, problem }) => `${petId}: ${problem}`),
    ],
  });
  process.stdout.write(report);
  for (const entry of wrong) {
    const file = join(tmpdir(), `petstore-register-${seed}-${entry.petId}.json`);
    writeFileSync(file, JSON.stringify(entry, null, 1));
    process.stderr.write(`${entry.petId}: see its history in ${file}\n`);
    process.exitCode = 1;
  }
}

function toName(outcome: Outcome): string | undefined {
  return outcome.kind === 'unknown' ? outcome.reason : outcome.kind;
}

type RegisterOptions = OptionValues<typeof text>;

/**
 * Lets clients read and update a few entries while the stage is repeatedly killed.
 * @returns the histories; each begins and ends with a read of the entry while no other operation runs
 */
async function runRegister({ clients, seconds, seed, engine }: RegisterOptions) {
  const folder = makeScratchFolder('register');
  const stage = startKillableStage(folder, engine === 'dynoxide' ? startDynoxide : undefined);
  try {
    const recorder = defineRecorder();
    /** Reads each entry. @throws {Error} if one has no response */
    async function readAll(): Promise<void> {
      const run = await stage.run();
      for (const petId of petIds) {
        const outcome = await recorder.perform(run, petId, { kind: 'read' });
        if (outcome?.kind !== 'ok') throw new Error(`Entry ${petId} could not be read.`);
      }
    }
    await readAll();
    const end = performance.now() + seconds * 1_000;
    // A name for this run alone, since the service remembers keys.
    const name = randomUUID();
    let quantity = 1_000;
    const options = {
      run: stage.run,
      recorder,
      petIds,
      drawQuantity() {
        quantity += 1;
        return quantity;
      },
      isOver: () => performance.now() >= end,
    };
    const work = Array.from({ length: clients }, (_, index) => {
      const draw = defineDraw(seed + index + 1);
      return runClient({ ...options, draw, name: `${name}-${index}` });
    });
    const killing = killAgainAndAgain(stage, defineDraw(seed), end);
    const [kills] = await Promise.all([killing, ...work]);
    await readAll();
    const entries = [...recorder.histories].map(([petId, history]) => ({ petId, history }));
    return { entries, slowest: recorder.slowest, kills };
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
    process.stderr.write(`Killed ${kills + 1} times …\n`);
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
