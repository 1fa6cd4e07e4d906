import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { getPet } from '../../../shared/contract/operations/getPet.ts';
import { defineHandler } from '../../../shared/http/defineHandler.ts';
import { mintApiKey, parseApiKey } from '../../../shared/keys/apiKey.ts';
import { anyCharacter } from '../../support/anyCharacter.ts';
import { apiKey, call, settings } from './callHandler.ts';

let answered = 0;
const handler = defineHandler(getPet, settings, async () => {
  answered++;
  return { body: {} };
});

const callWith = (lines: string[]) => call(handler, { headers: { Authorization: lines } });

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
    // The runner takes longer over a line of the log, or a stack, than the service over a request.
    console.info = () => {};
    Error.stackTraceLimit = 0;
  });
  afterAll(() => {
    console.info = info;
    Error.stackTraceLimit = stackTraceLimit;
  });

  it('lets in the exact key and answers 401 to 10,000 values of any other kind', async () => {
    const seen = { 200: 0, 401: 0 };
    await fc.assert(
      fc.asyncProperty(lines, async (values) => {
        const { statusCode } = await callWith(values);
        // As `expect` would, which takes as long as the request.
        if (statusCode !== (isTheKey(values) ? 200 : 401)) expect.fail(`answered ${statusCode}`);
        seen[statusCode as 200 | 401]++;
      }),
      { numRuns: 10_000 },
    );
    // The values were of both kinds, so that neither half passed for want of trying.
    expect(seen[200]).toBeGreaterThan(100);
    expect(seen[401]).toBeGreaterThan(1_000);
    expect(answered).toBe(seen[200]);
  });

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
    const { statusCode, headers } = await callWith(values);
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
    expect((await callWith([`Bearer   ${apiKey}`])).statusCode).toBe(200);
  });

  it('is never repeated to the client', async () => {
    const impostor = mintApiKey(parseApiKey(apiKey)?.keyId).apiKey;
    for (const value of [`Bearer ${impostor}`, `Basic ${impostor}`, impostor]) {
      const { body, headers } = await callWith([value]);
      expect(JSON.stringify({ body, headers })).not.toContain(impostor);
    }
  });
});
