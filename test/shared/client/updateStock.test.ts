import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import { type StandIn, type StandInAnswer, startStandIn, toError } from './standIn.ts';

let standIn: StandIn;
beforeAll(async () => {
  standIn = await startStandIn();
});
afterAll(() => standIn.close());
beforeEach(() => {
  standIn.requests.length = 0;
  vi.spyOn(Math, 'random').mockReturnValue(0);
});
afterEach(() => vi.restoreAllMocks());

const toList = (quantity: number, etag: string) => ({
  body: `[{"petId":7,"quantity":${quantity},"status":"sold","etag":"\\"${etag}\\""}]`,
});
const conflict = toError(412, 'precondition_failed');
/** Milliseconds. */
const SLOW = 40;
const slowConflict: StandInAnswer = (response) =>
  void setTimeout(() => response.writeHead(412).end(conflict.body), SLOW);
const written = { headers: { ETag: '"c"' }, body: '{"petId":7,"quantity":3,"status":"sold"}' };

describe('updateStock', () => {
  it('begins anew after 412 and a pause, with what the entry is by then and another key', async () => {
    vi.spyOn(Math, 'random').mockReturnValue(1);
    standIn.answers = [toList(5, 'a'), slowConflict, toList(4, 'b'), written];
    const seen: unknown[] = [];
    const updated = await standIn.open().updateStock(7n, async (entry) => {
      seen.push(entry);
      return entry.quantity - 1;
    });
    expect(seen).toEqual([
      { petId: 7n, quantity: 5, status: 'sold', etag: '"a"' },
      { petId: 7n, quantity: 4, status: 'sold', etag: '"b"' },
    ]);
    expect(updated).toEqual({ petId: 7n, quantity: 3, status: 'sold', etag: '"c"' });
    expect(
      standIn.requests.map(({ url, headers, body }) => `${url} ${headers['if-match']} ${body}`),
    ).toEqual([
      '/v1/inventory?petId=7&include=etag undefined ',
      '/v1/inventory/7 "a" {"quantity":4}',
      '/v1/inventory?petId=7&include=etag undefined ',
      '/v1/inventory/7 "b" {"quantity":3}',
    ]);
    const [, first, , second] = standIn.requests.map(({ headers }) => headers['idempotency-key']);
    expect(first).not.toBe(second);
    const [, refused = 0, anew = 0] = standIn.requests.map(({ time }) => time);
    expect(anew - refused).toBeGreaterThanOrEqual(SLOW + 2 * SLOW - 2);
  });

  it('writes nothing when change throws, or gives what is no quantity', async () => {
    standIn.answers = [toList(0, 'a')];
    const client = standIn.open();
    const soldOut = new Error('sold out');
    const refuse = () => {
      throw soldOut;
    };
    await expect(client.updateStock(7n, refuse)).rejects.toBe(soldOut);
    const less = client.updateStock(7n, ({ quantity }) => quantity - 1);
    await expect(less).rejects.toMatchObject({ code: 'invalid_request', status: undefined });
    expect(standIn.requests.map(({ method }) => method)).toEqual(['GET', 'GET']);
  });

  it('gives up when its time is over, and says that it was for conflicts', async () => {
    vi.spyOn(Math, 'random').mockReturnValue(1);
    standIn.answers = [toList(5, 'a'), slowConflict];
    const call = standIn.open().updateStock(7n, () => 1, { totalTimeout: 100 });
    await expect(call).rejects.toMatchObject({ code: 'precondition_failed', status: 412 });
    expect(standIn.requests).toHaveLength(2);
  });

  it('does not begin anew after any other error', async () => {
    standIn.answers = [toList(5, 'a'), toError(403, 'forbidden')];
    await expect(standIn.open().updateStock(7n, () => 1)).rejects.toMatchObject({
      code: 'forbidden',
    });
    expect(standIn.requests).toHaveLength(2);
  });

  it.each([
    ['there is no entry', '[]', 'not_found'],
    ['the entry has no tag', '[{"petId":7,"quantity":5,"status":"sold"}]', 'invalid_answer'],
  ])('writes nothing when %s', async (_, body, code) => {
    standIn.answers = [{ body }];
    await expect(standIn.open().updateStock(7n, () => 1)).rejects.toMatchObject({ code });
    expect(standIn.requests).toHaveLength(1);
  });
});
