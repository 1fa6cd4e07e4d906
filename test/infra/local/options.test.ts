import { expect, test } from 'vitest';
import { UsageError } from '../../../infra/cli/usage.ts';
import { noFaults } from '../../../infra/local/gateway/faultInjection.ts';
import { parseOptions } from '../../../infra/local/options.ts';

test('without arguments the port is 3000, and the data a sample in memory', () => {
  expect(parseOptions([])).toEqual({ port: 3000, faultInjection: noFaults, help: false });
});

test('reads each option', () => {
  const args = [
    '--port',
    '0',
    '--data',
    'stock.json',
    '--dir=kept',
    '--expose-dynamodb',
    '8000',
    '--help',
  ];
  expect(parseOptions([...args, '--fail', '503:0.1', '--fail=429:.2', '--delay', '2s'])).toEqual({
    port: 0,
    data: 'stock.json',
    dir: 'kept',
    enginePort: 8_000,
    faultInjection: {
      failures: [
        { status: 503, share: 0.1 },
        { status: 429, share: 0.2 },
      ],
      delayMilliseconds: 2_000,
    },
    help: true,
  });
});

test.each([
  [['--port', '65536'], "Option '--port' must be a number from 0 to 65535, not '65536'"],
  [['--port', '80x'], "not '80x'"],
  [['--expose-dynamodb', '80x'], "Option '--expose-dynamodb' must be a number from 0 to 65535"],
  [['--port='], "not ''"],
  [['--port'], "'--port <value>' argument missing"],
  [['--data='], "Option '--data' must not be empty"],
  [['--fail', '503'], "'--fail' must be such as 503:0.1"],
  [
    ['--fail', '200:0.1'],
    "one of 400, 401, 403, 404, 405, 412, 413, 415, 429, 500, 503, not '200:0.1'",
  ],
  [['--fail', '503:1.5'], "not '503:1.5'"],
  [['--fail', '503:0.6', '--fail', '500:0.6'], 'must not be more than 1 together'],
  [['--delay', '200'], "'--delay' must be such as 200ms or 2s"],
  [['--delay', '30s'], "up to 29s, not '30s'"],
  [['--prot', '1'], "Unknown option '--prot'"],
  [['stock.json'], "Unexpected argument 'stock.json'"],
])('refuses %j in one line', (args, message) => {
  const parse = () => parseOptions(args);
  expect(parse).toThrow(UsageError);
  expect(parse).toThrow(message);
  expect(parse).toThrow(/^[^\n]+$/);
});
