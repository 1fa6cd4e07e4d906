import type { Operation } from '../operation.ts';
import { defineIdParameter } from '../parameters.ts';

export const getPet = {
  operationId: 'getPet',
  method: 'GET',
  path: '/pets/{petId}',
  summary: 'Get one pet',
  lifecycle: {
    kind: 'deprecated',
    since: new Date('2026-12-01T00:00:00Z'),
    sunset: new Date('2027-12-01T00:00:00Z'),
    guide: 'deprecations.html#getPet',
  },
  permission: 'read',
  parameters: { petId: defineIdParameter('petId', 'pet') },
  streamed: false,
  errors: ['invalid_request', 'unauthorized', 'not_found'],
} as const satisfies Operation;
