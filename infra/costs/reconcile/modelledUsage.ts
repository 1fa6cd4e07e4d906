import type { Stage } from '../../stages/stages.ts';
import type { FixedUnits } from '../model/fixedCosts.ts';
import type { PriceTable } from '../prices/priceTable.ts';
import type { Traffic } from '../traffic/traffic.ts';
import type { AnswerUnits } from '../units/answerUnits.ts';

/** What the model says of one usage type. */
export interface ModelledUsage {
  /** As AWS names it, without the region. */
  readonly usageType: string;
  /** Others that AWS bills the same by. */
  readonly alsoNamed?: RegExp;
  /** Whose usage type it is, since several services have one of the same name. */
  readonly service: RegExp;
  readonly unit: string;
  readonly quantity: number;
  readonly dollars: number;
}

export interface ModelInput {
  readonly stage: Stage;
  readonly prices: PriceTable;
  readonly traffic: Traffic;
  readonly recorded: readonly AnswerUnits[];
  readonly fixed: FixedUnits;
  /** How many months the time is that was billed. */
  readonly months: number;
}
