import { log } from '../../../infra/cli/output.ts';
import { duration } from '../../../infra/cli/values.ts';
import { writeBundles } from '../../support/bundles.ts';
import { makeScratchFolder, runProof } from '../../support/testCommand.ts';
import { sellToCrowds } from './crowds.ts';
import { soak, startService } from './soak.ts';

const text = {
  about:
    "Loads the deployed bundles on the local stage, with the embedded DynamoDB in a thread: of ten requests, nine read, and one updates or sells. Fails at any response other than 2xx, at any line of level ERROR, and if the service's memory does not stay flat.",
  options: {
    soak: { value: '10m', about: 'the length of the load', ...duration, default: '1m' },
    crowds: {
      about:
        'instead, let crowds of buyers sell out a few entries; fail if one of them is refused a piece that is left, a piece is sold twice, a cart is sold by half, or it takes too long',
    },
  },
} as const;

await runProof('load', text, async ({ crowds, ...options }) => {
  const seconds = options.soak.milliseconds / 1_000;
  log('Building the bundles …');
  const bundles = await writeBundles(makeScratchFolder('load'));
  log(crowds ? 'Selling …' : `Soaking for ${seconds} s …`);
  return crowds ? sellToCrowds({ bundles }) : soak(await startService({ bundles }), seconds);
});
