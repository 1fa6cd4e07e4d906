import { runCommand } from '../../../infra/cli/usage.ts';
import { defineEngineThread } from '../../../infra/local/engine/engineThread.ts';
import { importHandler } from '../../../infra/local/lambda/lambdaFunction.ts';
import type { WholeAnswer } from '../../../infra/openapi/answerProblems.ts';
import { dynoxideIsInstalled, startDynoxide } from '../../support/dynoxide.ts';
import { describeCase } from './cases/makeCase.ts';
import { help, parseFuzzOptions } from './fuzzOptions.ts';
import { toFailureText, toProgressLine, toReportText } from './reportText.ts';
import { runFuzz } from './runFuzz.ts';
import { captureLog } from './target/captureLog.ts';
import { openFuzzTarget } from './target/fuzzTarget.ts';

const DEADLINE_MILLISECONDS = 20_000;
const PROGRESS_MILLISECONDS = 5_000;

await runCommand(async (args) => {
  const { help: isHelp, seed, runs: count, only } = parseFuzzOptions(args);
  if (isHelp) return void process.stdout.write(help);
  const runs = only === undefined ? count : 1;
  const tell = process.stderr.write.bind(process.stderr);
  const print = process.stdout.write.bind(process.stdout);
  tell(`Seed ${seed}\n`);
  using thread = defineEngineThread();
  using log = captureLog();
  const target = await openFuzzTarget({
    // Of the engines that are there, the one that leaves the most of the machine to the run.
    startEngine: dynoxideIsInstalled ? startDynoxide : thread.startEngine,
    loadHandler: importHandler,
  });
  let told = performance.now();
  const report = await runFuzz(target, log, {
    seed,
    first: only ?? 0,
    runs,
    deadlineMilliseconds: DEADLINE_MILLISECONDS,
    checkEvery: 5_000,
    onProgress(sofar) {
      if (performance.now() - told < PROGRESS_MILLISECONDS) return;
      told = performance.now();
      tell(`${toProgressLine(sofar, runs)}\n`);
    },
    onFailure: (failure) => void tell(toFailureText(failure, seed)),
    ...(only !== undefined && {
      onOutcome: ({ one, answer }) =>
        void print(`${describeCase(one)}\n→ ${answer ? toAnswerText(answer) : 'no answer'}\n\n`),
    }),
  });
  await target.close();
  print(toReportText(report, seed));
  if (report.failures.length > 0) process.exitCode = 1;
});
// The functions' own connections would hold the process for a while.
process.exit();

function toAnswerText({ status, bytes }: WholeAnswer): string {
  return `${status} ${bytes.toString('utf8', 0, 1_000)}`;
}
