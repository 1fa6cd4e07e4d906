import { isDeepStrictEqual } from 'node:util';
import type { Findings } from '../../../support/testCommand.ts';
import { type Database, openDatabase } from './database.ts';
import { type Attempt, defineScheduler, fates, type Request, type Schedule } from './schedule.ts';

/** Runs the schedules of `count` seeds, starting with `seed`. */
export async function explore(
  { count, seed }: { readonly count: number; readonly seed: number },
  onSchedule: (schedule: Schedule, index: number) => void = () => {},
  change: (database: Database) => Database = (database) => database,
) {
  const database = await openDatabase();
  const runSchedule = defineScheduler(change(database));
  const calls: Record<string, number> = {};
  const attempts: Record<string, number> = {};
  /** The schedules that show each problem. */
  const problems = new Map<string, Schedule[]>();
  for (let index = 0; index < count; index += 1) {
    const schedule = await runSchedule(seed + index);
    for (const fate of schedule.fates) calls[fate] = (calls[fate] ?? 0) + 1;
    for (const { status } of schedule.requests.flatMap((request) => request.attempts)) {
      if (status) attempts[status] = (attempts[status] ?? 0) + 1;
    }
    for (const problem of new Set(judge(schedule))) {
      problems.set(problem, [...(problems.get(problem) ?? []), schedule]);
    }
    onSchedule(schedule, index);
  }
  await database.close();
  return { calls, attempts, problems };
}

export function toFindings(
  { calls, attempts, problems }: Awaited<ReturnType<typeof explore>>,
  title: string,
): Findings {
  const rows = [
    ...Object.entries(fates).map(([fate, text]) => [`a call ${text}`, calls[fate] ?? 0]),
    ...Object.entries(attempts).map(([end, count]) => [`an attempt ends with ${end}`, count]),
  ] as const;
  const toText = ([problem, schedules]: [string, Schedule[]]) => {
    const [shortest] = schedules.sort((one, other) => one.trace.length - other.trace.length);
    const again = `for example --schedules 1 --seed ${shortest?.seed}:`;
    return [`${problem} ${schedules.length} schedules, ${again}`, ...(shortest?.trace ?? [])];
  };
  return {
    section: { title, columns: ['', 'count'], rows },
    problems: [...problems].map((one) => toText(one).join('\n')),
  };
}

function judge({ requests }: Schedule): string[] {
  const withEffect = requests.filter(({ key, effects }) => key && effects.length > 0);
  const used = new Set(withEffect.map(({ key }) => key));
  return [
    ...(used.size < withEffect.length ? ['A key has two effects.'] : []),
    ...requests.flatMap((request) => [
      ...judgeEffects(request),
      ...request.attempts.flatMap((attempt) => [...judgeResponse(attempt, used.has(request.key))]),
    ]),
  ];
}

function* judgeEffects({ quantity, versions, effects }: Request): Generator<string> {
  if (effects.length > 1) yield 'A request has two effects.';
  for (const { before, after } of effects) {
    if (!before || after?.item.quantity !== quantity || after.item.status !== before.item.status) {
      yield 'An effect is not what the request asks for.';
    }
    if (before && versions?.includes(before.version) === false) yield 'If-Match was ignored.';
  }
}

/** No version of an entry recurs, so a request that is refused once can never take effect. */
function* judgeResponse(attempt: Attempt, isKeyUsed: boolean): Generator<string> {
  const { effects, versions } = attempt.request;
  const { status, returned, current, effects: had, failures, error } = attempt;
  const [effect] = effects;
  switch (status) {
    case 200:
      if (had === 0) yield 'A 200 has no effect.';
      else if (!isDeepStrictEqual(effect?.after, returned))
        yield 'A 200 has another state than its effect made.';
      break;
    case 404:
      if (effect || current) yield 'A 404 comes although the entry exists.';
      break;
    case 412:
      if (effect) yield 'A request with a 412 has an effect.';
      if (!current || versions?.includes(current.version) !== false)
        yield 'A 412 comes although the entry matches If-Match.';
      break;
    case 422:
      if (effect) yield 'A request with a 422 has an effect.';
      if (!isKeyUsed) yield 'A 422 comes although the key is free.';
      break;
    case 503:
      if (failures === 0) yield 'A 503 comes although no call failed.';
      break;
    case 500:
      yield `An attempt ends with ${error?.name}: ${error?.message}`;
  }
}
