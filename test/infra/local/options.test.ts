import { expect, test } from 'vitest';
import { UsageError } from '../../../infra/cli/usage.ts';
import { parseOptions } from '../../../infra/local/options.ts';

test('without arguments the port is 3000, and the data a sample in memory', () => {
  expect(parseOptions([])).toEqual({ port: 3000, help: false });
});

test('reads each option', () => {
  const args = ['--port', '0', '--data', 'stock.json', '--dir=kept', '--help'];
  expect(parseOptions(args)).toEqual({ port: 0, data: 'stock.json', dir: 'kept', help: true });
});

test.each([
  [['--port', '65536'], "Option '--port' must be a number from 0 to 65535, not '65536'"],
  [['--port', '80x'], "not '80x'"],
  [['--port='], "not ''"],
  [['--port'], "'--port <value>' argument missing"],
  [['--data='], "Option '--data' must not be empty"],
  [['--prot', '1'], "Unknown option '--prot'"],
  [['stock.json'], "Unexpected argument 'stock.json'"],
])('refuses %j in one line', (args, message) => {
  const parse = () => parseOptions(args);
  expect(parse).toThrow(UsageError);
  expect(parse).toThrow(message);
  expect(parse).toThrow(/^[^\n]+$/);
});
