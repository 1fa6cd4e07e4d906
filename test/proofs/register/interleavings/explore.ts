import { toText } from '../../../bench/report.ts';
import { judge } from './oracle.ts';
import { defineScheduler, fates, type Schedule } from './schedule.ts';

export interface Exploration {
  /** Calls of the database, by what became of them. */
  readonly calls: Record<string, number>;
  /** Attempts, by how they ended. */
  readonly attempts: Record<string, number>;
  /** Of each kind, how many schedules show it, and the shortest of them. */
  readonly problems: Map<string, { count: number; shortest: Schedule }>;
}

/** Runs the schedules of `count` seeds, from one on. */
export async function explore(
  { count, seed }: { readonly count: number; readonly seed: number },
  onSchedule: (schedule: Schedule, index: number) => void = () => {},
  ...database: Parameters<typeof defineScheduler>
): Promise<Exploration> {
  const runSchedule = defineScheduler(...database);
  const found: Exploration = { calls: {}, attempts: {}, problems: new Map() };
  for (let index = 0; index < count; index += 1) {
    const schedule = await runSchedule(seed + index);
    add(found, schedule);
    onSchedule(schedule, index);
  }
  return found;
}

function add({ calls, attempts, problems }: Exploration, schedule: Schedule): void {
  for (const fate of schedule.fates) calls[fate] = (calls[fate] ?? 0) + 1;
  for (const { end } of schedule.requests.flatMap((request) => request.attempts)) {
    if (end) attempts[end.status] = (attempts[end.status] ?? 0) + 1;
  }
  for (const problem of new Set(judge(schedule))) {
    const { count = 0, shortest = schedule } = problems.get(problem) ?? {};
    const isShorter = schedule.trace.length < shortest.trace.length;
    problems.set(problem, { count: count + 1, shortest: isShorter ? schedule : shortest });
  }
}

export function toReport({ calls, attempts, problems }: Exploration, title: string): string {
  const rows = [
    ...Object.entries(fates).map(([fate, text]) => [`a call ${text}`, calls[fate] ?? 0]),
    ...Object.entries(attempts).map(([end, count]) => [`an attempt ends with ${end}`, count]),
  ] as const;
  const notes = [...problems].flatMap(([problem, { count, shortest }]) => [
    `${problem} ${count} schedules, such as --schedules 1 --seed ${shortest.seed}:`,
    ...shortest.trace,
    '',
  ]);
  const columns = [{ name: '' }, { name: 'count' }];
  return toText({ title, columns, rows, goals: [], notes: notes.length ? notes : ['0 wrong'] });
}
