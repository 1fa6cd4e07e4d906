import { mintApiKey } from '../../../../shared/keys/apiKey.ts';
import { type FuzzFacts, type FuzzRequest, secretMark } from './fuzzRequest.ts';
import type { Random } from './random.ts';
import { mutateText, visibleTexts } from './texts.ts';

const unknownKeys = Array.from({ length: 50 }, () => mintApiKey().apiKey);

/** The values of Authorization: mostly a key that is valid, since behind it lies most of the service. */
export function makeCredentials(random: Random, { keys }: FuzzFacts): string[] {
  const valid = `Bearer ${random.pick(keys.write)}`;
  if (random.chance(0.6)) return [valid];
  switch (random.below(10)) {
    case 0:
    case 1:
      return [`Bearer ${random.pick(keys.read)}`];
    case 2:
      return [];
    case 3:
      return [`Bearer ${random.pick(unknownKeys)}`];
    case 4:
      return [`Bearer psk_${secretMark}${random.below(1e9)}`];
    case 5:
      return [`Basic ${secretMark}`];
    case 6:
      return [valid, `Bearer ${secretMark}`];
    case 7:
      return [`${random.pick(['bearer', 'BEARER', 'Bearer '])} ${random.pick(keys.write)}`];
    case 8:
      return [`${valid.slice(0, 30 + random.below(20))}${random.pick(['', 'x', ' ', secretMark])}`];
    default:
      return [mutateText(random, `Bearer ${secretMark}`, [secretMark, '', ' ', 'é'])];
  }
}

/** Adds, doubles, empties or changes a header. */
export function mutateHeaders(random: Random, request: FuzzRequest, facts: FuzzFacts): void {
  const { headers } = request;
  const at = random.below(headers.length);
  const line = headers[at];
  switch (random.below(9)) {
    case 0:
      if (line) line[0] = toOddCase(random, line[0]);
      break;
    case 1:
      if (line) headers.push([toOddCase(random, line[0]), line[1]]);
      break;
    case 2:
      if (line && !isSecret(line)) line[1] = random.pick(['', ' ', '\t', ', ', ',,']);
      break;
    case 3:
      if (line) headers.splice(at, 1);
      break;
    case 4:
      if (line && !isSecret(line)) line[1] = mutateText(random, line[1], visibleTexts);
      break;
    case 5:
      headers.push([`X-${random.below(50)}`, 'x'.repeat(random.pick([10, 1_000, 9_000, 11_000]))]);
      break;
    default:
      headers.push(makeHeader(random, request, facts));
  }
}

function makeHeader(
  random: Random,
  { petId = '' }: FuzzRequest,
  { tagOf }: FuzzFacts,
): [string, string] {
  const own = () => tagOf(petId);
  const name = random.pick(Object.keys(values));
  const [value = ''] = [random.pick(values[name] ?? [''])];
  if ((name === 'If-Match' || name === 'If-None-Match') && random.chance(0.4)) {
    return [name, random.pick([own(), `W/${own()}`, `"a", ${own()}`, `${own()},`, own().slice(1)])];
  }
  if (name === 'Idempotency-Key' && random.chance(0.4)) return [name, `k${random.below(1e9)}`];
  return [toOddCase(random, name), value];
}

const tags = Array.from({ length: 21 }, (_, tag) => `"${tag}"`);

const values: Readonly<Record<string, readonly string[]>> = {
  'If-Match': [
    '*',
    '""',
    '"a"',
    'a',
    'W/"a"',
    'w/"a"',
    ',',
    '"a",,"b"',
    '* , "a"',
    '"a" "b"',
    tags.join(),
    tags.slice(1).join(),
    '"é"',
    '"'.repeat(500),
    '"AAAAGQBh"',
    `${'"a", '.repeat(2_000)}`,
  ],
  'If-None-Match': ['*', '""', 'W/"x"', '"', ', ,', 'W/', `${' '.repeat(5_000)}x`],
  'Idempotency-Key': ['', 'a', 'same', 'x'.repeat(255), 'x'.repeat(256), 'a b', 'é', '"quoted"'],
  'Content-Type': [
    '',
    'application/json',
    'APPLICATION/JSON; charset=utf-8',
    'application/json; charset=utf-16',
    'application/vnd.api+json',
    'text/plain',
    'application/x-www-form-urlencoded',
    'multipart/form-data; boundary=x',
    'application/json, text/plain',
    'json',
    ';',
    '/',
    '*/*',
    'application/xml',
    'image/png',
  ],
  'Content-Encoding': ['gzip', 'deflate', 'br', 'zstd', 'identity', 'x', ''],
  'Accept-Encoding': [
    'gzip',
    'zstd',
    'gzip;q=0',
    '*;q=0',
    'identity;q=0',
    'gzip;q=',
    'gzip;q=1.0001',
    ';',
    ',',
    'br, gzip;q=0.5, *',
  ],
  Accept: ['*/*', 'text/html', 'application/xml', '', 'x'],
  Origin: ['null', 'https://evil.example', '', '*', 'https://www.petstore.example'],
  'X-Request-Id': ['a', 'x'.repeat(64), 'x'.repeat(65), '{"forged":1}', '', 'a b', 'é', '..'],
  'User-Agent': ['', 'x'.repeat(2_000), '"}{"level":"ERROR"}', `\${jndi:ldap://x}`],
  'X-HTTP-Method-Override': ['PATCH', 'DELETE'],
  'X-Forwarded-For': ['127.0.0.1', '"'],
  Range: ['bytes=0-0', 'bytes=-1'],
  Host: ['', 'evil.example', 'x:99999', '[::1]'],
  Cookie: ['a=b', '=;'],
  traceparent: ['00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01', 'x'],
  __proto__x: ['x'],
  constructor: ['x'],
};

function toOddCase(random: Random, name: string): string {
  return [...name]
    .map((letter) => (random.chance(0.5) ? letter.toUpperCase() : letter.toLowerCase()))
    .join('');
}

/** Made-up credentials have to keep their mark. */
function isSecret([name]: readonly [string, string]): boolean {
  return name.toLowerCase() === 'authorization';
}
