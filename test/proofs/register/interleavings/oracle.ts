import type { Attempt, End, Request, Schedule, State } from './schedule.ts';

/** What a schedule shows to be wrong; nothing, where the service kept its word. */
export function judge({ requests }: Schedule): string[] {
  return requests.flatMap((request) => [
    ...judgeEffects(request),
    ...request.attempts.flatMap((attempt) =>
      attempt.end ? [...judgeAnswer(attempt, attempt.end)] : [],
    ),
  ]);
}

function* judgeEffects({ quantity, versions, effects }: Request): Generator<string> {
  if (effects.length > 1) yield 'A request has two effects.';
  for (const { before, after } of effects) {
    if (!before || after?.item.quantity !== quantity || after.item.status !== before.item.status) {
      yield 'An effect is not what was asked for.';
    }
    if (before && versions?.includes(before.version) === false) yield 'If-Match was ignored.';
  }
}

/** No version of an entry comes back, so a request that is refused once can never have an effect. */
function* judgeAnswer(
  { request: { effects, versions }, failures }: Attempt,
  { status, told, current, effects: had, error }: End,
): Generator<string> {
  const [effect] = effects;
  switch (status) {
    case 200:
      if (had === 0) yield 'A 200 has no effect.';
      else if (toText(effect?.after) !== toText(told))
        yield 'A 200 tells of another state than its effect made.';
      break;
    case 404:
      if (effect || current) yield 'A 404 comes although the entry is there.';
      break;
    case 412:
      if (effect) yield 'A request that was answered 412 has an effect.';
      if (!current || versions?.includes(current.version) !== false)
        yield 'A 412 comes although the entry is as If-Match has it.';
      break;
    case 503:
      if (failures === 0) yield 'A 503 comes although no call failed.';
      break;
    case 500:
      yield `An attempt ends with ${error?.name}: ${error?.message}`;
  }
}

function toText(state: State | undefined): string {
  return JSON.stringify(state, (_name, value) => (typeof value === 'bigint' ? `${value}` : value));
}
