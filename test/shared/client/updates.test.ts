import { describe, expect, it, vi } from 'vitest';
import { onFastClock } from '../../support/faults/fastClock.ts';
import { lost, type StandInResponse, silent, toError, useStandIn } from './standIn.ts';

const standIn = useStandIn();

const body = '{"petId":7,"quantity":3,"status":"sold"}';
const written = { headers: { ETag: '"c"' }, body };
const toList = (quantity: number, etag: string) => ({
  body: `[{"petId":7,"quantity":${quantity},"status":"sold","etag":"\\"${etag}\\""}]`,
});
const conflict = toError(412, 'precondition_failed');

/** The requests, without the keys of the updates. */
const sent = () =>
  standIn.requests.map(({ method, url, headers, body }) =>
    [method, url, headers['if-match'], body].join(' ').trim(),
  );
const keys = () => standIn.requests.map(({ headers }) => headers['idempotency-key']);

const unsure = [
  ['503', toError(503, 'service_unavailable')],
  ['a lost connection', lost],
  ['a timeout', silent],
] as const;

describe('an update', () => {
  it.each(unsure)(
    'with If-Match is retried after %s, with one key for all attempts',
    async (_, failure) => {
      standIn.responses = [failure, failure, written, failure, written];
      const client = standIn.open({ timeout: 2_000 });
      const update = () => client.updateInventory(7n, { quantity: 5 }, { ifMatch: '"a"' });
      await onFastClock(async () => [await update(), await update()]);
      expect(sent()).toEqual(Array(5).fill('PATCH /v1/inventory/7 "a" {"quantity":5}'));
      const [first, , , fourth] = keys();
      expect(first).toMatch(/^[0-9a-f]{32}$/);
      expect(fourth).not.toBe(first);
      expect(keys()).toEqual([first, first, first, fourth, fourth]);
    },
  );

  it('is sent with the caller’s key, if there is one', async () => {
    standIn.responses = [lost, written];
    const keyed = { ifMatch: '"a"', idempotencyKey: 'mine' };
    await standIn.open().updateInventory(7n, { quantity: 5 }, keyed);
    expect(keys()).toEqual(['mine', 'mine']);
  });

  it.each([
    ...unsure.map(([name, failure]) => [name, failure, undefined, 1] as const),
    // Without any effect.
    ['429', toError(429, 'too_many_requests'), undefined, 2],
    ['412', conflict, '"a"', 1],
  ] as const)('after %s is sent as often as is safe, with and without If-Match', async (...row) => {
    const [, failure, ifMatch, count] = row;
    standIn.responses = [failure, written];
    const client = standIn.open({ timeout: 2_000 });
    const update = () => client.updateInventory(7n, { quantity: 5 }, { ifMatch });
    const updated = await onFastClock(update).catch(() => 0);
    const entry = { petId: 7n, quantity: 3, status: 'sold', etag: '"c"' };
    expect(updated).toEqual(count === 2 ? entry : 0);
    expect(standIn.requests).toHaveLength(count);
    if (!ifMatch) expect(keys()).toEqual(Array(count).fill(undefined));
  });

  it('without a tag in its response fails, since no safe update could follow it', async () => {
    standIn.responses = [{ body }];
    const call = standIn.open().updateInventory(7n, { quantity: 5 });
    const message = 'The response is not a valid updateInventory response.';
    await expect(call).rejects.toMatchObject({ code: 'invalid_answer', message });
  });

  it.each([0, 2_147_483_647])('may set a count of %i', async (quantity) => {
    standIn.responses = [written];
    await standIn.open().updateInventory(7n, { quantity });
    expect(sent()).toEqual([`PATCH /v1/inventory/7  {"quantity":${quantity}}`]);
  });
});

/** Milliseconds. */
const SLOW = 1_000;
const slowConflict: StandInResponse = (response) =>
  void setTimeout(() => response.writeHead(412).end(conflict.body), SLOW);

describe('updateStock', () => {
  it('starts over after 412 and a pause, with the current entry and another key', async () => {
    vi.spyOn(Math, 'random').mockReturnValue(1);
    standIn.responses = [toList(5, 'a'), slowConflict, toList(4, 'b'), written];
    const seen: unknown[] = [];
    const sell = () =>
      standIn.open().updateStock(7n, async (entry) => {
        seen.push(entry);
        return entry.quantity - 1;
      });
    const updated = await onFastClock(sell);
    expect(seen).toEqual([
      { petId: 7n, quantity: 5, status: 'sold', etag: '"a"' },
      { petId: 7n, quantity: 4, status: 'sold', etag: '"b"' },
    ]);
    expect(updated).toEqual({ petId: 7n, quantity: 3, status: 'sold', etag: '"c"' });
    expect(sent()).toEqual([
      'GET /v1/inventory?petId=7&include=etag',
      'PATCH /v1/inventory/7 "a" {"quantity":4}',
      'GET /v1/inventory?petId=7&include=etag',
      'PATCH /v1/inventory/7 "b" {"quantity":3}',
    ]);
    expect(keys()[1]).not.toBe(keys()[3]);
    const [, refused = 0, anew = 0] = standIn.requests.map(({ time }) => time);
    expect(anew - refused).toBeGreaterThanOrEqual(SLOW + 2 * SLOW - 2);
  });

  const reason = new Error('sold out');
  const abortion = new AbortController();

  it.each<[string, () => number, unknown]>([
    ['throws', () => Promise.reject(reason) as never, reason],
    ['returns no valid quantity', () => -1, expect.objectContaining({ code: 'invalid_request' })],
    ['aborts the call', () => abortion.abort(reason) ?? 4, reason],
  ])('writes nothing when change %s', async (_, change, expected) => {
    standIn.responses = [toList(5, 'a')];
    const call = standIn.open().updateStock(7n, change, { signal: abortion.signal });
    expect(await call.catch((cause) => cause)).toEqual(expected);
    expect(standIn.requests.map(({ method }) => method)).toEqual(['GET']);
  });

  it('gives up after its timeout, and names conflicts as the reason', async () => {
    vi.spyOn(Math, 'random').mockReturnValue(1);
    standIn.responses = [toList(5, 'a'), slowConflict];
    const update = () => standIn.open().updateStock(7n, () => 1, { totalTimeout: 2.5 * SLOW });
    const failure = { code: 'precondition_failed', status: 412 };
    await expect(onFastClock(update)).rejects.toMatchObject(failure);
    expect(standIn.requests).toHaveLength(2);
  });

  it.each([
    ['another error', [toList(5, 'a'), toError(403, 'forbidden')], 'forbidden'],
    ['no entry', [{ body: '[]' }], 'not_found', 'There is no inventory entry with petId 7.'],
    ['an entry without a tag', [{ body: `[${body}]` }], 'invalid_answer'],
  ])('does not start over after %s', async (_, responses, code, message = expect.any(String)) => {
    standIn.responses = [...responses];
    const updating = standIn.open().updateStock(7n, () => 1);
    await expect(updating).rejects.toMatchObject({ code, message });
    expect(standIn.requests).toHaveLength(responses.length);
  });
});
