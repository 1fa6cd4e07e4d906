import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { getPet } from '../../../shared/contract/operations/getPet.ts';
import { defineHandler } from '../../../shared/http/defineHandler.ts';
import type { HttpResponse } from '../../../shared/http/operationRequest.ts';
import { mintApiKey, parseApiKey } from '../../../shared/keys/apiKey.ts';
import { defineKeyVerifier } from '../../../shared/keys/keyVerifier.ts';
import { anyCharacter } from '../../support/anyCharacter.ts';
import { toProxyRequest } from '../../support/proxyRequest.ts';

const { apiKey, keyId, secretHash } = mintApiKey();
const record = {
  keyId,
  secretHash,
  name: 'fuzzed',
  permission: 'read',
  createdAt: '2026-12-01T00:00:00Z',
} as const;

let answered: number;
const handler = defineHandler(
  getPet,
  {
    verifier: defineKeyVerifier({ get: async (id) => (id === keyId ? record : undefined) }),
    allowedOrigins: ['*'],
    documentationAddress: '',
  },
  async () => {
    answered++;
    return { body: {} };
  },
);

async function call(lines: string[]): Promise<HttpResponse> {
  const event = toProxyRequest({ Authorization: lines }, { petId: '1' });
  return (await handler(event as never, {} as never)) as HttpResponse;
}

/** Exactly one credential, of the bearer scheme in any case, and it is the key. */
function isTheKey(lines: string[]): boolean {
  const [line = ''] = lines;
  return lines.length === 1 && /^bearer +/i.test(line) && line.replace(/^bearer +/i, '') === apiKey;
}

const scheme = fc.oneof(
  { weight: 4, arbitrary: fc.mixedCase(fc.constant('bearer')) },
  { weight: 1, arbitrary: fc.constantFrom('Basic', 'Digest', 'Bearer:', 'Bear', '', 'Token') },
);
const gap = fc.constantFrom(' ', ' ', ' ', '  ', '\t', '', ' \t', ',', '\u00a0', '%20');
const credential = fc.oneof(
  { weight: 3, arbitrary: fc.constant(apiKey) },
  { weight: 1, arbitrary: fc.stringMatching(/^psk_[0-9A-Za-z]{42}$/) },
  {
    weight: 1,
    arbitrary: fc.constantFrom(apiKey.toLowerCase(), apiKey.slice(0, -1), `${apiKey}0`),
  },
  { weight: 1, arbitrary: fc.constantFrom(`${apiKey},${apiKey}`, `"${apiKey}"`, `key=${apiKey}`) },
  { weight: 1, arbitrary: fc.string({ unit: anyCharacter }) },
  { weight: 1, arbitrary: fc.constant('a'.repeat(8_192)) },
);
const tail = fc.oneof(
  { weight: 6, arbitrary: fc.constant('') },
  { weight: 1, arbitrary: fc.constantFrom(' ', '\t', '\n', '\0', ' x', `, Bearer ${apiKey}`) },
);
const line = fc.tuple(scheme, gap, credential, tail).map((parts) => parts.join(''));
const lines = fc.oneof(
  { weight: 8, arbitrary: fc.tuple(line) },
  { weight: 1, arbitrary: fc.array(line, { maxLength: 3 }) },
  {
    weight: 1,
    arbitrary: fc.array(fc.string({ unit: anyCharacter, maxLength: 60 }), { maxLength: 2 }),
  },
);

describe('the Authorization header', () => {
  const { info } = console;
  const { stackTraceLimit } = Error;
  beforeAll(() => {
    answered = 0;
    // The runner takes longer over a line of the log, or a stack, than the service over a request.
    console.info = () => {};
    Error.stackTraceLimit = 0;
  });
  afterAll(() => {
    console.info = info;
    Error.stackTraceLimit = stackTraceLimit;
  });

  it('lets in the exact key and answers 401 to 100,000 values of any other kind', async () => {
    const seen = { 200: 0, 401: 0 };
    await fc.assert(
      fc.asyncProperty(lines, async (values) => {
        const { statusCode } = await call(values);
        // As `expect` would, which takes as long as the request.
        if (statusCode !== (isTheKey(values) ? 200 : 401)) expect.fail(`answered ${statusCode}`);
        seen[statusCode as 200 | 401]++;
      }),
      { numRuns: 100_000 },
    );
    // The values were of both kinds, so that neither half passed for want of trying.
    expect(seen[200]).toBeGreaterThan(1_000);
    expect(seen[401]).toBeGreaterThan(10_000);
    expect(answered).toBe(seen[200]);
  }, 120_000);

  it.each([
    [
      'two lines, the first of them good',
      [`Bearer ${apiKey}`, 'Bearer x'],
      'several Authorization headers',
    ],
    ['something before the scheme', [`xBearer ${apiKey}`], 'no bearer credentials'],
    ['another line in the same header', [`Bearer ${apiKey}\nx`], 'no bearer credentials'],
    ['no key behind the scheme', ['Bearer  '], 'no bearer credentials'],
  ])('is refused with %s', async (_, values, refused) => {
    const log = vi.spyOn(console, 'info').mockImplementation(() => {});
    const { statusCode, headers } = await call(values);
    expect(statusCode).toBe(401);
    expect(headers['WWW-Authenticate']).toBe(
      refused.startsWith('no')
        ? 'Bearer realm="petstore"'
        : 'Bearer realm="petstore", error="invalid_token"',
    );
    expect(log).toHaveBeenCalledExactlyOnceWith(expect.objectContaining({ refused }));
    log.mockRestore();
  });

  it('may have more than one space behind its scheme', async () => {
    expect((await call([`Bearer   ${apiKey}`])).statusCode).toBe(200);
  });

  it('is never repeated to the client', async () => {
    const impostor = mintApiKey(parseApiKey(apiKey)?.keyId).apiKey;
    for (const value of [`Bearer ${impostor}`, `Basic ${impostor}`, impostor]) {
      const { body, headers } = await call([value]);
      expect(JSON.stringify({ body, headers })).not.toContain(impostor);
    }
  });
});
