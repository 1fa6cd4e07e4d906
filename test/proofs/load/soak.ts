import {
  findProblems,
  type LoadFigures,
  type Outcome,
  putUnderLoad,
  type RunningContender,
  takeVitals,
  type Vitals,
} from './contender.ts';

/**
 * The most that memory without garbage may rise from one measurement to a later one, in bytes, and be flat: what V8
 * still compiles, and noise. It shows what keeps 32 bytes of each request, from 65,536 requests on.
 */
export const MAX_GROWTH = 2 * 1024 * 1024;

const MEGABYTE = 1024 * 1024;

/** Seconds: some 100,000 requests, until which V8 compiles what would pass for growth. */
const WARM_UP = 120;

/** A stretch of the soak, and how the service was after it. */
interface Stretch extends LoadFigures, Vitals {
  readonly name: string;
}

/**
 * Puts the service under the mix. The first tenth of the time, and no less than WARM_UP or a third, warms up; what
 * is left is measured in halves.
 */
export async function soak(
  ours: RunningContender,
  connections: number,
  soakSeconds: number,
): Promise<Outcome> {
  const warmUpSeconds = Math.max(soakSeconds / 10, Math.min(WARM_UP, soakSeconds / 3));
  const half = (soakSeconds - warmUpSeconds) / 2;
  const warmUp = await run('warm-up', warmUpSeconds);
  const firstHalf = await run('first half', half);
  const secondHalf = await run('second half', half);
  const stretches = [warmUp, firstHalf, secondHalf];

  async function run(name: string, seconds: number): Promise<Stretch> {
    const { first } = ours.process;
    const figures = await putUnderLoad(first, { load: 'mix', connections, seconds });
    return { name, ...figures, ...(await takeVitals(ours)) };
  }

  const growth = maxGrowth([warmUp.usedBytes, firstHalf.usedBytes, secondHalf.usedBytes]);
  const failures = stretches.reduce((sum, stretch) => sum + stretch.failures, 0);
  return {
    section: {
      title: `A soak of ${soakSeconds} s with the mix, ${connections} connections`,
      columns: [
        { name: 'stretch' },
        { name: 'requests' },
        { name: 'a second' },
        { name: 'p50, ms' },
        { name: 'p99, ms' },
        { name: 'failed' },
        { name: 'memory after it, MB', digits: 2 },
        { name: 'process, MB' },
      ],
      rows: stretches.map(({ name, requests, perSecond, p50, p99, failures, usedBytes, rss }) => [
        name,
        requests,
        perSecond,
        p50,
        p99,
        failures,
        usedBytes / MEGABYTE,
        rss / MEGABYTE,
      ]),
      goals: [
        { name: 'MB of growth', value: growth / MEGABYTE, atMost: MAX_GROWTH / MEGABYTE },
        { name: 'requests without a 2xx', value: failures, atMost: 0 },
        { name: 'ERROR lines', value: secondHalf.errorLines, atMost: 0 },
      ],
      notes: [
        'Memory is what gateway and functions hold without garbage; its growth is the largest rise.',
        'The process is all of it, with the engine and its thread.',
      ],
    },
    problems: [
      ...(growth > MAX_GROWTH ? ['The memory of the functions is not flat.'] : []),
      ...findProblems('ours', failures, secondHalf),
    ],
  };
}

/** @param used bytes at the end of the warm-up, in the middle and at the end */
function maxGrowth(used: readonly number[]): number {
  const rises = used.map((later, index) => later - Math.min(...used.slice(0, index)));
  return Math.max(...rises.slice(1));
}
