import type { Asked, Entry, Operation, Outcome } from './checker/history.ts';
import type { Run } from './killableStage.ts';
import type { Answer } from './send.ts';

/**
 * Milliseconds that the stage may still be at work on a request whose client has left: more than any request
 * takes, which a run tells.
 */
const MOST_WORK = 5_000;

/** Writes down what the clients do, in the order in which it happens in this process. */
export interface Recorder {
  /** From right before an operation is sent; call what it gives with the answer, at once. */
  begin(petId: string, asked: Asked, run: Run): (answer: Answer) => Outcome | undefined;
  /** The operations on each entry; to be called when all is over. */
  histories(): ReadonlyMap<string, readonly Operation[]>;
  readonly figures: Figures;
}

export interface Figures {
  operations: number;
  ok: number;
  refused: number;
  /** Unknown outcomes of updates, by what made them so. */
  unknownByKill: number;
  unknownByCut: number;
  unknownByStatus: number;
  /** Milliseconds. */
  longestAnswer: number;
}

interface Record {
  readonly operation: Operation;
  readonly run: Run;
  readonly sentAt: number;
}

export function defineRecorder(): Recorder {
  const records = new Map<string, Record[]>();
  let clock = 0;
  const figures: Figures = {
    operations: 0,
    ok: 0,
    refused: 0,
    unknownByKill: 0,
    unknownByCut: 0,
    unknownByStatus: 0,
    longestAnswer: 0,
  };

  function count(answer: Answer, outcome: Outcome, run: Run, milliseconds: number): void {
    figures.operations += 1;
    if (outcome.kind !== 'unknown') {
      figures[outcome.kind] += 1;
      figures.longestAnswer = Math.max(figures.longestAnswer, milliseconds);
    } else if (answer.kind === 'answer') figures.unknownByStatus += 1;
    else if (run.killedAt === undefined) figures.unknownByCut += 1;
    else figures.unknownByKill += 1;
  }

  return {
    figures,
    begin(petId, asked, run) {
      clock += 1;
      const invoked = clock;
      const sentAt = performance.now();
      return (answer) => {
        clock += 1;
        if (answer.kind === 'unsent') return undefined;
        const outcome = toOutcome(answer, asked);
        const answered = outcome.kind === 'unknown' ? Number.POSITIVE_INFINITY : clock;
        const list = records.get(petId) ?? [];
        records.set(petId, list);
        list.push({ operation: { asked, invoked, answered, outcome }, run, sentAt });
        count(answer, outcome, run, performance.now() - sentAt);
        return outcome;
      };
    },
    histories() {
      return new Map([...records].map(([petId, list]) => [petId, list.map(toOperation)]));
    },
  };
}

function toOperation({ operation, run: { killedAt }, sentAt }: Record): Operation {
  if (operation.outcome.kind !== 'unknown' || killedAt === undefined) return operation;
  return { ...operation, isCutByKill: killedAt - sentAt < MOST_WORK };
}

/** @throws {Error} at an answer that no request of ours should get */
function toOutcome(answer: Answer, asked: Asked): Outcome {
  if (answer.kind !== 'answer' || answer.status >= 500) return { kind: 'unknown' };
  const { status, tag = 'none', body } = answer;
  if (status === 412) return { kind: 'refused', tag };
  if (status !== 200) throw new Error(`${JSON.stringify(asked)} was answered ${status}: ${body}`);
  return {
    kind: 'ok',
    ...(asked.kind === 'read' ? toEntry(body) : { ...toEntry(`[${body}]`), tag }),
  };
}

/** The one entry of a list with tags. */
export function toEntry(body: string): Entry {
  const [{ quantity, etag }] = JSON.parse(body);
  return { quantity, tag: etag };
}
