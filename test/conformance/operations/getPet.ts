import { describe, expect, test } from 'vitest';
import { parseJson, toJson } from '../../../shared/contract/json.ts';
import { responses } from '../../../shared/contract/operations.ts';
import { expectSuccess } from '../expectations.ts';
import { send, type TargetSource } from '../target.ts';
import { type OperationSuite, withoutKey } from './operationSuite.ts';

export const getPet: OperationSuite = {
  toValidRequest: ({ fixtures }) => ({ method: 'GET', path: `/pets/${fixtures.pets[0]?.id}` }),
  access: { pets: ['dynamodb:GetItem'] },
  examples: {
    cat: { summary: 'A cat', path: '/pets/11' },
    badId: { summary: 'An id that is not a number', path: '/pets/abc', code: 'invalid_request' },
    ...withoutKey({ path: '/pets/11' }),
    unknownId: { summary: 'An id that no pet has', path: '/pets/999999', code: 'not_found' },
  },
  listRequests({ available: [id], petOfSample }) {
    const pet = { path: `/pets/${petOfSample}`, milliseconds: 10 };
    return [
      { ...pet, response: '200', request: 'one id' },
      { ...pet, response: '200 long', request: 'one id of 19 digits', path: `/pets/${id}` },
    ];
  },
  callClient: (client, { pets }) => client.getPet(pets[0]?.id ?? 0n),
  describeRows,
};

function describeRows(target: TargetSource): void {
  describe('getPet', () => {
    const get = (petId: unknown) => send(target(), 'GET', `/pets/${petId}`);

    test('returns 200 with each Pet as it was loaded, ids digit for digit', async () => {
      for (const pet of target().fixtures.pets) {
        const response = await get(pet.id);
        expectSuccess(response, 'getPet');
        expect(responses.getPet.safeParse(response.json()).error).toBeUndefined();
        expect(response.json()).toStrictEqual(parseJson(toJson(pet)));
        expect(response.text).toMatch(new RegExp(`"id":\\s*${pet.id}[,}\\s]`));
      }
    });

    test('reads a percent-encoded petId as what it stands for', async () => {
      const pet = target().fixtures.pets[0];
      const response = await get(Buffer.from(`${pet?.id}`).toString('hex').replace(/../g, '%$&'));
      expectSuccess(response, 'getPet');
      expect(response.json()).toStrictEqual(parseJson(toJson(pet)));
    });
  });
}
