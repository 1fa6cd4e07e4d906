/** A source of choices that gives the same ones for the same seed and case. */
export interface Random {
  /** An integer from 0 to below the limit. */
  below(limit: number): number;
  /** True in this share of the calls. */
  chance(share: number): boolean;
  pick<Value>(values: readonly Value[]): Value;
}

/**
 * Each case has a source of its own, so that one case can be repeated without those before it. The
 * generator is mulberry32: a few nanoseconds a number, where a library's would take most of a run.
 */
export function defineRandom(seed: number, index: number): Random {
  let state = mix(mix(seed | 0) ^ mix(index + 0x9e3779b9));

  function next(): number {
    state = (state + 0x6d2b79f5) | 0;
    return mix(state) / 2 ** 32;
  }

  const below = (limit: number) => Math.floor(next() * limit);
  return {
    below,
    chance: (share) => next() < share,
    pick: <Value>(values: readonly Value[]) => values[below(values.length)] as Value,
  };
}

/** @returns 32 bits, in which each bit of the number has changed about half of all */
function mix(number: number): number {
  let bits = number | 0;
  bits = Math.imul(bits ^ (bits >>> 15), bits | 1);
  bits ^= bits + Math.imul(bits ^ (bits >>> 7), bits | 61);
  return (bits ^ (bits >>> 14)) >>> 0;
}
