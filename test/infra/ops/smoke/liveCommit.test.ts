import { describe, expect, it } from 'vitest';
import { compareCommits } from '../../../../infra/ops/smoke/liveCommit.ts';

describe('what is live', () => {
  it.each([
    ['0123456789ab', '0123456789ab', 'same', 'Live is 0123456789ab, as is this checkout.'],
    ['0123456789ab', '0123456789ab-dirty', 'another', 'but this checkout is 0123456789ab-dirty.'],
    [undefined, '0123456789ab', 'not known', 'The commit that is live is not known.'],
    ['unknown-no-git', '0123456789ab', 'not known', 'The commit that is live is not known.'],
    ['0123456789ab', 'unknown-no-git', 'not known', "this checkout's commit is not known."],
    ['unknown-no-git', 'unknown-no-git', 'not known', 'The commit that is live is not known.'],
  ])('%s, compared with %s, is %s', (live, checkout, is, text) => {
    expect(compareCommits(live, checkout)).toEqual({ is, text: expect.stringContaining(text) });
  });
});
