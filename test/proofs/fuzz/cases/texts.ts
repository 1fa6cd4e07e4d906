import type { Random } from './random.ts';

/** Numbers at the edges of what the service, JSON, JavaScript and int64 hold, and what only looks like one. */
export const numberTexts = [
  ...[
    '0',
    '-0',
    '1',
    '-1',
    '7',
    '100',
    '101',
    '1000',
    '1001',
    '00',
    '01',
    '+1',
    '1.0',
    '0.5',
    '-1.5',
  ],
  ...[
    '2147483646',
    '2147483647',
    '2147483648',
    '-2147483648',
    '-2147483649',
    '4294967295',
    '4294967296',
  ],
  ...['9007199254740991', '9007199254740992', '9007199254740993', '-9007199254740993'],
  ...['9223372036854775806', '9223372036854775807', '9223372036854775808', '18446744073709551616'],
  ...['-9223372036854775807', '-9223372036854775808', '-9223372036854775809'],
  ...['1e0', '1e3', '1E+2', '5e-324', '1e308', '1e400', '-1e400', '1.7976931348623157e308', 'NaN'],
  ...[
    'Infinity',
    '-Infinity',
    '0x10',
    '0b1',
    '1_000',
    '1,000',
    '１２',
    '٣',
    '1n',
    ' 1',
    '1 ',
    '--1',
    '-',
  ],
  ...['1'.repeat(400), '0.'.concat('1'.repeat(400))],
];

/** Texts that have broken something somewhere. None has a line break or another control character. */
export const visibleTexts = [
  ...[
    '',
    '*',
    '"',
    "'",
    '\\',
    '/',
    '//',
    '../..',
    '..%2f..%2f',
    '.',
    '%',
    '%%',
    '%zz',
    '%u0041',
    '%25',
  ],
  ...[
    '%00',
    '%0a',
    '%0d%0a',
    '%0d%0a{"forged":true}',
    '%c3%28',
    '%ed%a0%80',
    '%f4%90%80%80',
    '%ff%fe',
  ],
  ...[
    '%F0%9F%90%88',
    '%e2%80%a8',
    '+',
    '&',
    '=',
    '==',
    ';',
    '#',
    '?',
    '??',
    '[]',
    '[0]',
    '{}',
    '{petId}',
  ],
  ...[
    'null',
    'undefined',
    'true',
    'false',
    '__proto__',
    'constructor',
    'prototype',
    'toString',
    'hasOwnProperty',
  ],
  ...[
    '{"level":"ERROR"}',
    '"}\\n{"forged":true}',
    '\\u0000',
    '\\r\\n',
    `\${jndi:ldap://x}`,
    '{{7*7}}',
  ],
  ...['<script>alert(1)</script>', "' OR 1=1 --", '$(id)', '`id`', '; rm -rf', 'a'.repeat(300)],
];

/** Control characters, line breaks, and text past Latin-1: no header or path can carry these as they are. */
export const rawTexts = [
  ...[
    '\n',
    '\r',
    '\r\n',
    '\r\n{"forged":true}\r\n',
    '\n{"level":"INFO","message":{"status":200}}\n',
  ],
  ...[
    '\u0000',
    '\u0001',
    '\u001b[31m',
    '\u007f',
    '\t',
    '\v',
    '\u2028',
    '\u2029',
    '\ufeff',
    '\ufffd',
  ],
  ...['\ud800', '\udc00', '🐈', '猫', 'é', 'e\u0301', '\u202e', 'İ', 'ß', 'ﬁ', '\u0085', '\u00a0'],
];

export const allTexts = [...numberTexts, ...visibleTexts, ...rawTexts];

/** Changes a text in one place, or replaces it. */
export function mutateText(random: Random, text: string, texts: readonly string[]): string {
  const at = random.below(text.length + 1);
  const [before, after] = [text.slice(0, at), text.slice(at)];
  switch (random.below(7)) {
    case 0:
      return random.pick(texts);
    case 1:
      return `${before}${random.pick(texts)}${after}`;
    case 2:
      return `${before}${after.slice(1 + random.below(3))}`;
    case 3:
      return `${text}${text}`;
    case 4:
      return `${before}${toEncoded(after.slice(0, 1))}${after.slice(1)}`;
    case 5:
      return random.chance(0.5) ? text.toUpperCase() : text.toLowerCase();
    default:
      return `${before}${String.fromCharCode(0x21 + random.below(0x5e))}${after.slice(1)}`;
  }
}

function toEncoded(text: string): string {
  return [...Buffer.from(text)].map((byte) => `%${byte.toString(16).padStart(2, '0')}`).join('');
}
