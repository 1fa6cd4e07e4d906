import { describe, expect, it } from 'vitest';
import { Sha256 } from '../../../shared/runtime/sha256.ts';

describe("the signatures' SHA-256", () => {
  it('is the one of FIPS 180-2, appendix B.1', async () => {
    const hash = new Sha256();
    expect(await digest(hash, 'abc')).toMatch(/^ba7816bf8f01cfea.*f20015ad$/);
  });

  // https://www.rfc-editor.org/rfc/rfc4231#section-4
  it('is the HMAC of RFC 4231 with a secret of text', async () => {
    const hash = new Sha256('Jefe');
    expect(await digest(hash, 'what do ya want for nothing?')).toMatch(/^5bdcc146bf60754e.*3843$/);
  });

  const secret = Uint8Array.from({ length: 20 }, () => 0x0b);
  const within = Uint8Array.from([1, ...secret, 1]).subarray(1, -1);
  it.each([
    ['bytes', secret],
    ['bytes amid others', within],
    ['a buffer', secret.buffer],
  ])('is it with a secret of %s', async (_, secret) => {
    expect(await digest(new Sha256(secret), 'Hi There')).toMatch(/^b0344c61d8db3853.*cff7$/);
  });

  it('starts again, with its secret', async () => {
    const hash = new Sha256('Jefe');
    hash.update(Buffer.from('something else'));
    hash.reset();
    expect(await digest(hash, 'what do ya want for nothing?')).toMatch(/^5bdcc146/);
  });
});

async function digest(hash: Sha256, text: string): Promise<string> {
  hash.update(Buffer.from(text.slice(0, 2)));
  hash.update(Buffer.from(text.slice(2)));
  return Buffer.from(await hash.digest()).toString('hex');
}
