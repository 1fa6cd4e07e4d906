import type { OperationId } from '../../../shared/contract/operations.ts';
import { credentialsPattern, RATE_WINDOW_SECONDS, type RateRule } from '../../gateway/rateRules.ts';

export interface CountedRequest {
  readonly method: string;
  /** `undefined` if no operation is called. */
  readonly operationId: OperationId | undefined;
  readonly sourceIp: string;
  readonly headerLines: readonly (readonly [name: string, value: string])[];
}

/** How often the simulation counts. AWS does not say how often it does; its delay is usually below 30 seconds. */
const COUNT_MILLISECONDS = 10_000;

/**
 * Simulates the firewall's rate rules. Like AWS, it counts now and then, and only then refuses or stops refusing. It also
 * counts what it refuses.
 * https://docs.aws.amazon.com/waf/latest/developerguide/waf-rule-statement-type-rate-based-caveats.html
 * @returns counts a request, and returns true if a rule refuses it
 */
export function defineRateRules(
  rules: readonly RateRule[] = [],
): (request: CountedRequest) => boolean {
  const states = rules.map((rule) => ({
    rule,
    /** Requests by address or key since the last count, and in each period before it. */
    periods: [new Map<string, number>()],
    refused: new Set<string>(),
  }));
  const maxPeriods = (RATE_WINDOW_SECONDS * 1_000) / COUNT_MILLISECONDS;
  let countedAt = performance.now();

  function countPeriod(): void {
    for (const state of states) {
      const sums = new Map<string, number>();
      for (const [key, count] of state.periods.flatMap((period) => [...period])) {
        sums.set(key, (sums.get(key) ?? 0) + count);
      }
      const { limit } = state.rule;
      state.refused = new Set([...sums].filter(([, sum]) => sum > limit).map(([key]) => key));
      state.periods = [new Map(), ...state.periods].slice(0, maxPeriods);
    }
  }

  return function isRefused(request) {
    for (; performance.now() - countedAt >= COUNT_MILLISECONDS; countedAt += COUNT_MILLISECONDS) {
      countPeriod();
    }
    return states.some(({ rule, periods: [period], refused }) => {
      const key = findCountedKey(rule, request);
      if (key === undefined || !period) return false;
      period.set(key, (period.get(key) ?? 0) + 1);
      return refused.has(key);
    });
  };
}

/** The key or the address that the rule counts the request by; `undefined` if it does not count it. */
function findCountedKey(
  { counts, countedBy }: RateRule,
  { method, operationId, sourceIp, headerLines }: CountedRequest,
): string | undefined {
  const [, sent = ''] = headerLines.find(([name]) => name.toLowerCase() === 'authorization') ?? [];
  const credentials = sent.replaceAll(/\s+/g, ' ').toLowerCase();
  const hasKey = new RegExp(credentialsPattern).test(credentials);
  const isCounted = {
    all: true,
    keyless: !hasKey && method !== 'OPTIONS',
    lists: hasKey && operationId === 'listInventory',
  };
  if (!isCounted[counts]) return undefined;
  return countedBy === 'key' ? credentials : sourceIp;
}
