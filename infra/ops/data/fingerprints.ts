import { hash } from 'node:crypto';

/** Eight bytes of a text's hash: two million of them take 16 MB, where a set of the texts takes 200 MB. */
export function toFingerprint(text: string): bigint {
  return hash('sha1', text, 'buffer').readBigUInt64LE();
}

/** A sorted list of fingerprints, without an object for each. */
export function defineFingerprints() {
  let values = new BigUint64Array(8_192);
  let length = 0;

  return {
    add(text: string): void {
      if (length === values.length) {
        // Not a resizable buffer: the garbage collector would count all that it reserves.
        const larger = new BigUint64Array(2 * length);
        larger.set(values);
        values = larger;
      }
      values[length] = toFingerprint(text);
      length += 1;
    },

    /** Sorts what was added; call it before the others. */
    sort(): void {
      values = values.subarray(0, length).sort();
    },

    /** Those of texts that were added twice, and hardly ever of two texts. */
    repeated(): Set<bigint> {
      const found = new Set<bigint>();
      for (let index = 1; index < length; index += 1) {
        const value = values[index] as bigint;
        if (value === values[index - 1]) found.add(value);
      }
      return found;
    },

    /** Whether a text was added. It is wrong once in billions of billions. */
    has(text: string): boolean {
      const wanted = toFingerprint(text);
      let [from, to] = [0, length];
      while (from < to) {
        const middle = (from + to) >>> 1;
        if ((values[middle] as bigint) < wanted) from = middle + 1;
        else to = middle;
      }
      return from < length && values[from] === wanted;
    },
  };
}
