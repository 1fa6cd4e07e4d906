import type { AttributeValue } from '@aws-sdk/client-dynamodb';
import { parseVersion, type State } from './inventoryRecord.ts';

/** What an update asks of its entry. */
export interface Condition {
  readonly expression: string;
  readonly values: Readonly<Record<string, AttributeValue>>;
}

/** That the entry exists and, where versions are given, is in one of those states. */
export function toCondition(versions: readonly string[] | undefined): Condition {
  if (!versions) return { expression: 'attribute_exists(p)', values: {} };
  const conditions = versions.flatMap((version, index) => {
    const state = parseVersion(version);
    return state ? [toStateCondition(state, index)] : [];
  });
  return {
    expression: conditions.map(({ expression }) => expression).join(' OR ') || NO_STATE,
    values: Object.assign({}, ...conditions.map(({ values }) => values)),
  };
}

/** Where no version is one that this store gave: true of no entry. */
const NO_STATE = 'attribute_exists(p) AND attribute_not_exists(p)';

function toStateCondition({ v, content }: State, index: number): Condition {
  const terms = [
    v ? `v = :v${index}` : 'attribute_not_exists(v)',
    ...(content ? [`q = :q${index}`, `s = :s${index}`] : []),
  ];
  return {
    expression: `(${terms.join(' AND ')})`,
    values: {
      ...(v && { [`:v${index}`]: v }),
      ...(content && { [`:q${index}`]: content.q, [`:s${index}`]: content.s }),
    },
  };
}
