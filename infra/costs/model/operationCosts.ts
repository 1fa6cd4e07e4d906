import { type OperationId, operationIds } from '../../../shared/contract/operations.ts';
import { type Answer, answersBySize, answersOf } from '../units/answers.ts';
import type { AnswerUnits, BilledUnits } from '../units/answerUnits.ts';
import { toBilledDuration } from '../units/billedDuration.ts';
import { findUnits } from '../units/recordedUnits.ts';
import {
  type Dollars,
  type RequestPricing,
  sumDollars,
  toDollarsPerMillion,
} from './components.ts';

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
    answersOf[operationId].flatMap((answer: Answer) => {
      const bySize = operationId === 'listInventory' && answersBySize.includes(answer);
      return (bySize ? sizes : [undefined]).flatMap((entries) => {
        const units = findUnits(recorded, operationId, answer, entries ?? 0);
        if (!units) return [];
        const kind = { operationId, answer, ...(entries !== undefined && { entries }) };
        return [{ ...kind, ...toCost(kind, units, pricing) }];
      });
    }),
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
