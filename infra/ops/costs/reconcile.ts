import type { ModelledUsage } from './modelledUsage.ts';
import type { BilledLine } from './readExport.ts';

/** What was billed under one usage type. */
export interface BilledUsage {
  readonly service: string;
  /** With what it is, where it is no use, such as `(Credit)`. */
  readonly usageType: string;
  readonly quantity: number;
  readonly dollars: number;
}

/** A usage type that the model has, as billed and as modelled. */
export interface ReconciledUsage {
  readonly usageType: string;
  readonly unit: string;
  readonly billed: Amount;
  readonly modelled: Amount;
  /** Of the model, in per cent of what was billed; none where nothing was. */
  readonly quantityError?: number | undefined;
  /** Of a unit's price. */
  readonly priceError?: number | undefined;
  readonly dollarsError?: number | undefined;
}

export interface Amount {
  readonly quantity: number;
  readonly dollars: number;
}

export interface Reconciliation {
  readonly usage: readonly ReconciledUsage[];
  /** The stage's, of which the model knows nothing; the most expensive first. */
  readonly unexplained: readonly BilledUsage[];
  /** Of other services, of other stages, or without a tag; the most expensive first. */
  readonly others: readonly BilledUsage[];
}

/** Which lines are the stage's. */
export interface Tags {
  readonly service: string;
  readonly stage: string;
}

/** Holds the lines against the model. Only sums are kept of them. */
export async function reconcile(
  lines: AsyncIterable<readonly BilledLine[]>,
  modelled: readonly ModelledUsage[],
  tags: Tags,
): Promise<Reconciliation> {
  const billed = modelled.map(() => ({ quantity: 0, dollars: 0 }));
  const unexplained = new Map<string, BilledUsage>();
  const others = new Map<string, BilledUsage>();
  for await (const some of lines) {
    for (const line of some) {
      const index = isTagged(line, tags) ? modelled.findIndex((usage) => isOf(line, usage)) : -1;
      const amount = billed[index];
      if (amount) {
        amount.quantity += line.quantity;
        amount.dollars += line.dollars;
      } else add(isTagged(line, tags) ? unexplained : others, line);
    }
  }
  return {
    usage: modelled.map((usage, index) => compare(usage, billed[index] ?? usage)),
    unexplained: sort(unexplained),
    others: sort(others),
  };
}

function isTagged({ tags }: BilledLine, { service, stage }: Tags): boolean {
  return tags.stage === stage && (tags.service || service) === service;
}

function isOf(line: BilledLine, { service, usageType, alsoNamed }: ModelledUsage): boolean {
  return (
    line.kind === 'Usage' &&
    service.test(line.service) &&
    (line.usageType === usageType || (alsoNamed?.test(line.usageType) ?? false))
  );
}

function add(sums: Map<string, BilledUsage>, line: BilledLine): void {
  const { service, quantity, dollars } = line;
  const usageType =
    line.kind === 'Usage' ? line.usageType : `${line.usageType} (${line.kind})`.trim();
  const key = `${service}\n${usageType}`;
  const before = sums.get(key) ?? { quantity: 0, dollars: 0 };
  sums.set(key, {
    service,
    usageType,
    quantity: before.quantity + quantity,
    dollars: before.dollars + dollars,
  });
}

function compare({ usageType, unit, ...modelled }: ModelledUsage, billed: Amount): ReconciledUsage {
  const { quantity, dollars } = modelled;
  return {
    usageType,
    unit,
    billed,
    modelled: { quantity, dollars },
    quantityError: toError(quantity, billed.quantity),
    priceError: toError(dollars / quantity, billed.dollars / billed.quantity),
    dollarsError: toError(dollars, billed.dollars),
  };
}

/** Without one where nothing was billed, such as within a free allowance. */
function toError(modelled: number, billed: number): number | undefined {
  return billed > 0 ? (100 * (modelled - billed)) / billed : undefined;
}

function sort(sums: ReadonlyMap<string, BilledUsage>): BilledUsage[] {
  return [...sums.values()].sort((one, other) => other.dollars - one.dollars);
}
