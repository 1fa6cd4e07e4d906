import { describe, expect, test } from 'vitest';
import { readCommittedTraffic } from '../../../infra/costs/change/committedTraffic.ts';
import { findCostChanges } from '../../../infra/costs/change/costChanges.ts';
import type { AnswerUnits } from '../../../infra/costs/units/answerUnits.ts';
import { readRecordedUnits } from '../../../infra/costs/units/recordedUnits.ts';

const recorded = readRecordedUnits();
const traffic = {
  entries: 1_000,
  shares: [{ operationId: 'getPet', answer: '200', requests: 2_000_000 }],
} as const;

/** What is said once the units of some answers are others. */
function change(
  isMeant: (units: AnswerUnits) => boolean,
  changed: (units: AnswerUnits) => Partial<AnswerUnits>,
): string[] {
  const after = recorded.map((units) => (isMeant(units) ? { ...units, ...changed(units) } : units));
  return findCostChanges(recorded, after, traffic);
}

const isPet = ({ operationId, answer }: AnswerUnits) =>
  operationId === 'getPet' && answer === '200';

describe('a change of what a request costs', () => {
  test('is none while nothing has changed', () => {
    expect(change(isPet, () => ({}))).toEqual([]);
  });

  test('is told by the million and by the month of the committed traffic, with its reason', () => {
    expect(change(isPet, ({ readUnits }) => ({ readUnits: readUnits + 1 }))).toEqual([
      'A month of 2,000,000 requests costs $0.25 more: $9.06 → $9.31.',
      'getPet 200 got dearer by $0.1250 per million requests, $0.25 a month at 2,000,000 requests (read units 0.5 → 1.5).',
    ]);
  });

  test('is told of a longer log line, and of more memory', () => {
    const changed = change(isPet, ({ logBytes }) => ({
      memoryMegabytes: 1_024,
      logBytes: { ...logBytes, request: logBytes.request + 200 },
    }));
    expect(changed).toEqual([
      expect.stringMatching(/costs \$0\.32 more/),
      expect.stringMatching(
        /^getPet 200 got dearer by \$0\.1598 per .* \(MB × ms of Lambda 512 × 10 → 1024 × 10; bytes logged \d+ → \d+\)\.$/,
      ),
    ]);
  });

  test('is told when it is for the better', () => {
    expect(change(isPet, () => ({ responseBytes: 10 })).join()).toContain('got cheaper by $0.06');
  });

  test('is told of answers without committed traffic too, the dearest first', () => {
    const changed = change(
      ({ answer }) => answer === '401',
      ({ responseBytes }) => ({ responseBytes: responseBytes * 2 }),
    );
    expect(changed).toHaveLength(4);
    expect(changed[0]).toMatch(/^getPet 401 got dearer by \$0\.0\d+ per million requests \(bytes/);
  });

  test('is told of answers that came and went', () => {
    const [first, ...others] = recorded as [AnswerUnits, ...AnswerUnits[]];
    expect(findCostChanges(others, recorded, traffic)).toEqual([
      'listInventory 200 of 1,000 entries is new.',
    ]);
    expect(findCostChanges([first], [], traffic)).toEqual([
      'listInventory 200 of 1,000 entries is no longer there.',
    ]);
  });
});

test('the committed traffic names answers that there are', () => {
  const { entries, shares } = readCommittedTraffic();
  expect(entries).toBeGreaterThan(0);
  expect(shares.length).toBeGreaterThan(4);
});
