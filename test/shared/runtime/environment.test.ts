import { afterEach, expect, it, vi } from 'vitest';
import { readVariable } from '../../../shared/runtime/environment.ts';

afterEach(() => vi.unstubAllEnvs());

it('a variable that is set is read', () => {
  vi.stubEnv('PETS_TABLE', 'pets');
  expect(readVariable('PETS_TABLE')).toBe('pets');
});

it.each([undefined, ''])('a variable that is %j fails the start, and names itself', (value) => {
  vi.stubEnv('PETS_TABLE', value);
  expect(() => readVariable('PETS_TABLE')).toThrow(
    'The environment variable PETS_TABLE is not set.',
  );
});
