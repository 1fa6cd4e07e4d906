import { describe, expect, test } from 'vitest';
import { toJson } from '../../../shared/contract/json.ts';
import type { Operation } from '../../../shared/contract/operation.ts';
import { operationIds, operations } from '../../../shared/contract/operations.ts';
import type { ExactResponse } from '../../support/exactFetch.ts';
import { expectError, expectSuccess } from '../expectations.ts';
import { type ConformanceTarget, send, type TargetSource } from '../target.ts';

/** Each list with the path of another one, whose cursors it refuses. */
const lists = operationIds.flatMap((id) => {
  const { query = {}, path }: Operation = operations[id];
  const other = path === '/inventory' ? '/store/orders' : '/inventory';
  return 'cursor' in query ? [[id, path, other] as const] : [];
});

const badLimits = ['0', '1001', '-1', '1.5', '01', '1e2', 'all', '', '9007199254740993'];

export function describePages(target: TargetSource): void {
  const get = (path: string) => send(target(), 'GET', path);

  describe.each(lists)('%s in pages', (operationId, path, other) => {
    const refuse = async (query: string) =>
      expectError(await get(`${path}?${query}`), 'invalid_request', operationId);

    test.each([1, 3, 1_000])('of at most %i gives every element once, in order', async (limit) => {
      const whole = await readPages(target(), `${path}?limit=1000`, 1_000);
      expect(await readPages(target(), `${path}?limit=${limit}`, limit)).toEqual(whole);
      expect(new Set(whole.map(toJson)).size).toBe(whole.length);
      expect(whole.length).toBeGreaterThan(3);
    });

    test.each([`${path}/`, `/${path}`, `${path.replaceAll('/', '//')}//`])(
      'links the next page of %s',
      async (spelling) => {
        const whole = await readPages(target(), `${path}?limit=1000`, 1_000);
        expect(await readPages(target(), `${spelling}?limit=5`, 5)).toEqual(whole);
      },
    );

    test('links no page behind the last', async () => {
      const { headers } = await get(`${path}?limit=1000`);
      expect(headers.get('Link') ?? '').not.toContain('next');
    });

    test.each(badLimits)('refuses the limit %j', (limit) => refuse(`limit=${limit}`));

    test('refuses a cursor that is made up, changed, or of another list', async () => {
      const own = toCursor(await get(`${path}?limit=1`));
      const foreign = toCursor(await get(`${other}?limit=1`));
      expect([own, foreign]).not.toContain('');
      const made = Buffer.from('{"p":{"N":"1"}}').toString('base64url');
      for (const cursor of ['', '1', made, foreign, `${own}A`, own.slice(1), own.toLowerCase()]) {
        await refuse(`limit=1&cursor=${cursor}`);
      }
    });

    test('checks the key before the query', async () => {
      const response = await send(target(), 'GET', `${path}?limit=0`, { apiKey: null });
      expectError(response, 'unauthorized', operationId);
    });
  });

  describe('listInventory of one status', () => {
    test.each(['available', 'pending', 'sold'])(
      'lists what is %s, whole and in pages',
      async (status) => {
        const everything = (await get('/inventory')).json() as { status: string }[];
        const expected = everything.filter((entry) => entry.status === status);
        expect(expected).not.toEqual([]);
        const response = await get(`/inventory?status=${status}`);
        expectSuccess(response, 'listInventory');
        expect(response.json()).toEqual(expected);
        expect(await readPages(target(), `/inventory?status=${status}&limit=4`, 4)).toEqual(
          expected,
        );
      },
    );

    test.each(['Sold', 'lost', 'sold,pending'])('refuses the status %j', async (status) => {
      const response = await get(`/inventory?status=${status}`);
      expectError(response, 'invalid_request', 'listInventory');
    });
  });
}

async function readPages(target: ConformanceTarget, path: string, limit: number) {
  const elements: Record<string, unknown>[] = [];
  for (let next: string | undefined = path; next !== undefined; ) {
    const response: ExactResponse = await send(target, 'GET', next);
    expect(response.status).toBe(200);
    const page = response.json() as Record<string, unknown>[];
    expect(page.length).toBeLessThanOrEqual(limit);
    elements.push(...page);
    next = toNextPath(target, response);
  }
  return elements;
}

/** The link's target relative to the base URL, as a client resolves it. */
function toNextPath({ baseUrl }: ConformanceTarget, response: ExactResponse): string | undefined {
  const link = response.headers.get('Link') ?? '';
  const [, reference] = /<([^>]+)>; rel="next"/.exec(link) ?? [];
  if (reference === undefined) return undefined;
  const { href } = new URL(reference, baseUrl);
  expect(href.startsWith(`${baseUrl}/`)).toBe(true);
  return href.slice(baseUrl.length);
}

function toCursor({ headers }: ExactResponse): string {
  return /[?&]cursor=([^&>]+)/.exec(headers.get('Link') ?? '')?.[1] ?? '';
}
