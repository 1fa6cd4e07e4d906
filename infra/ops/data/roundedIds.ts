/** How many more ids must look rounded than would by chance. */
const FACTOR = 3;

/**
 * Finds ids that a spreadsheet or a JSON parser has rounded, such as 9223372036854770000. Both hold numbers as doubles,
 * which keep 15 to 17 digits; zeros take the place of the others. Some right ids look so too. Counts how many of the
 * ids would by chance, to report only what is more.
 */
export function defineRoundedIds() {
  let suspects = 0;
  let expected = 0;
  return {
    /** @returns whether the id looks rounded */
    look(id: bigint): boolean {
      const number = Math.abs(Number(id));
      if (number <= Number.MAX_SAFE_INTEGER) return false;
      // The share of such ids that a double holds, of which at most a tenth end in a zero.
      expected += Math.min(0.1, 2 ** 52 / number);
      const text = id.toString();
      const isRounded = text.endsWith('0') && String(Number(id)) === text;
      if (isRounded) suspects += 1;
      return isRounded;
    },
    /** How many ids are reported. */
    count: () => (suspects > FACTOR * expected ? suspects : 0),
  };
}
