import { log } from '../../../infra/cli/output.ts';
import { whole } from '../../../infra/cli/values.ts';
import { runProof } from '../../support/testCommand.ts';
import { explore, type Kind, toFindings } from './explore.ts';

const text = {
  about:
    'Proves that acknowledged means stored. Runs updates of one entry, then adjustments of two, against the embedded engine, one call at a time. A seed draws when each call reaches it, whether the call fails, loses its response or arrives late, and when the function is killed. Each 200 must have one effect, and each 404, 409 and 412 none. Otherwise exits with status 1 and shows the steps.',
  options: {
    schedules: {
      value: 'N',
      about: 'number of schedules of each kind; 1 shows its steps',
      ...whole(1, 9_999_999),
      default: '1000',
    },
    seed: {
      value: 'S',
      about: 'the first seed; each seed gives one schedule of each kind',
      ...whole(0, 2 ** 31 - 1),
      default: '1',
    },
  },
} as const;

await runProof('register', text, async ({ schedules: count, seed }) => {
  const run = (kind: Kind) =>
    explore({ kind, count, seed }, ({ trace }, index) => {
      if (count === 1) process.stdout.write(`${kind}:\n${trace.join('\n')}\n\n`);
      else if (index % 10_000 === 9_999) log(`${index + 1} schedules of ${kind} …`);
      return false;
    });
  // One after the other: each sets the environment of its functions.
  const found = { updates: await run('updates'), adjustments: await run('adjustments') };
  return toFindings(found, `${count} schedules of each kind from seed ${seed}`);
});
