import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import type { Deprecation } from '../../../shared/client/index.ts';
import { toLifecycleHeaders } from '../../../shared/contract/operation.ts';
import { getPet } from '../../../shared/contract/operations/getPet.ts';
import { type StandIn, startStandIn, toError } from './standIn.ts';

const { since, sunset, guide } = getPet.lifecycle;
const documentation = `https://docs.petstore.example/${guide}`;
const headers = toLifecycleHeaders(getPet.lifecycle, 'https://docs.petstore.example');

let standIn: StandIn;
beforeAll(async () => {
  standIn = await startStandIn();
  standIn.answers = [{ headers, body: '{"id":7,"name":"Rex","status":"sold"}' }];
});
afterAll(() => standIn.close());

describe('a deprecated operation', () => {
  it('is warned of once for each client, with its sunset date', async () => {
    const warn = vi.spyOn(console, 'warn').mockReturnValue();
    for (const client of [standIn.open(), standIn.open()]) {
      warn.mockClear();
      await client.getPet(7n);
      await client.getPet(7n);
      expect(warn.mock.calls).toEqual([
        [
          `The pet store's operation getPet is deprecated, and may be gone after ${sunset.toISOString()}: see ${documentation}`,
        ],
      ]);
    }
    warn.mockRestore();
  });

  it('is told to onDeprecation, once each, also when the answer is an error', async () => {
    const told: Deprecation[] = [];
    const client = standIn.open({ onDeprecation: (deprecation) => told.push(deprecation) });
    const ok = standIn.answers;
    standIn.answers = [
      toError(404, 'not_found', { ...headers, Link: `</next>; rel="next", ${headers.Link}` }),
      { headers: { Deprecation: 'sometime' } },
      {},
    ];
    await client.getPet(7n).catch(() => {});
    await client.listOrders();
    await client.listInventory();
    expect(told).toEqual([
      { operationId: 'getPet', since, sunset, documentation },
      { operationId: 'listOrders', since: undefined, sunset: undefined, documentation: undefined },
    ]);
    standIn.answers = ok;
  });
});
