import type { Move } from './moves.ts';

/** Which moves have their place in the order so far. */
export interface Linearized {
  add(index: number): void;
  delete(index: number): void;
  has(index: number): boolean;
  /** The same for the same moves, and no others. */
  name(): string;
}

/**
 * A bit for each move. Since those that must happen are taken nearly in the order of their calls, only the
 * bits from the first that is missing to the last that is there go into the name.
 */
export function defineLinearized(moves: readonly Move[]): Linearized {
  const must = moves.flatMap(({ isOptional }, index) => (isOptional ? [] : [index]));
  const may = moves.flatMap(({ isOptional }, index) => (isOptional ? [index] : []));
  must.sort((one, other) => toCall(moves[one]) - toCall(moves[other]));
  const mayFrom = Math.ceil(must.length / 8) * 8;
  const places = new Map<number, number>();
  for (const [place, index] of must.entries()) places.set(index, place);
  for (const [place, index] of may.entries()) places.set(index, mayFrom + place);
  const bits = Buffer.alloc(mayFrom / 8 + Math.ceil(may.length / 8));
  let whole = 0;
  let end = 0;

  const set = (index: number, isThere: boolean) => {
    const place = places.get(index) ?? 0;
    const byte = place >> 3;
    const mask = 1 << (place & 7);
    bits[byte] = isThere ? (bits[byte] ?? 0) | mask : (bits[byte] ?? 0) & ~mask;
    if (place >= mayFrom) return;
    if (isThere) end = Math.max(end, byte + 1);
    else whole = Math.min(whole, byte);
  };

  return {
    add: (index) => set(index, true),
    delete: (index) => set(index, false),
    has(index) {
      const place = places.get(index) ?? 0;
      return ((bits[place >> 3] ?? 0) & (1 << (place & 7))) !== 0;
    },
    name() {
      while (bits[whole] === 0xff && whole < mayFrom / 8) whole += 1;
      while (end > whole && bits[end - 1] === 0) end -= 1;
      return `${whole} ${bits.toString('latin1', whole, end)} ${bits.toString('latin1', mayFrom / 8)}`;
    },
  };
}

function toCall(move: Move | undefined): number {
  return move?.operation.invoked ?? 0;
}
