import { interleave, summarize } from '../../bench/report.ts';
import {
  findProblems,
  type LoadFigures,
  type LoadSettings,
  type Outcome,
  putUnderLoad,
  type RunningContender,
  takeVitals,
} from './contender.ts';

const MEGABYTE = 1024 * 1024;

export interface Comparison {
  readonly title: string;
  readonly contenders: readonly RunningContender[];
  readonly settings: LoadSettings;
  readonly rounds: number;
  /** The most that the last contender's throughput is to be of ours, and our CPU of its. */
  readonly maxRatio: number;
}

interface Turn extends LoadFigures {
  /** Of a request: gateway, functions and engine. */
  readonly cpuMilliseconds: number;
}

/** Puts each contender under the same load in turn, several times. */
export async function compare({
  title,
  contenders,
  settings,
  rounds,
  maxRatio,
}: Comparison): Promise<Outcome> {
  // A first turn compiles the code, and is thrown away.
  for (const contender of contenders) await takeTurn(contender, settings);
  const samples = await interleave(contenders, rounds, (contender) =>
    takeTurn(contender, settings),
  );
  const rows = [];
  const problems = [];
  for (const [contender, figures] of samples) {
    const vitals = await takeVitals(contender);
    const failures = figures.reduce((sum, each) => sum + each.failures, 0);
    const toCell = (figure: keyof Turn) => summarize(figures.map((each) => each[figure]));
    problems.push(...findProblems(contender.name, failures, vitals));
    rows.push([
      contender.name,
      toCell('perSecond'),
      toCell('p50'),
      toCell('p99'),
      toCell('cpuMilliseconds'),
      failures,
      vitals.usedBytes / MEGABYTE,
      vitals.rss / MEGABYTE,
    ]);
  }
  const turns = [...samples.values()];
  const lastName = contenders.at(-1)?.name;
  const median = (toRatio: (ours: Turn, last: Turn) => number) =>
    summarize((turns[0] ?? []).map((ours, round) => toRatio(ours, turns.at(-1)?.[round] ?? ours)))
      .median;
  return {
    section: {
      title: `${title}: ${settings.connections} connections, ${rounds} turns of ${settings.seconds} s each`,
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
          value: median((ours, last) => last.perSecond / ours.perSecond),
          atMost: maxRatio,
        },
        {
          name: `CPU of a request of ours ÷ ${lastName}, the median of the rounds,`,
          value: median((ours, last) => ours.cpuMilliseconds / last.cpuMilliseconds),
          atMost: maxRatio,
        },
      ],
      notes: [],
    },
    problems,
  };
}

async function takeTurn(contender: RunningContender, settings: LoadSettings): Promise<Turn> {
  const before = await takeVitals(contender, false);
  const figures = await putUnderLoad(contender.process.first, settings);
  const after = await takeVitals(contender, false);
  const spent = after.cpuMilliseconds - before.cpuMilliseconds;
  return { ...figures, cpuMilliseconds: spent / figures.requests };
}
