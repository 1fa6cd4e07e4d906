import { expect, it } from 'vitest';
import { Sha256 } from '../../../shared/runtime/sdk/sha256.ts';

it('SHA-256 is the one of FIPS 180-2, appendix B.1', async () => {
  expect(await digest(new Sha256(), 'abc')).toMatch(/^ba7816bf8f01cfea.*f20015ad$/);
});

// https://www.rfc-editor.org/rfc/rfc4231#section-4
const bytes = Uint8Array.from({ length: 20 }, () => 0x0b);
it.each([
  ['text', 'Jefe', 'what do ya want for nothing?', /^5bdcc146bf60754e.*3843$/],
  ['bytes', bytes, 'Hi There', /^b0344c61d8db3853.*cff7$/],
  ['bytes amid others', Uint8Array.from([1, ...bytes, 1]).subarray(1, -1), 'Hi There', /^b0344c61/],
  ['a buffer', bytes.buffer, 'Hi There', /^b0344c61/],
])('with a secret of %s it is the HMAC of RFC 4231, also after a reset', async (...row) => {
  const [, secret, text, expected] = row;
  const hash = new Sha256(secret);
  expect(await digest(hash, text)).toMatch(expected);
  hash.reset();
  expect(await digest(hash, text)).toMatch(expected);
});

async function digest(hash: Sha256, text: string): Promise<string> {
  hash.update(Buffer.from(text.slice(0, 2)));
  hash.update(Buffer.from(text.slice(2)));
  return Buffer.from(await hash.digest()).toString('hex');
}
