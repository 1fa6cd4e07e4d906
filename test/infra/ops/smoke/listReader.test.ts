import { describe, expect, it } from 'vitest';
import { findMissing, toListedIds } from '../../../../infra/ops/smoke/lists/listedIds.ts';
import { ListProblem, readList } from '../../../../infra/ops/smoke/lists/listReader.ts';

const first = '{"petId":-9223372036854775808,"quantity":0,"status":"pending"}';
const second = '{"petId":9007199254740993,"quantity":2147483647,"status":"available"}';
const third = '{"petId":7,"quantity":12,"status":"sold"}';

function read(...chunks: string[]) {
  return readList(
    (async function* () {
      yield* chunks;
    })(),
  );
}

describe('a whole list', () => {
  it('is read however it comes in pieces, ids digit for digit', async () => {
    const text = `[${first},${second},${third}]`;
    for (let size = 1; size <= text.length; size += 1) {
      const chunks = text.match(new RegExp(`.{1,${size}}`, 'g')) ?? [];
      const ids = await read(...chunks);
      expect([...ids.inOrder]).toEqual([-9223372036854775808n, 9007199254740993n, 7n]);
    }
  });

  it('of many entries is read', async () => {
    const count = 5_000;
    const entries = Array.from({ length: count }, (_, index) => third.replace('7', `${index}`));
    expect((await read(`[${entries}]`)).length).toBe(count);
  });

  it('may be empty', async () => {
    expect((await read('[', ']')).length).toBe(0);
    expect((await read('[]')).length).toBe(0);
  });
});

describe('no whole list', () => {
  it.each([
    ['', 'ends behind 0 entries'],
    ['[', 'behind 0 entries, ['],
    [`[${first}`, 'behind 0 entries, {'],
    [`[${first},`, 'ends behind 1 entries without "]"'],
    [`[${first},]`, 'behind 1 entries, ]'],
    [`[${first}]]`, 'behind 1 entries, ]'],
    [`[,${first}]`, 'behind 0 entries, ,{'],
    [`[${first}${second}]`, 'behind 0 entries, {'],
    [`{"items":[${first}]}`, 'behind 0 entries, {"items"'],
    [`[${third.replace('7', '07')}]`, 'behind 0 entries, {"petId":07'],
    [`[${third.replace('7', '9223372036854775808')}]`, 'behind 0 entries, {"petId":9223'],
    [`[${third.replace('7', '7.0')}]`, 'behind 0 entries, {"petId":7.0'],
    [`[${third.replace('12', '2147483648')}]`, 'behind 0 entries, '],
    [`[${third.replace('12', '-1')}]`, 'behind 0 entries, '],
    [`[${third.replace('sold', 'lost')}]`, 'behind 0 entries, '],
    [`[${third.replace('}', ',"etag":"a"}')}]`, 'behind 0 entries, '],
  ])('is %j', async (text, problem) => {
    const reading = read(text);
    await expect(reading).rejects.toThrow(ListProblem);
    await expect(reading).rejects.toThrow(problem);
  });

  it('is given up at its first fault', async () => {
    let chunks = 0;
    async function* text() {
      for (chunks = 1; chunks < 100; chunks += 1) yield `${third},`;
    }
    await expect(readList(text())).rejects.toThrow(ListProblem);
    expect(chunks).toBeLessThan(10);
  });
});

describe('ids of two readings', () => {
  const toIds = (ids: bigint[], isComplete: boolean) =>
    toListedIds(BigInt64Array.from(ids), isComplete);

  it.each([
    [[1n, 2n, 3n], [1n, 2n, 3n], true, undefined],
    [[1n, 2n, 3n], [1n, 3n], true, 2n],
    [[1n, 2n, 3n], [1n, 2n], true, 3n],
    [[3n, 1n, 2n], [3n, 1n], false, undefined],
    [[3n, 1n, 2n], [3n, 2n], false, 1n],
    [[3n, 1n], [], false, undefined],
    [[], [1n], true, undefined],
  ])('%s, of which %s (complete: %s) lacks %s', (of, from, isComplete, missing) => {
    expect(findMissing(toIds(of, true), toIds(from, isComplete))).toBe(missing);
  });

  it('tell an id that comes twice', () => {
    expect(toIds([3n, -1n, 3n], true).findTwice()).toBe(3n);
    expect(toIds([3n, -1n, 2n], true).findTwice()).toBeUndefined();
  });
});
