import { type Entry, type Operation, toRequestName } from './history.ts';

/**
 * The same question as `check` answers, asked without any short cut: every order that the times allow, every
 * unknown update in it or not, with every tag that it can have given. For histories of a few operations.
 */
export function isLinearizable(history: readonly Operation[], first: Entry): boolean {
  const tags = new Map<string, number | undefined>([[first.tag, first.quantity]]);
  for (const { asked, outcome } of history) {
    for (const tag of (asked.kind === 'write' && asked.ifMatch) || []) tags.set(tag, tags.get(tag));
    if (outcome.kind === 'unknown') continue;
    const { tag } = outcome;
    const known = tags.get(tag);
    const told = outcome.kind === 'ok' ? outcome.quantity : known;
    // A tag goes with one count.
    if (known !== undefined && told !== known) return false;
    tags.set(tag, told);
  }
  return explain(history, first, new Map());

  function explain(
    left: readonly Operation[],
    entry: Entry,
    answers: ReadonlyMap<string, string>,
  ): boolean {
    if (left.every(({ outcome }) => outcome.kind === 'unknown')) return true;
    const soonest = Math.min(...left.map(({ answered }) => answered));
    return left.some((operation) => {
      if (operation.invoked > soonest) return false;
      const others = left.filter((one) => one !== operation);
      return toAfters(operation, entry, answers).some(([after, memory]) =>
        explain(others, after, memory),
      );
    });
  }

  function toAfters(
    { asked, outcome }: Operation,
    entry: Entry,
    answers: ReadonlyMap<string, string>,
  ): [Entry, ReadonlyMap<string, string>][] {
    if (asked.kind === 'read') {
      const isSame =
        outcome.kind === 'ok' && outcome.tag === entry.tag && outcome.quantity === entry.quantity;
      return isSame ? [[entry, answers]] : [];
    }
    const { quantity, ifMatch } = asked;
    const request = toRequestName(asked);
    const answer = request === undefined ? undefined : answers.get(request);
    const isMet = !ifMatch || ifMatch.includes(entry.tag);
    if (outcome.kind === 'refused') {
      const isRight = answer === undefined && !isMet && outcome.tag === entry.tag;
      return isRight ? [[entry, answers]] : [];
    }
    if (outcome.kind === 'ok' && outcome.quantity !== quantity) return [];
    if (answer !== undefined) {
      return outcome.kind === 'unknown' || outcome.tag === answer ? [[entry, answers]] : [];
    }
    if (!isMet) return [];
    const given = outcome.kind === 'ok' ? [outcome.tag] : toPossibleTags(quantity);
    return given.flatMap((tag): [Entry, ReadonlyMap<string, string>][] => {
      const after = { quantity, tag };
      return [[after, request === undefined ? answers : new Map([...answers, [request, tag]])]];
    });
  }

  function toPossibleTags(quantity: number): string[] {
    const possible = [...tags].filter(([, known]) => known === undefined || known === quantity);
    return ['of nobody', ...possible.map(([tag]) => tag)];
  }
}
