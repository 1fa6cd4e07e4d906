import { describe, expect, it } from 'vitest';
import { readWholeList } from '../../../../infra/ops/smoke/inventoryChecks.ts';

const first = '{"petId":-9223372036854775808,"quantity":0,"status":"pending"}';
const second = '{"petId":9007199254740993,"quantity":2147483647,"status":"available"}';
const third = '{"petId":7,"quantity":12,"status":"sold"}';
const ids = ['-9223372036854775808', '9007199254740993', '7'];

/** @param coding of the response, such as `gzip` */
function read(chunks: Iterable<string>, petIds: readonly string[] = [], coding = 'gzip') {
  const headers = new Headers({ 'Content-Encoding': coding });
  const bytes = (async function* () {
    for (const chunk of chunks) yield Buffer.from(chunk);
  })();
  return readWholeList({ asked: 'GET /inventory', status: 200, headers }, bytes, petIds);
}

function* generate(entries: number) {
  for (let id = 0; id < entries; id += 1_000) {
    const page = Array.from({ length: 1_000 }, (_, index) => third.replace('7', `${id + index}`));
    yield `${id === 0 ? '[' : ','}${page}`;
  }
  yield ']';
}

describe('a whole list', () => {
  it('is read in whatever pieces it comes, ids digit for digit', async () => {
    const text = `[${first},${second},${third}]`;
    for (let size = 1; size <= text.length; size += 1) {
      const chunks = text.match(new RegExp(`.{1,${size}}`, 'g')) ?? [];
      expect(await read(chunks, ids)).toBe(3);
    }
  });

  it('may be empty', async () => {
    expect(await read(['[', ']'])).toBe(0);
    expect(await read(['[]'], [], '')).toBe(0);
  });

  it('of many entries is counted', async () => {
    expect(await read(generate(100_000), ['99999'])).toBe(100_000);
  });

  it('has the entries of the first page', async () => {
    await expect(read([`[${first},${third}]`], ids)).rejects.toThrow(
      'answered 200 without it (without a request id); expected the entry 9007199254740993',
    );
  });

  it('comes compressed where it is long', async () => {
    await expect(read(generate(1_000), [], 'identity')).rejects.toThrow(
      'expected Content-Encoding: gzip',
    );
  });

  it.each([
    ['[', 'after 0 entries, "["'],
    [`[${first}`, 'after 1 entries, ""'],
    [`[${first},]`, 'after 1 entries, ",]"'],
    [`[${first}]]`, 'after 1 entries, "]]"'],
    [`${first}`, 'after 0 entries, "{'],
    [`[${first}${second}]`, 'after 1 entries, "{'],
    [`[${first}[${second}]`, 'after 1 entries, "[{'],
    [`{"items":[${first}]}`, 'after 0 entries, "{"items"'],
    [`[${third.replace('7', '9223372036854775808')}]`, 'after 0 entries, "[{"petId":9223'],
    [`[${third.replace('7', '"7"')}]`, 'after 0 entries, "[{"petId":"7"'],
    [`[${third.replace('12', '2147483648')}]`, 'after 0 entries'],
    [`[${third.replace('12', '-1')}]`, 'after 0 entries'],
    [`[${third.replace('sold', 'lost')}]`, 'after 0 entries'],
    [`[${third.replace('7', '07')}]`, 'after 0 entries, "[{"petId":07'],
    [`[,${first}]`, 'after 0 entries, "[,{'],
    [`[${third.replace('}', ',"etag":"a"}')}]`, 'after 0 entries'],
  ])('is not %j', async (text, problem) => {
    await expect(read([text])).rejects.toThrow(problem);
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
