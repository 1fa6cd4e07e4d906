import { describe, expect, it } from 'vitest';
import { defineRoundedIds } from '../../../../infra/ops/data/checkFile.ts';
import { defineFingerprints } from '../../../../infra/ops/data/fingerprints.ts';

function countRounded(ids: readonly bigint[]): number {
  const rounded = defineRoundedIds();
  for (const id of ids) rounded.look(id);
  return rounded.count();
}

describe('an id looks rounded', () => {
  it.each([
    ...[9223372036854770000n, 9223372036854776000n, -9223372036854776000n, 1234567890123460000n],
    ...[12345678901234600n, 900719925474099300n],
  ])('%d', (id) => expect(countRounded([id])).toBe(1));

  it.each([
    ...[9223372036854775807n, 9223372036854775800n, 9007199254740990n, 1000000n, 0n],
    ...[-9223372036854775808n, 12345678901234567n],
  ])('but not %d', (id) => expect(countRounded([id])).toBe(0));

  it('if more of them do than do by chance', () => {
    const spread = (count: number, begin: bigint) =>
      Array.from({ length: count }, (_, n) => begin + BigInt(n) * 7_777_777_777_777n);
    for (const begin of [9_100_000_000_000_001n, 1_234_567_890_123_456_789n]) {
      const ids = spread(20_000, begin);
      expect(countRounded(ids)).toBe(0);
      const inSpreadsheet = ids.map((id) =>
        BigInt(
          Number(id)
            .toPrecision(15)
            .replace(/e.*/, '')
            .replace('.', '')
            .padEnd(id.toString().length, '0'),
        ),
      );
      expect(countRounded(inSpreadsheet)).toBeGreaterThan(19_000);
      expect(countRounded([9223372036854770000n, ...ids.slice(0, 2)])).toBe(1);
    }
  });
});

it('fingerprints find what was added, and what twice', () => {
  const fingerprints = defineFingerprints();
  for (let n = 0; n < 5_000; n += 1) fingerprints.add(`petId ${n}`);
  fingerprints.add('petId 7');
  fingerprints.add('petId 4999');
  fingerprints.sort();
  expect(fingerprints.repeated().size).toBe(2);
  expect(['petId 0', 'petId 7', 'petId 4999'].every(fingerprints.has)).toBe(true);
  expect(['petId 5000', 'petId -1', ''].some(fingerprints.has)).toBe(false);
});
