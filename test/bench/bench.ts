import { deepEqual, rejects } from 'node:assert/strict';
import { log } from '../../infra/cli/output.ts';
import { parseJson } from '../../shared/contract/json.ts';
import { mintApiKey } from '../../shared/keys/apiKey.ts';
import { makeScratchFolder, runTestCommand } from '../support/testCommand.ts';
import { type Bundles, benchedIds, buildBundles } from './buildBundles.ts';
import { type FunctionHost, startFunctionHost, toEvent } from './functionHost.ts';
import type { RunResult } from './functionProcess.ts';
import { measureFirst } from './parts/first.ts';
import { measureList } from './parts/list.ts';
import { measureWarm } from './parts/warm.ts';
import { toText } from './report.ts';

const parts = { first: measureFirst, list: measureList, warm: measureWarm };
const partNames = Object.keys(parts) as (keyof typeof parts)[];

const text = {
  about:
    'Measures the deployed bundles against a peer (the same operations, written without looking at what they cost) and against a floor, in one run and in turns.',
  options: {
    only: {
      value: 'PART',
      choices: partNames,
      multiple: true,
      about: 'some parts; all without it',
    },
    quick: { about: 'fewer measurements' },
  },
} as const;

await runTestCommand('bench', text, async ({ only = partNames, quick = false }) => {
  log('Building the bundles …');
  const bundles = await buildBundles(makeScratchFolder('bench'));
  const host = await startFunctionHost(bundles);
  await expectSameResponses(host, bundles);
  for (const name of partNames.filter((one) => only.includes(one))) {
    process.stdout.write(`${toText(await parts[name]({ host, bundles, quick }))}\n`);
  }
});

/** @throws {AssertionError} if the peer does not respond as the service does: their figures would not compare */
async function expectSameResponses(host: FunctionHost, { ours, peer }: Bundles): Promise<void> {
  await host.setEntries(50);
  for (const id of benchedIds) {
    const [response, expected] = await Promise.all(
      [peer[id], ours[id]].map(async (bundle) => {
        const child = await host.startFunction(bundle);
        const unknownKey = toEvent(id, mintApiKey().apiKey);
        await rejects(child.ask({ event: unknownKey, times: 1 }), /returned 401/);
        const run = { event: toEvent(id, host.apiKey), times: 1, keepsBody: true };
        const { body } = await child.ask<RunResult>(run);
        await child.end();
        return parseJson(body);
      }),
    );
    deepEqual(response, expected, id);
  }
}
