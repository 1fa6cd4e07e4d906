/** Ids in the order in which a list had them, 16 bytes each however many there are. */
export interface ListedIds {
  readonly length: number;
  /** Whether there are none behind the last. */
  readonly isComplete: boolean;
  readonly inOrder: BigInt64Array;
  has(id: bigint): boolean;
  /** An id that comes more than once. */
  findTwice(): bigint | undefined;
}

export function toListedIds(inOrder: BigInt64Array, isComplete: boolean): ListedIds {
  const sorted = inOrder.toSorted();
  return {
    length: inOrder.length,
    isComplete,
    inOrder,
    has(id) {
      let low = 0;
      let high = sorted.length;
      while (low < high) {
        const middle = (low + high) >>> 1;
        if ((sorted[middle] as bigint) < id) low = middle + 1;
        else high = middle;
      }
      return sorted[low] === id;
    },
    findTwice: () => sorted.find((id, index) => id === sorted[index + 1]),
  };
}

/**
 * The first id of one reading that is missing from another, as far as the other went: whole list and
 * pages come in one order, that of the table.
 */
export function findMissing(of: ListedIds, from: ListedIds): bigint | undefined {
  let end = of.length;
  if (!from.isComplete) {
    while (end > 0 && !from.has(of.inOrder[end - 1] as bigint)) end -= 1;
  }
  return of.inOrder.subarray(0, end).find((id) => !from.has(id));
}
