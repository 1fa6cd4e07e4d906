import { isDeepStrictEqual } from 'node:util';
import type { Findings } from '../../support/testCommand.ts';
import { defineAdjustmentScheduler } from './adjustments.ts';
import { type Database, openDatabase } from './database.ts';
import { type Attempt, defineScheduler, type Fate, fates, type Schedule } from './schedule.ts';

/** A schedule that has run, and what is wrong with it. */
interface Judged {
  readonly seed: number;
  readonly fates: readonly Fate[];
  readonly trace: readonly string[];
  readonly statuses: readonly (number | string | undefined)[];
  readonly problems: readonly string[];
}

const searches = {
  updates(database: Database) {
    const runSchedule = defineScheduler(database);
    return async (seed: number): Promise<Judged> => {
      const schedule = await runSchedule(seed);
      const attempts = schedule.requests.flatMap((request) => request.attempts);
      const statuses = attempts.map(({ status }) => status);
      return { ...schedule, statuses, problems: judge(schedule) };
    };
  },
  adjustments: defineAdjustmentScheduler,
};
export type Kind = keyof typeof searches;

interface Search {
  readonly kind: Kind;
  readonly count: number;
  readonly seed: number;
}

/**
 * Runs the schedules of `count` seeds, starting with `seed`.
 * @param onSchedule whether no more are needed
 */
export async function explore(
  { kind, count, seed }: Search,
  onSchedule: (schedule: Judged, index: number) => boolean = () => false,
  change: (database: Database) => Database = (database) => database,
) {
  const database = await openDatabase();
  const runSchedule = searches[kind](change(database));
  const calls: Record<string, number> = {};
  const attempts: Record<string, number> = {};
  /** The schedules that show each problem. */
  const problems = new Map<string, Judged[]>();
  for (let index = 0; index < count; index += 1) {
    const schedule = await runSchedule(seed + index);
    for (const fate of schedule.fates) calls[fate] = (calls[fate] ?? 0) + 1;
    for (const status of schedule.statuses) {
      if (status) attempts[status] = (attempts[status] ?? 0) + 1;
    }
    for (const problem of new Set(schedule.problems)) {
      problems.set(problem, [...(problems.get(problem) ?? []), schedule]);
    }
    if (onSchedule(schedule, index)) break;
  }
  await database.close();
  return { calls, attempts, problems };
}

type Explored = Awaited<ReturnType<typeof explore>>;

export function toFindings(found: Readonly<Record<Kind, Explored>>, title: string): Findings {
  const kinds = Object.entries(found);
  const ends = new Set(kinds.flatMap(([, { attempts }]) => Object.keys(attempts)));
  const rows = [
    ...Object.entries(fates).map(([fate, text]) => {
      return [`a call ${text}`, ...kinds.map(([, { calls }]) => calls[fate] ?? 0)];
    }),
    ...[...ends].map((end) => {
      return [
        `an attempt ends with ${end}`,
        ...kinds.map(([, { attempts }]) => attempts[end] ?? 0),
      ];
    }),
  ];
  const toText = (kind: string, problem: string, schedules: Judged[]) => {
    const [shortest] = schedules.sort((one, other) => one.trace.length - other.trace.length);
    const again = `for example --schedules 1 --seed ${shortest?.seed}:`;
    const title = `${kind}: ${problem} ${schedules.length} schedules, ${again}`;
    return [title, ...(shortest?.trace ?? [])].join('\n');
  };
  return {
    section: { title, columns: ['', ...Object.keys(found)], rows },
    problems: kinds.flatMap(([kind, { problems }]) => {
      return [...problems].map(([problem, schedules]) => toText(kind, problem, schedules));
    }),
  };
}

function judge({ requests }: Schedule): string[] {
  const attempts = requests.flatMap((request) => request.attempts);
  return attempts.flatMap((attempt) => [...judgeEffects(attempt), ...judgeResponse(attempt)]);
}

function* judgeEffects({ effects, request: { quantity, versions } }: Attempt): Generator<string> {
  if (effects.length > 1) yield 'An update has two effects.';
  for (const { before, after } of effects) {
    if (!before || after?.item.quantity !== quantity || after.item.status !== before.item.status) {
      yield 'An effect is not what the update asks for.';
    }
    if (before && versions?.includes(before.version) === false) yield 'If-Match was ignored.';
  }
}

function* judgeResponse(attempt: Attempt): Generator<string> {
  const { status, returned, current, effects, failures, error } = attempt;
  const { versions } = attempt.request;
  const [effect] = effects;
  switch (status) {
    case 200:
      if (!effect) yield 'A 200 has no effect.';
      else if (!isDeepStrictEqual(effect.after, returned))
        yield 'A 200 has another state than its effect made.';
      break;
    case 404:
      if (effect || current) yield 'A 404 comes although the entry exists.';
      break;
    case 412:
      if (effect) yield 'An update with a 412 has an effect.';
      if (!current || versions?.includes(current.version) !== false)
        yield 'A 412 comes although the entry matches If-Match.';
      break;
    case 503:
      if (failures === 0) yield 'A 503 comes although no call failed.';
      break;
    case 500:
      yield `An attempt ends with ${error?.name}: ${error?.message}`;
  }
}
