import autocannon from 'autocannon';
import type { Started } from './contender.ts';
import { type LoadName, loads } from './requests.ts';

/** What clients had of a server under load. */
export interface LoadFigures {
  readonly requests: number;
  readonly perSecond: number;
  /** Milliseconds, to the whole one. */
  readonly p50: number;
  readonly p99: number;
  /** Requests that had no answer, or another one than 2xx. */
  readonly failures: number;
}

export interface LoadSettings {
  readonly load: LoadName;
  readonly connections: number;
  readonly seconds: number;
}

/** Sends as many requests as are answered, one after the other on each connection. */
export async function putUnderLoad(
  { origin, apiKey }: Started,
  { load, connections, seconds }: LoadSettings,
): Promise<LoadFigures> {
  const { requests, latency, duration, errors, non2xx } = await autocannon({
    url: origin,
    connections,
    duration: seconds,
    // The load ends where a sample does.
    sampleInt: Math.min(1_000, 500 * seconds),
    requests: loads[load](apiKey),
  });
  return {
    requests: requests.total,
    perSecond: requests.total / duration,
    p50: latency.p50,
    p99: latency.p99,
    failures: errors + non2xx,
  };
}
