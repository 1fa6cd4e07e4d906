import type { Asked, Entry, Operation, Outcome } from './checker.ts';
import type { Answer } from './client.ts';
import type { Run } from './killableStage.ts';

export type Recorder = ReturnType<typeof defineRecorder>;

/** Writes down what the clients do, in the order in which it happens in this process. */
export function defineRecorder() {
  /** The operations on each entry. */
  const histories = new Map<string, Operation[]>();
  let clock = 0;
  const figures = {
    operations: 0,
    ok: 0,
    refused: 0,
    /** Unknown outcomes, by what made them so. */
    unknownByKill: 0,
    unknownByCut: 0,
    unknownByStatus: 0,
    /** Milliseconds. */
    longestAnswer: 0,
  };

  return {
    figures,
    histories,
    /**
     * Right before an operation is sent.
     * @returns is to be called with the answer, and tells the outcome, or nothing where it was never sent
     */
    begin(petId: string, asked: Asked, run: Run): (answer: Answer) => Outcome | undefined {
      clock += 1;
      const invoked = clock;
      const sentAt = performance.now();
      return (answer) => {
        clock += 1;
        if (answer.kind === 'unsent') return undefined;
        const outcome = toOutcome(answer, asked);
        const answered = outcome.kind === 'unknown' ? Number.POSITIVE_INFINITY : clock;
        const history = histories.get(petId) ?? [];
        histories.set(petId, history);
        history.push({ asked, invoked, answered, outcome });
        figures.operations += 1;
        if (outcome.kind !== 'unknown') {
          figures[outcome.kind] += 1;
          figures.longestAnswer = Math.max(figures.longestAnswer, performance.now() - sentAt);
        } else if (answer.kind === 'answer') figures.unknownByStatus += 1;
        else if (run.isKilled) figures.unknownByKill += 1;
        else figures.unknownByCut += 1;
        return outcome;
      };
    },
  };
}

/** @throws {Error} at an answer that no request of ours should get */
function toOutcome(answer: Answer, asked: Asked): Outcome {
  if (answer.kind !== 'answer' || answer.status >= 500) return { kind: 'unknown' };
  const { status, body } = answer;
  const tag = answer.tag ?? 'none';
  if (status === 412) return { kind: 'refused', tag };
  if (status !== 200) throw new Error(`${JSON.stringify(asked)} was answered ${status}: ${body}`);
  const entry = asked.kind === 'read' ? toEntry(body) : { ...toEntry(`[${body}]`), tag };
  return { kind: 'ok', ...entry };
}

/** The one entry of a list with tags. */
export function toEntry(body: string): Entry {
  const [{ quantity, etag }] = JSON.parse(body);
  return { quantity, tag: etag };
}
