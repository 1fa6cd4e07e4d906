import type { Asked, Entry, Operation, Outcome } from './checker/history.ts';
import type { Answer } from './client.ts';
import type { Run } from './killableStage.ts';

/** Writes down what the clients do, in the order in which it happens in this process. */
export interface Recorder {
  /**
   * Right before an operation is sent.
   * @returns is to be called with the answer, and tells the outcome, or nothing where it was never sent
   */
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

export function defineRecorder(): Recorder {
  const records = new Map<string, Operation[]>();
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
    else if (!run.isKilled) figures.unknownByCut += 1;
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
        list.push({ asked, invoked, answered, outcome });
        count(answer, outcome, run, performance.now() - sentAt);
        return outcome;
      };
    },
    histories: () => records,
  };
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
