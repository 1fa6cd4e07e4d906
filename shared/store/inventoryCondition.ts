import type { AttributeValue } from '@aws-sdk/client-dynamodb';
import { parseVersion } from './inventoryRecord.ts';

/** What an update asks of its entry. */
export interface Condition {
  readonly expression: string;
  readonly values: Readonly<Record<string, AttributeValue>>;
}

/** That the entry exists and, where versions are given, is in one of those states. */
export function toCondition(versions: readonly string[] | undefined): Condition {
  if (!versions) return { expression: 'attribute_exists(p)', values: {} };
  const values: Record<string, AttributeValue> = {};
  const states = versions.map((version, index) => {
    const state = parseVersion(version);
    if (!state) return NO_STATE;
    values[`:q${index}`] = state.q;
    values[`:s${index}`] = state.s;
    if (state.v) values[`:v${index}`] = state.v;
    const counted = state.v ? `v = :v${index}` : 'attribute_not_exists(v)';
    return `(q = :q${index} AND s = :s${index} AND ${counted})`;
  });
  return { expression: states.join(' OR ') || NO_STATE, values };
}

/** For a version that this store never gave: true of no entry. */
const NO_STATE = '(attribute_exists(p) AND attribute_not_exists(p))';
