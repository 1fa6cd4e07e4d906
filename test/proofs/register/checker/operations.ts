import type { Asked, Operation, Outcome, Write } from './history.ts';

/** What each entry was before. */
export const first = { quantity: 10, tag: 'A' };
const unknown: Outcome = { kind: 'unknown' };

/** One operation, from its call to its answer. */
export function operation(
  invoked: number,
  answered: number,
  asked: Asked,
  outcome: Outcome,
): Operation {
  return { asked, invoked, answered, outcome };
}

/** A read, from its call to its answer. */
export const read = (invoked: number, answered: number, quantity: number, tag: string) =>
  operation(invoked, answered, { kind: 'read' }, { kind: 'ok', quantity, tag });

type Options = Omit<Write, 'kind' | 'quantity'>;
/** An update that was answered 200. */
export const write = (
  invoked: number,
  answered: number,
  quantity: number,
  tag: string,
  options: Options = {},
) =>
  operation(
    invoked,
    answered,
    { kind: 'write', quantity, ...options },
    { kind: 'ok', quantity, tag },
  );

/** An update that was answered 412, with the tag that the entry then had. */
export const refused = (
  invoked: number,
  answered: number,
  quantity: number,
  tag: string,
  options: Options,
) =>
  operation(invoked, answered, { kind: 'write', quantity, ...options }, { kind: 'refused', tag });

/** An update that was not answered. */
export const lost = (invoked: number, quantity: number, options: Options = {}) =>
  operation(invoked, Number.POSITIVE_INFINITY, { kind: 'write', quantity, ...options }, unknown);

/** Only of the first state. */
export const ofA = { ifMatch: ['A'] };

/**
 * What eight clients see that overwrite an entry and read it, each operation at once with seven others. Some
 * updates are not answered, of which every other one happens.
 */
export function toLongHistory(): Operation[] {
  const history: Operation[] = [];
  let entry = first;
  for (let index = 1; index <= 600; index += 1) {
    const [invoked, answered] = [10 * index, 10 * index + 75];
    if (index % 3 === 0) {
      history.push(read(invoked, answered, entry.quantity, entry.tag));
    } else if (index % 13 === 0) {
      history.push(lost(invoked, 1_000 + index));
      if (index % 2 === 0) entry = { quantity: 1_000 + index, tag: `L${index}` };
    } else {
      entry = { quantity: 1_000 + index, tag: `W${index}` };
      history.push(write(invoked, answered, entry.quantity, entry.tag));
    }
  }
  return history;
}
