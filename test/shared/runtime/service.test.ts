import { afterEach, expect, it, vi } from 'vitest';
import { openService } from '../../../shared/runtime/service.ts';

afterEach(() => vi.unstubAllEnvs());

it('lets in each of the origins that the stage lists, and links to its documentation', () => {
  vi.stubEnv('AWS_REGION', 'us-east-1');
  vi.stubEnv('API_KEYS_TABLE', 'keys');
  vi.stubEnv('ALLOWED_ORIGINS', 'https://one.example,https://other.example');
  vi.stubEnv('DOCUMENTATION_ADDRESS', 'https://docs.petstore.example');
  expect(openService().documentationAddress).toBe('https://docs.petstore.example');
  expect(openService().allowedOrigins).toEqual(['https://one.example', 'https://other.example']);
});
