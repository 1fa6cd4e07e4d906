import { deflateSync, gzipSync } from 'node:zlib';
import { secretMark } from './fuzzRequest.ts';
import type { Random } from './random.ts';
import { allTexts, mutateText, numberTexts } from './texts.ts';

/** A body of an update, from valid ones to bytes that are no text. */
export function makeBody(random: Random): Buffer | null {
  switch (random.below(14)) {
    case 0:
    case 1:
      return Buffer.from(`{"quantity":${random.below(1_000_000)}}`);
    case 2:
      return Buffer.from(`{"quantity":${random.pick(numberTexts)}}`);
    case 3:
      return Buffer.from(JSON.stringify({ quantity: random.pick(strangeValues) }));
    case 4:
      return Buffer.from(withMembers(random));
    case 5:
      return Buffer.from(random.pick(documents));
    case 6:
      return Buffer.from(nest(random));
    case 7:
      return Buffer.from(`{"note":"${secretMark}","quantity":${random.below(100)}`);
    case 8:
      return Buffer.from(`\ufeff{"quantity":1}`, random.pick(['utf8', 'utf16le'] as const));
    case 9:
      return Buffer.concat([Buffer.from('{"quantity":1,"a":"'), spoil(random), Buffer.from('"}')]);
    case 10:
      return random.pick([gzipSync, deflateSync])('{"quantity":1}');
    case 11:
      return spoil(random);
    case 12:
      return null;
    default:
      return Buffer.from(mutateText(random, '{"quantity":12}', allTexts));
  }
}

const strangeValues = [
  null,
  true,
  false,
  '',
  '5',
  [],
  [5],
  {},
  { quantity: 5 },
  secretMark,
  ['__proto__'],
];

const documents = [
  ...[
    '',
    ' ',
    '\n',
    'null',
    'true',
    '5',
    '"quantity"',
    '[]',
    '{}',
    '[{"quantity":5}]',
    '{"Quantity":5}',
  ],
  ...[
    '{"quantity":5}{"quantity":6}',
    '{"quantity":5,}',
    "{'quantity':5}",
    '{quantity:5}',
    '/**/{"quantity":5}',
  ],
  ...[
    '{"quantity":5,"quantity":-1}',
    '{"quantity":-1,"quantity":5}',
    '{"quan\\u0074ity":5}',
    '{"quantity":5}\u0000',
  ],
  ...[
    '{"__proto__":{"quantity":5}}',
    '{"quantity":5,"__proto__":null}',
    '{"quantity":5,"\\u005f_proto__":1}',
  ],
  '{"quantity":5,"a":{"constructor":{"prototype":1}}}',
  '{"quantity":5,"constructor":1}',
  '{"quantity":5,"a":"\\ud800"}',
  '{"quantity":5,"status":"sold","petId":1,"p":1,"q":1,"v":"x"}',
  'quantity=5',
  '<quantity>5</quantity>',
];

function withMembers(random: Random): string {
  const members = Array.from({ length: random.below(6) }, () => {
    return [random.pick(allTexts), random.pick(allTexts)];
  });
  return JSON.stringify({ ...Object.fromEntries(members), quantity: random.below(2 ** 31) });
}

/** Arrays or objects in each other; seldom more than a parser's stack holds. */
function nest(random: Random): string {
  const depth = random.pick([2, 10, 100, 1_000, 1_000, random.chance(0.05) ? 100_000 : 10]);
  const [open, close] = random.pick([
    ['[', ']'],
    ['{"a":', '}'],
  ] as const);
  const closed = close.repeat(random.chance(0.7) ? depth : 0);
  return `{"quantity":1,"deep":${open.repeat(depth)}1${closed}}`;
}

/** Bytes that are no UTF-8: stray ones, overlong and cut ones, surrogates. */
function spoil(random: Random): Buffer {
  const sequences = [
    'ff',
    'fe',
    '80',
    'c0af',
    'c3',
    'e282',
    'eda080',
    'f4908080',
    'f8888080',
    '00',
    '0a',
  ];
  const made = Array.from({ length: 1 + random.below(4) }, () => random.pick(sequences)).join('');
  return Buffer.from(made, 'hex');
}
