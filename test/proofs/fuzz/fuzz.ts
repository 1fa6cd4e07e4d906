import { randomInt } from 'node:crypto';
import { whole } from '../../../infra/cli/values.ts';
import { importModule } from '../../../infra/local/localStage.ts';
import { runProof } from '../../support/testCommand.ts';
import { openFuzzTarget, runFuzz } from './runFuzz.ts';

const text = {
  about:
    'Sends hostile requests to the local stage, in batches. Stops at the first batch that breaks a property of test/proofs/fuzz/properties.ts, and shrinks it to the requests that it needs.',
  options: {
    runs: { value: 'N', about: 'about how many requests', ...whole(), default: '20000' },
    seed: {
      value: 'S',
      about:
        'an integer; the same one gives the same requests, except for keys and tags; random without it',
      ...whole(0, 2 ** 31 - 1),
    },
    path: {
      value: 'PATH',
      about: 'repeat one batch; a failure with this seed prints its path',
    },
  },
} as const;

await runProof('fuzz', text, async ({ path, runs, seed = randomInt(2 ** 31) }) => {
  process.stderr.write(`Seed ${seed}\n`);
  const target = await openFuzzTarget(importModule);
  const report = await runFuzz(target, { seed, runs, path });
  await target.close();
  const responses = [...report.statuses].sort(([one], [other]) => one - other);
  const again = `To repeat it: npm run fuzz -- --seed ${seed} --path ${report.path}`;
  return {
    section: {
      title: `Fuzz, seed ${seed}`,
      columns: ['', ''],
      rows: [
        ['requests', responses.reduce((sum, [, count]) => sum + count, 0)],
        ...responses.map(([status, count]) => [`responses of ${status}`, count]),
      ],
    },
    problems: report.failure ? [`${report.failure}\n${again}`] : [],
  };
});
