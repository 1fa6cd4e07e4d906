import { randomInt } from 'node:crypto';
import { parseArgs } from 'node:util';
import { toCount, toTime } from '../../../infra/cli/progress.ts';
import { runCommand, UsageError } from '../../../infra/cli/usage.ts';
import { defineEngineThread } from '../../../infra/local/engine/engineThread.ts';
import { importHandler } from '../../../infra/local/lambda/lambdaFunction.ts';
import { dynoxideIsInstalled, startDynoxide } from '../../engines/engineProcess.ts';
import { describeCase } from './cases.ts';
import { type FuzzReport, runFuzz } from './runFuzz.ts';
import { captureLog, openFuzzTarget } from './target.ts';

const help = `Usage: npm run fuzz -- [options]

Sends hostile requests to the local stage and hostile events to its functions, in batches. It stops at the
first batch with an answer of 500 or more, an error without the contract's Error body, a changed store after a
refusal, a forged or missing log line, a secret in the log, an answer past its deadline, or a crash, and
reduces that batch to the cases that it takes. It also fails if memory grows.

Options:
  --runs N     about how many cases (default 100000)
  --seed S     an integer that gives the same cases again, but for keys and tags (default: a random one)
  --path PATH  one batch again, with its answers: the path that a failure with this seed was reported with
  -h, --help   show this
`;

const DEADLINE_MILLISECONDS = 20_000;
const PROGRESS_MILLISECONDS = 5_000;
const MAX_RUNS = 1_000_000_000;
const MAX_SEED = 2 ** 31 - 1;

await runCommand(async (args) => {
  const { values } = parseArgs({
    args,
    options: {
      runs: { type: 'string', default: '100000' },
      seed: { type: 'string', default: String(randomInt(MAX_SEED)) },
      path: { type: 'string' },
      help: { type: 'boolean', short: 'h', default: false },
    },
  });
  if (values.help) return void process.stdout.write(help);
  const runs = parseCount('--runs', values.runs, MAX_RUNS);
  const seed = parseCount('--seed', values.seed, MAX_SEED);
  const { path } = values;
  if (path !== undefined && !/^\d+(:\d+)*$/.test(path)) {
    throw new UsageError(`Option '--path' must be numbers with colons, not '${path}'`);
  }
  const tell = process.stderr.write.bind(process.stderr);
  const print = process.stdout.write.bind(process.stdout);
  tell(`Seed ${seed}\n`);
  const thread = defineEngineThread();
  using log = captureLog();
  // Of the engines that are there, the one that leaves the most of the machine to the run.
  const startEngine = dynoxideIsInstalled ? startDynoxide : thread.startEngine;
  const target = await openFuzzTarget(startEngine, importHandler);
  let reported = performance.now();
  const report = await runFuzz(target, log, {
    seed,
    runs,
    deadlineMilliseconds: DEADLINE_MILLISECONDS,
    onProgress(sofar) {
      if (performance.now() - reported < PROGRESS_MILLISECONDS) return;
      reported = performance.now();
      tell(`${toProgressLine(sofar, runs)}\n`);
    },
    ...(path !== undefined && {
      path,
      onOutcome: ({ one, answer }) => {
        const text = answer
          ? `${answer.status} ${answer.bytes.toString('utf8', 0, 1_000)}`
          : 'no answer';
        print(`${describeCase(one)}\n→ ${text}\n\n`);
      },
    }),
  });
  await target.close();
  print(toReportText(report, seed));
  if (report.problems.length > 0) process.exitCode = 1;
});
// The functions' own connections would hold the process for a while.
process.exit();

function parseCount(option: string, text: string, most: number): number {
  const count = /^\d{1,10}$/.test(text) ? Number(text) : Number.NaN;
  if (count <= most) return count;
  throw new UsageError(`Option '${option}' must be an integer from 0 to ${most}, not '${text}'`);
}

function toProgressLine({ cases, milliseconds, heapBytes }: FuzzReport, runs: number): string {
  const rate = toCount((cases / milliseconds) * 1_000);
  const left = toTime(Math.max(0, ((runs - cases) * milliseconds) / cases / 1_000));
  const heap = toMegabytes(heapBytes.at(-1) ?? 0);
  return `${toCount(cases)} of ${toCount(runs)} cases, ${rate}/s, ${left} left, ${heap} MB`;
}

/** A run's figures as a table, what went wrong, and the line that repeats it. */
function toReportText(report: FuzzReport, seed: number): string {
  const { cases, events, statuses, late, logLines, heapBytes, milliseconds, problems } = report;
  const answers = [...statuses].sort(([one], [other]) => one - other);
  const megabytes = heapBytes.map(toMegabytes);
  const rows = [
    ['seed', String(seed)],
    ['---', '---'],
    ['cases', toCount(cases)],
    ['events into functions', toCount(events)],
    ['over connections', toCount(cases - events)],
    ['answers', answers.map(([status, count]) => `${status}: ${toCount(count)}`).join(', ')],
    ['503 that were none when repeated alone', toCount(late)],
    ['log lines', toCount(logLines)],
    [
      'heap after a collection, MB',
      megabytes.length > 0
        ? `${Math.min(...megabytes)} to ${Math.max(...megabytes)}, at last ${megabytes.at(-1)}`
        : 'not measured',
    ],
    ['time', toTime(milliseconds / 1_000)],
    ['problems', toCount(problems.length)],
  ];
  const table = rows.map(([name, value]) => `| ${name} | ${value} |\n`).join('');
  const { failure } = report;
  const sent = failure
    ? `\nThe smallest batch that fails:\n${failure.cases.join('\n')}\n\nIt again: npm run fuzz -- --seed ${seed} --path ${failure.path}\n`
    : '';
  return `${table}${problems.length > 0 ? '\n' : ''}${problems.map((problem) => `${problem}\n`).join('')}${sent}`;
}

function toMegabytes(bytes: number): number {
  return Number((bytes / 1024 / 1024).toFixed(1));
}
