import { describe, expect, it } from 'vitest';
import { readWholeList } from '../../../../infra/ops/smoke/inventoryChecks.ts';

const first = '{"petId":-9223372036854775808,"quantity":0,"status":"pending"}';
const second = '{"petId":9007199254740993,"quantity":2147483647,"status":"available"}';
const third = '{"petId":7,"quantity":12,"status":"sold"}';
const whole = `[${first},${second},${third}]`;
const ids = ['-9223372036854775808', '9007199254740993', '7'];

/** @param coding of the response, such as `gzip` */
function read(chunks: Iterable<string>, petIds: readonly string[] = [], coding = 'gzip') {
  const headers = new Headers({ 'Content-Encoding': coding });
  const bytes = (async function* () {
    for (const chunk of chunks) yield Buffer.from(chunk);
  })();
  return readWholeList({ asked: 'GET /inventory', status: 200, headers }, bytes, petIds);
}

const many = (entries: number) => `[${Array(entries).fill(third)}]`;

describe('a whole list', () => {
  it('is read in whatever pieces it comes, ids digit for digit', async () => {
    for (let size = 1; size <= whole.length; size += 1) {
      expect(await read(whole.match(new RegExp(`.{1,${size}}`, 'g')) ?? [], ids)).toBe(3);
    }
  });

  it('may be empty, and need not be compressed where it is short', async () => {
    expect(await read(['[', ']'])).toBe(0);
    expect(await read([many(49)], [], '')).toBe(49);
    expect(await read([many(50)], ['7'])).toBe(50);
  });

  it.each([
    [`[${first},${third}]`, 'without it (without a request id); expected the entry 90071992547409'],
    [many(50), 'expected Content-Encoding: gzip'],
    ['[', 'after 0 entries, "["'],
    [`[${first}`, 'after 1 entries, ""'],
    [`[${first},]`, 'after 1 entries, ",]"'],
    [`[${first}]]`, 'after 1 entries, "]]"'],
    [`${first}`, 'after 0 entries, "{'],
    [`[${first}${second}]`, 'after 1 entries, "{'],
    [`[${first}[${second}]`, 'after 1 entries, "[{'],
    [`{"items":[${first}]}`, 'after 0 entries, "{"items"'],
    [`[,${first}]`, 'after 0 entries, "[,{'],
    [`[${third.replace('7', '9223372036854775808')}]`, 'after 0 entries, "[{"petId":9223'],
    ...[
      ['7', '"7"'],
      ['7', '07'],
      ['12', '2147483648'],
      ['12', '-1'],
      ['sold', 'lost'],
      ['}', ',"etag":"a"}'],
    ].map(([from = '', to = '']) => [`[${third.replace(from, to)}]`, 'after 0 entries']),
  ])('is not %j', async (text = '', problem = '') => {
    const coding = text === many(50) ? 'identity' : 'gzip';
    const known = text.includes(first) && text.includes(third) ? ids : [];
    await expect(read([text], known, coding)).rejects.toThrow(problem);
  });

  it('is given up at its first error', async () => {
    let chunks = 0;
    function* generateWrong() {
      for (chunks = 1; chunks < 100; chunks += 1) yield third;
    }
    await expect(read(generateWrong())).rejects.toThrow('expected a whole list');
    expect(chunks).toBeLessThan(10);
  });
});
