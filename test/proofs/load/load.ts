import { log } from '../../../infra/cli/output.ts';
import { duration } from '../../../infra/cli/values.ts';
import { writeBundles } from '../../support/bundles.ts';
import { makeScratchFolder, runProof } from '../../support/testCommand.ts';
import { runFlashSales } from './flashSales.ts';
import { soak, startService } from './soak.ts';

const text = {
  about:
    "Loads the deployed bundles on the local stage, with the embedded DynamoDB in a thread: of ten requests, nine read, and one updates or sells. Fails at any response other than 2xx, at any line of level ERROR, and if the service's memory does not stay flat.",
  options: {
    soak: { value: '10m', about: 'the length of the load', ...duration, default: '1m' },
    sales: {
      about:
        'runs flash sales instead, in which many buyers at once sell out a few entries; fails if a buyer is refused a piece that is left, a piece is sold twice, a cart is sold by half, or it takes too long',
    },
  },
} as const;

await runProof('load', text, async ({ sales, ...options }) => {
  const seconds = options.soak.milliseconds / 1_000;
  log('Building the bundles …');
  const bundles = await writeBundles(makeScratchFolder('load'));
  log(sales ? 'Selling …' : `Soaking for ${seconds} s …`);
  return sales ? runFlashSales({ bundles }) : soak(await startService({ bundles }), seconds);
});
