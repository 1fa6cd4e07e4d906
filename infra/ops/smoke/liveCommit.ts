import { unknownCommit } from '../../stages/commit.ts';

/** What is live, compared with this checkout. */
export interface LiveCommit {
  readonly is: 'same' | 'another' | 'not known';
  /** A sentence for the report. */
  readonly text: string;
}

/** @param live what the stack says, if it does */
export function compareCommits(live: string | undefined, checkout: string): LiveCommit {
  if (live === undefined || live === unknownCommit) {
    return { is: 'not known', text: 'The commit that is live is not known.' };
  }
  if (checkout === unknownCommit) {
    return { is: 'not known', text: `Live is ${live}; this checkout's commit is not known.` };
  }
  return live === checkout
    ? { is: 'same', text: `Live is ${live}, as is this checkout.` }
    : { is: 'another', text: `Live is ${live}, but this checkout is ${checkout}.` };
}
