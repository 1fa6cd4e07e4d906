import { log } from '../../../infra/cli/output.ts';
import { duration } from '../../../infra/cli/values.ts';
import { toText } from '../../bench/report.ts';
import { writeBundles } from '../../support/bundles.ts';
import { makeScratchFolder, runProof } from '../../support/testCommand.ts';
import { runFlashSales } from './flashSales.ts';
import { soak, startService } from './soak.ts';

const text = {
  about:
    "Runs flash sales, then a soak, on the deployed bundles on the local stage, with the embedded DynamoDB in a thread. A sale fails if a unit is sold twice, a cart is sold by half, a buyer is refused what is left, or it takes too long. In the soak, nine of ten requests read, and one updates or sells: it fails at any response other than 2xx, at any line of level ERROR, and if the service's memory does not stay flat.",
  options: {
    soak: { value: '30s', about: 'the length of the soak', ...duration, default: '1m' },
  },
} as const;

await runProof('load', text, async (options) => {
  log('Building the bundles …');
  const bundles = await writeBundles(makeScratchFolder('load'));
  log('Selling …');
  const sales = await runFlashSales({ bundles });
  process.stdout.write(toText(sales.section));
  const seconds = options.soak / 1_000;
  log(`Soaking for ${seconds} s …`);
  const { section, problems } = await soak(await startService({ bundles }), seconds);
  return { section, problems: [...sales.problems, ...problems] };
});
