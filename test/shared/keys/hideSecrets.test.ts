import fc from 'fast-check';
import { expect, it } from 'vitest';
import { mintApiKey } from '../../../shared/keys/apiKey.ts';
import { hideSecrets } from '../../../shared/keys/hideSecrets.ts';
import { anyCharacter } from '../../support/anyCharacter.ts';

const [keyId, secret] = ['0123456789', `${'s'.repeat(26)}${'c'.repeat(6)}`];
const toHex = (character: string) => character.charCodeAt(0).toString(16).padStart(2, '0');
const percent = (text: string) => text.replace(/./g, (one) => `%${toHex(one)}`);
const json = (text: string) => text.replace(/./g, (one) => `\\u00${toHex(one)}`);

it.each([
  [`psk_${keyId}${secret}`, `psk_${keyId}…`],
  [
    `/v1/psk_${keyId}${secret}/x?a=psk_${keyId}${secret}&b`,
    `/v1/psk_${keyId}…/x?a=psk_${keyId}…&b`,
  ],
  [`PSK_${keyId}${secret.toUpperCase()}`, `PSK_${keyId}…`],
  [`psk%5F${keyId}${secret}`, `psk%5F${keyId}…`],
  [`psk%5f${keyId}${secret}%2Fx`, `psk%5f${keyId}…%2Fx`],
  [`%50sk_${keyId}${secret}`, `%50sk_${keyId}…`],
  // Twice and more, and in parts.
  [`psk%2525255F${keyId}${secret}`, `psk%2525255F${keyId}…`],
  [`psk%5%46${keyId}${secret}`, `psk%5%46${keyId}…`],
  [percent(`psk_${keyId}${secret}`), `${percent(`psk_${keyId}`)}…`],
  [`psk_0123%34${'56789'}${percent(secret)}`, 'psk_0123%3456789…'],
  [`"psk\\u005f${keyId}${secret}"`, `"psk\\u005f${keyId}…"`],
  // JSON in JSON in JSON.
  [`"psk\\\\\\\\u005F${keyId}${secret}\\n"`, `"psk\\\\\\\\u005F${keyId}…\\n"`],
  [`psk\\x5f${keyId}${secret}`, `psk\\x5f${keyId}…`],
  [`psk%5Cu005f${keyId}${secret}`, `psk%5Cu005f${keyId}…`],
])('cuts the key in %s to its key id', (text, shown) => {
  expect(hideSecrets(text)).toBe(shown);
});

it.each([
  '',
  'psk_…',
  `a key such as psk_${keyId}, or psk_ and 42 letters`,
  '100 %, 5%5, %zz, %7, %255F, C:\\users\\x41, \\u005f, \\\\, \\',
  `psk-${keyId}${secret} risk%5Fof%5Fmuch%20text pskov%20is%20a%20city`,
  '{"path":"/v1/pets/7","text":"\\u001b[2J\\u202e \\"quoted\\""}',
])('leaves %j as it is', (text) => {
  expect(hideSecrets(text)).toBe(text);
});

it('hides every secret in whatever spelling, and no other text', () => {
  const spelling = fc.constantFrom<(text: string) => string>(
    (one) => one,
    percent,
    json,
    (one) => percent(percent(one)),
    (one) => percent(json(one)),
    (one) => json(percent(one)).replaceAll('\\', '\\\\'),
  );
  const around = fc.string({ unit: anyCharacter }).map((text) => ` ${text} `);
  fc.assert(
    fc.property(around, fc.array(spelling, { minLength: 46, maxLength: 46 }), (text, spellings) => {
      const { apiKey } = mintApiKey();
      const spelled = spellings.map((spell, index) => spell(apiKey.charAt(index)));
      const shown = spelled.slice(0, 14).join('');
      expect(hideSecrets(text + spelled.join('') + text)).toBe(`${text}${shown}…${text}`);
    }),
  );
});

it('takes time in proportion to the text', () => {
  const started = performance.now();
  for (const part of ['%25', '\\', '\\u0025', 'psk_']) hideSecrets(`${part.repeat(20_000)}u005f`);
  expect(performance.now() - started).toBeLessThan(2_000);
});
