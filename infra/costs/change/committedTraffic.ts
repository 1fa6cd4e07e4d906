import { readFileSync } from 'node:fs';
import { parseTraffic } from '../traffic/parseTraffic.ts';
import type { Traffic } from '../traffic/traffic.ts';

/** The traffic that changes of what a request costs are told for; to be kept like the stage's own. */
export const trafficFile = new URL('traffic.json', import.meta.url);

export function readCommittedTraffic(): Traffic {
  return parseTraffic(readFileSync(trafficFile, 'utf8'));
}
