import fc from 'fast-check';
import { afterAll, beforeAll, expect, it, vi } from 'vitest';
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

const text = fc.string({ unit: anyCharacter, maxLength: 60 });
const bearer = fc.mixedCase(fc.constant('bearer'));
const scheme = fc.oneof(bearer, bearer, fc.constantFrom('Basic', 'Bearer:', 'Bear', ''));
const gap = fc.constantFrom(' ', ' ', ' ', '  ', '\t', '', ' \t', ',', '\u00a0', '%20');
const near = [apiKey.toLowerCase(), apiKey.slice(0, -1), `${apiKey}0`, `${apiKey},${apiKey}`];
const credential = fc.oneof(
  fc.constant(apiKey),
  fc.stringMatching(/^psk_[0-9A-Za-z]{42}$/),
  fc.constantFrom(...near, `"${apiKey}"`, `key=${apiKey}`, 'a'.repeat(8_192)),
  text,
);
const tail = fc.constantFrom('', '', '', ' ', '\t', '\n', '\0', ' x', `, Bearer ${apiKey}`);
const line = fc.tuple(scheme, gap, credential, tail).map((parts) => parts.join(''));
const lines = fc.oneof(
  { weight: 8, arbitrary: fc.tuple(line) },
  { weight: 1, arbitrary: fc.array(fc.oneof(line, text), { maxLength: 3 }) },
);

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

it('Authorization lets in the exact key and answers 401 to 10,000 values of any other kind', async () => {
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
  ['two lines', [`Bearer ${apiKey}`, 'Bearer x'], 'several Authorization headers'],
  ['something before the scheme', [`xBearer ${apiKey}`], 'no bearer credentials'],
  ['another line in the same header', [`Bearer ${apiKey}\nx`], 'no bearer credentials'],
  ['no key behind the scheme', ['Bearer  '], 'no bearer credentials'],
])('Authorization is refused with %s', async (_, values, refused) => {
  const log = vi.spyOn(console, 'info').mockImplementation(() => {});
  const { statusCode, headers } = await callWith(values);
  const invalid = refused.startsWith('no') ? '' : ', error="invalid_token"';
  expect(statusCode).toBe(401);
  expect(headers['WWW-Authenticate']).toBe(`Bearer realm="petstore"${invalid}`);
  expect(log).toHaveBeenCalledExactlyOnceWith(expect.objectContaining({ refused }));
  log.mockRestore();
});

it('Authorization is never repeated to the client', async () => {
  const impostor = mintApiKey(parseApiKey(apiKey)?.keyId).apiKey;
  for (const value of [`Bearer ${impostor}`, `Basic ${impostor}`, impostor]) {
    const { body, headers } = await callWith([value]);
    expect(JSON.stringify({ body, headers })).not.toContain(impostor);
  }
});
