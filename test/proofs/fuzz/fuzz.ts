import { randomInt } from 'node:crypto';
import { toCount } from '../../../infra/cli/output.ts';
import { whole } from '../../../infra/cli/values.ts';
import { importModule } from '../../../infra/local/lambdaFunction.ts';
import { type Findings, runProof } from '../../support/testCommand.ts';
import { startEngineThread } from '../engineThread.ts';
import { describeCase } from './cases.ts';
import { type FuzzReport, runFuzz } from './runFuzz.ts';
import { captureLog, openFuzzTarget } from './target.ts';

const DEADLINE_MILLISECONDS = 20_000;

const text = {
  about:
    "Sends hostile requests to the local stage and hostile events to its functions, in batches. Stops at the first batch with a response of 500 or more, an error without the contract's Error body, a changed store after a refusal, a forged or missing log line, a secret in the log, a late response, or a crash. Then shrinks that batch to the cases that it needs. Also fails if memory grows.",
  options: {
    runs: { value: 'N', about: 'about how many cases', ...whole(), default: '100000' },
    seed: {
      value: 'S',
      about:
        'an integer; the same one gives the same cases, except for keys and tags; random without it',
      ...whole(0, 2 ** 31 - 1),
    },
    path: {
      value: 'PATH',
      about: 'repeat one batch and show its responses; a failure with this seed prints its path',
    },
  },
} as const;

await runProof('fuzz', text, async ({ path, runs, seed = randomInt(2 ** 31) }) => {
  const printProgress = process.stderr.write.bind(process.stderr);
  const print = process.stdout.write.bind(process.stdout);
  printProgress(`Seed ${seed}\n`);
  using log = captureLog();
  const target = await openFuzzTarget(startEngineThread, importModule);
  const report = await runFuzz(target, log, {
    seed,
    runs,
    path,
    deadlineMilliseconds: DEADLINE_MILLISECONDS,
    onCheck: (cases) => printProgress(`${toCount(cases)} of ${toCount(runs)} cases\n`),
    onOutcome({ one, response }) {
      if (path === undefined) return;
      const body = response?.bytes.toString('utf8', 0, 1_000);
      print(
        `${describeCase(one)}\n→ ${response ? `${response.status} ${body}` : 'no response'}\n\n`,
      );
    },
  });
  await target.close();
  return toFindings(report, seed);
});

/** A run's figures, its problems, and the command that repeats them. */
function toFindings(report: FuzzReport, seed: number): Findings {
  const { cases, events, statuses, logLines, heapBytes, problems, failure } = report;
  const responses = [...statuses].sort(([one], [other]) => one - other);
  return {
    section: {
      title: `Fuzz, seed ${seed}`,
      columns: ['', ''],
      rows: [
        ['cases', cases],
        ['events into functions', events],
        ['over connections', cases - events],
        ...responses.map(([status, count]) => [`responses of ${status}`, count]),
        ['log lines', logLines],
        ...heapBytes.slice(-1).map((bytes) => ['MB of heap at the end', bytes / 1024 / 1024]),
      ],
      notes: [
        ...(failure?.cases.map((one) => `In the smallest failing batch: ${one}`) ?? []),
        ...(failure ? [`To repeat: npm run fuzz -- --seed ${seed} --path ${failure.path}`] : []),
      ],
    },
    problems,
  };
}
