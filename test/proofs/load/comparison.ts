import { interleave, summarize } from '../../bench/report.ts';
import {
  CONNECTIONS,
  type Contender,
  findProblems,
  type LoadFigures,
  type LoadName,
  type Outcome,
  putUnderLoad,
  takeVitals,
} from './contender.ts';

const MEGABYTE = 1024 * 1024;
/** An odd number, so that a median is a measurement. */
const ROUNDS = 15;

interface Turn extends LoadFigures {
  /** Of a request: gateway, functions and engine. */
  readonly cpuMilliseconds: number;
}

/**
 * Puts each contender under the same load in turn, several times.
 * @param maxRatio the most that the last contender's throughput is to be of ours, and our CPU of its
 */
export async function compare(
  load: LoadName,
  contenders: readonly Contender[],
  seconds: number,
  maxRatio: number,
  rounds = ROUNDS,
): Promise<Outcome> {
  const takeTurn = async (contender: Contender): Promise<Turn> => {
    const before = await takeVitals(contender, false);
    const figures = await putUnderLoad(contender, load, seconds);
    const after = await takeVitals(contender, false);
    const spent = after.cpuMilliseconds - before.cpuMilliseconds;
    return { ...figures, cpuMilliseconds: spent / figures.requests };
  };
  // A first turn compiles the code, and is thrown away.
  for (const contender of contenders) await takeTurn(contender);
  const samples = await interleave(contenders, rounds, takeTurn);
  const rows = [];
  const problems = [];
  for (const [contender, figures] of samples) {
    const vitals = await takeVitals(contender, true);
    const failures = figures.reduce((sum, each) => sum + each.failures, 0);
    problems.push(...findProblems(contender.name, failures, vitals));
    const toCell = (figure: keyof Turn) => summarize(figures.map((each) => each[figure]));
    const speed = (['perSecond', 'p50', 'p99', 'cpuMilliseconds'] as const).map(toCell);
    const memory = [vitals.usedBytes / MEGABYTE, vitals.rss / MEGABYTE];
    rows.push([contender.name, ...speed, failures, ...memory]);
  }
  const [ours = [], ...others] = [...samples.values()];
  const last = others.at(-1) ?? ours;
  const lastName = contenders.at(-1)?.name;
  const toMedian = (toRatio: (our: Turn, its: Turn) => number) =>
    summarize(ours.map((our, round) => toRatio(our, last[round] ?? our))).median;
  const section = {
    title: `${load}: ${CONNECTIONS} connections, ${rounds} turns of ${seconds} s each`,
    columns: [
      { name: 'contender' },
      { name: 'requests a second' },
      { name: 'p50, ms' },
      { name: 'p99, ms' },
      { name: 'CPU of a request, ms', digits: 2 },
      { name: 'failed' },
      { name: 'memory, MB', digits: 1 },
      { name: 'process, MB' },
    ],
    rows,
    goals: [
      {
        name: `throughput of ${lastName} ÷ ours, the median of the rounds,`,
        value: toMedian((our, its) => its.perSecond / our.perSecond),
        atMost: maxRatio,
      },
      {
        name: `CPU of a request of ours ÷ ${lastName}, the median of the rounds,`,
        value: toMedian((our, its) => our.cpuMilliseconds / its.cpuMilliseconds),
        atMost: maxRatio,
      },
    ],
  };
  return { section, problems };
}
