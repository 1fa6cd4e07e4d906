import { toRequestShare } from '../metrics/requestShare.ts';
import type { Stage } from '../stages/stages.ts';
import type { RefusalMetrics } from './accessLogMetrics.ts';
import type { WatchAlarm } from './watchAlarm.ts';

/** Someone tries keys, or uses one for what it does not allow; or a client has not noticed a rotation. */
export function defineAbuseAlarms(
  stage: Stage,
  { unauthorized, forbidden }: RefusalMetrics,
): WatchAlarm[] {
  return [
    {
      name: 'unauthorized-requests',
      severity: 'ticket',
      description:
        'At least 1 in 5 requests gets 401. Look at the saved query "Refused credentials by reason": one key id that expired or was revoked is a client that has not noticed; many malformed ones from few addresses ("Refusals by address") are someone trying keys.',
      metric: toRequestShare(stage, '401, % of requests', unauthorized, 50),
      threshold: 20,
      periods: 2,
      of: 3,
    },
    {
      name: 'forbidden-requests',
      severity: 'ticket',
      description:
        'At least 1 in 10 requests gets 403. Look at the saved query "Cost in request units by key" for the key: a read key is used to write, so its owner needs another or the key has leaked and must be revoked; where the firewall is on, it may be what refuses.',
      metric: toRequestShare(stage, '403, % of requests', forbidden, 50),
      threshold: 10,
      periods: 2,
      of: 3,
    },
  ];
}
