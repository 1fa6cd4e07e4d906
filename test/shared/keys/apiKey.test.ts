import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { matchesSecretHash, mintApiKey, parseApiKey } from '../../../shared/keys/apiKey.ts';

describe('an API key', () => {
  it('is one word of letters and digits that a secret scanner recognizes', () => {
    for (let count = 0; count < 1_000; count++) {
      expect(mintApiKey().apiKey).toMatch(/^psk_[0-9A-Za-z]{42}$/);
    }
  });

  it('comes apart into its key id and the secret of its hash', () => {
    const { apiKey, keyId, secretHash } = mintApiKey();
    const parsed = parseApiKey(apiKey);
    expect(parsed?.keyId).toBe(keyId);
    expect(matchesSecretHash(parsed?.secret ?? '', secretHash)).toBe(true);
  });

  it('keeps a key id that it is given', () => {
    const { apiKey, keyId } = mintApiKey('local00000');
    expect(keyId).toBe('local00000');
    expect(parseApiKey(apiKey)?.keyId).toBe('local00000');
  });

  it('is refused with any one character changed', () => {
    const { apiKey } = mintApiKey();
    for (let place = 0; place < apiKey.length; place++) {
      const other = apiKey[place] === 'a' ? 'b' : 'a';
      expect(parseApiKey(apiKey.slice(0, place) + other + apiKey.slice(place + 1))).toBeUndefined();
    }
  });

  it('is not any text of the right shape', () => {
    fc.assert(
      fc.property(fc.stringMatching(/^psk_[0-9A-Za-z]{42}$/), (text) => !parseApiKey(text)),
    );
  });

  it('never repeats', () => {
    const keys = new Set(Array.from({ length: 1_000 }, () => mintApiKey().apiKey));
    expect(keys.size).toBe(1_000);
  });
});

describe('a secret hash', () => {
  it('matches no other secret, and nothing when it is damaged', () => {
    const { secretHash } = mintApiKey();
    expect(matchesSecretHash('A'.repeat(26), secretHash)).toBe(false);
    expect(matchesSecretHash('A'.repeat(26), '')).toBe(false);
    expect(matchesSecretHash('A'.repeat(26), 'short')).toBe(false);
  });
});
