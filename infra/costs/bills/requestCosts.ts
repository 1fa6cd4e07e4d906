import { type OperationId, operationIds } from '../../../shared/contract/operations.ts';
import type { StageSettings } from '../../stages/stageSettings.ts';
import { findPrices } from '../prices/priceTables.ts';
import {
  type Answer,
  type AnswerUnits,
  answersOf,
  type BilledUnits,
  growsWithInventory,
} from '../units/answerUnits.ts';
import { toBilledDuration } from '../units/billedDuration.ts';
import { findUnits, readRecordedUnits } from '../units/recordedUnits.ts';
import { toRequestsBill, toStagePricing } from './monthlyBill.ts';
import { readCommittedTraffic, sumRequests } from './traffic.ts';
import { type Dollars, type RequestPricing, sumDollars, toDollarsPerMillion } from './usage.ts';

/** What a million requests with one answer cost. */
export interface OperationCost {
  readonly operationId: OperationId;
  readonly answer: Answer;
  /** The length of the inventory, where the cost grows with it. */
  readonly entries?: number;
  readonly dollarsPerMillion: number;
  readonly components: Dollars;
  /** With calls as short, and as long, as `billedDuration.ts` says they may be. */
  readonly range: { readonly low: number; readonly high: number };
}

/** @param sizes the lengths of the inventory that lists are priced for */
export function toOperationCosts(
  recorded: readonly AnswerUnits[],
  pricing: RequestPricing,
  sizes: readonly number[],
): OperationCost[] {
  return operationIds.flatMap((operationId) =>
    answersOf[operationId].flatMap((answer) =>
      (growsWithInventory(operationId, answer) ? sizes : [undefined]).flatMap((entries) => {
        const units = findUnits(recorded, operationId, answer, entries ?? 0);
        if (!units) return [];
        const kind = { operationId, answer, ...(entries !== undefined && { entries }) };
        return [{ ...kind, ...toCost(kind, units, pricing) }];
      }),
    ),
  );
}

function toCost(
  { operationId, answer, entries }: Pick<OperationCost, 'operationId' | 'answer' | 'entries'>,
  units: BilledUnits,
  pricing: RequestPricing,
): Pick<OperationCost, 'dollarsPerMillion' | 'components' | 'range'> {
  const toTotal = (billedMilliseconds: number) =>
    sumDollars(toDollarsPerMillion({ ...units, billedMilliseconds }, pricing));
  const { low, high } = toBilledDuration(operationId, answer, entries);
  return {
    dollarsPerMillion: toTotal(units.billedMilliseconds),
    components: toDollarsPerMillion(units, pricing),
    range: { low: toTotal(low), high: toTotal(high) },
  };
}

/**
 * What one request of an operation costs on average, in dollars: that of the mix of answers which the
 * committed traffic has of it, or else a plain 200.
 * @returns `undefined` for an operation whose units were not measured yet
 */
export function toMeanDollars(
  operationId: OperationId,
  settings: Pick<StageSettings, 'firewall' | 'region' | 'tracing'>,
): number | undefined {
  const recorded = readRecordedUnits();
  const traffic = readCommittedTraffic();
  const own = traffic.shares.filter((share) => share.operationId === operationId);
  const plain = { operationId, answer: '200', requests: 1 } as const;
  const shares = own.some(({ requests }) => requests > 0) ? own : [plain];
  const { entries } = traffic;
  if (!shares.every(({ answer }) => findUnits(recorded, operationId, answer, entries))) {
    return undefined;
  }
  const pricing = toStagePricing(settings, findPrices(settings.region), sumRequests(traffic));
  const { dollars } = toRequestsBill({ entries, shares }, recorded, pricing);
  return sumDollars(dollars) / sumRequests({ entries, shares });
}
