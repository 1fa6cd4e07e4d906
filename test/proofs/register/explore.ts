import type { Findings } from '../../support/testCommand.ts';
import { defineAdjustmentPlans } from './adjustments.ts';
import { type Database, openDatabase } from './database.ts';
import { defineScheduler, fates, type Judged } from './schedule.ts';
import { defineUpdatePlans } from './updates.ts';

const searches = {
  updates: (database: Database) => defineScheduler(database, defineUpdatePlans),
  adjustments: (database: Database) => defineScheduler(database, defineAdjustmentPlans),
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
