const megabyte = 1_000_000;

/** Bodies of an update that are not JSON, lack a quantity or hold an invalid one. */
export const hostileBodies: Record<string, string | Uint8Array> = {
  'an empty body': '',
  'white space': ' \n',
  null: 'null',
  'an array': '[{"quantity":5}]',
  'a string': '"quantity"',
  'a number': '5',
  'an empty object': '{}',
  'a quantity in quotes': '{"quantity": "5"}',
  'a fraction': '{"quantity": 5.5}',
  'half of one': '{"quantity": 5e-1}',
  'a negative quantity': '{"quantity": -1}',
  'a quantity past the range of a double': '{"quantity": 1e400}',
  'a quantity one too large': '{"quantity": 2147483648}',
  'a quantity that a double would round': '{"quantity": 9007199254740993}',
  'a quantity past int64': '{"quantity": 18446744073709551621}',
  'a boolean quantity': '{"quantity":true}',
  'a quantity of null': '{"quantity":null}',
  'an array of one quantity': '{"quantity":[5]}',
  'an object as quantity': '{"quantity":{"$numberInt":"5"}}',
  'a member of another case': '{"Quantity":5}',
  NaN: '{"quantity":NaN}',
  'a leading zero': '{"quantity":05}',
  'a plus sign': '{"quantity":+5}',
  'truncated JSON': '{"quantity":5',
  'two documents': '{"quantity":5}{"quantity":6}',
  'a trailing comma': '{"quantity":5,}',
  'a comment': '{"quantity":5} // five',
  'a form': 'quantity=5',
  'invalid UTF-8': Buffer.from([...Buffer.from('{"quantity":'), 0xff, 0xfe, 0x35, 0x7d]),
  'invalid UTF-8 in a member that is ignored': Buffer.from('{"quantity":5,"x":"\xe9"}', 'latin1'),
  'UTF-16': Buffer.from('{"quantity":5}', 'utf16le'),
  'a NUL byte': '{"quantity":5}\0',
  'a megabyte of opening brackets': '['.repeat(megabyte),
  'a megabyte of balanced brackets': '['.repeat(megabyte / 2) + ']'.repeat(megabyte / 2),
  'a megabyte of opening objects': '{"a":'.repeat(megabyte / 5),
  'a quantity of a megabyte of digits': `{"quantity":${'9'.repeat(megabyte)}}`,
  'a quantity behind __proto__': '{"__proto__":{"quantity":5}}',
  'a quantity behind a constructor': '{"constructor":{"prototype":{"quantity":5}}}',
};

/** Bodies whose other members are ignored, whatever they are called; each sets the quantity to 5. */
export const harmlessBodies: Record<string, string> = {
  'other members': '{"quantity":5,"status":"sold","petId":1}',
  'a member within a member': '{"quantity":5,"a":{"quantity":6}}',
  'a __proto__': '{"quantity":5,"__proto__":{"quantity":6,"polluted":true}}',
  'a __proto__ within a member': '{"quantity":5,"a":[{"__proto__":{"polluted":true}}]}',
  'a constructor and its prototype': '{"quantity":5,"constructor":{"prototype":{"polluted":true}}}',
  'a constructor within a member': '{"quantity":5,"a":{"constructor":{"prototype":1}}}',
};

/** Integers in [0, 2^31 - 1] by value, however they are written. */
export const validQuantities: Record<string, number> = {
  '0': 0,
  '-0': 0,
  '1': 1,
  '2147483647': 2_147_483_647,
  '5.0': 5,
  '5e0': 5,
  '50E-1': 5,
  '2.147483647e9': 2_147_483_647,
};
