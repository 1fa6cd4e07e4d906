import {
  CONNECTIONS,
  type Contender,
  findProblems,
  type Outcome,
  putUnderLoad,
  takeVitals,
} from './contender.ts';

/**
 * The most that memory without garbage may rise from one measurement to a later one, in bytes, and be flat: what V8
 * still compiles, and noise. It shows what keeps 32 bytes of each request, from 65,536 requests on.
 */
export const MAX_GROWTH = 2 * 1024 * 1024;

const MEGABYTE = 1024 * 1024;

/** Seconds: some 100,000 requests, until which V8 compiles what would pass for growth. */
const WARM_UP = 120;

/**
 * Puts the service under the mix. The first tenth of the time, and no less than WARM_UP or a third, warms up; what
 * is left is measured in halves.
 */
export async function soak(ours: Contender, soakSeconds: number): Promise<Outcome> {
  const warmUp = Math.max(soakSeconds / 10, Math.min(WARM_UP, soakSeconds / 3));
  const half = (soakSeconds - warmUp) / 2;

  async function run(name: string, seconds: number) {
    const figures = await putUnderLoad(ours, 'mix', seconds);
    return { name, ...figures, ...(await takeVitals(ours, true)) };
  }

  const first = await run('warm-up', warmUp);
  const middle = await run('first half', half);
  const last = await run('second half', half);
  const stretches = [first, middle, last];
  const growth = Math.max(
    middle.usedBytes - first.usedBytes,
    last.usedBytes - Math.min(first.usedBytes, middle.usedBytes),
  );
  const failures = stretches.reduce((sum, stretch) => sum + stretch.failures, 0);
  return {
    section: {
      title: `A soak of ${soakSeconds} s with the mix, ${CONNECTIONS} connections`,
      columns: [
        { name: 'stretch' },
        { name: 'requests' },
        { name: 'p50, ms' },
        { name: 'p99, ms' },
        { name: 'failed' },
        { name: 'memory after it, MB', digits: 2 },
        { name: 'process, MB' },
      ],
      rows: stretches.map(({ name, requests, p50, p99, failures, usedBytes, rss }) => {
        return [name, requests, p50, p99, failures, usedBytes / MEGABYTE, rss / MEGABYTE];
      }),
      goals: [{ name: 'MB of growth', value: growth / MEGABYTE, atMost: MAX_GROWTH / MEGABYTE }],
      notes: [
        'Memory is what gateway and functions hold without garbage; the process has the engine.',
      ],
    },
    problems: [
      ...(growth > MAX_GROWTH ? ['The memory of the functions is not flat.'] : []),
      ...findProblems('ours', failures, last),
    ],
  };
}
