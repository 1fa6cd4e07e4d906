import { toCount } from '../../cli/progress.ts';

/** Of more rows than this, only the count is told. */
const SHOWN = 20;

/** The rows of the files that are not valid, told as they are met. */
export interface Problems {
  readonly count: number;
  add(file: string, line: number, problem: string): void;
  /** Says how many there are beside those that were told. */
  finish(): void;
}

export function defineProblems(tell: (line: string) => void): Problems {
  let count = 0;
  return {
    get count() {
      return count;
    },
    add(file, line, problem) {
      count += 1;
      // The problem may quote the file, line ends and control characters included.
      if (count <= SHOWN) tell(`${file}:${line}: ${problem.replaceAll(/[\s\p{Cc}]+/gu, ' ')}`);
    },
    finish() {
      if (count > SHOWN) tell(`… and ${toCount(count - SHOWN, 'more invalid row')}.`);
    },
  };
}
