import { expect, it } from 'vitest';
import { readTraffic } from '../../../infra/costs/traffic.ts';
import { operationIds } from '../../../shared/contract/operations.ts';
import { openTemporaryFolder } from '../../support/temporaryFolder.ts';
import { callOps, defineCommand, listNames, toScreen } from '../ops/opsProcess.ts';

const runCosts = defineCommand('costs');
const folder = openTemporaryFolder();

/** Files of no traffic, by their names. */
const traffics: Readonly<Record<string, string>> = {
  'empty.json': '',
  'lacksRequests.json': '{}',
  'text.json': '{"requests": {"listOrders": "2M"}}',
  'fewerThanNone.json': '{"entries": -1, "requests": {}}',
  'misspelt.json': '{"entires": 5, "requests": {}}',
};

/** The second table alone is shown of those with `# the month`. */
const typed = [
  '',
  '--stage staging # the month',
  '--requests 477.5k --entries 5 --times 2 # the month',
  '--json --entries 200000',
  // Refused in one line.
  '--requests getDog=1',
  '--requests listOrders=-1',
  '--requests listOrders:412=1',
  '--requests listOrders=1 --traffic x',
  '--traffic none.json',
  '--traffic empty.json',
  '--traffic lacksRequests.json',
  '--traffic text.json',
  '--traffic fewerThanNone.json',
  '--traffic misspelt.json',
];

const recorded: readonly string[] = [
  ...['listInventory', 'getInventoryEntry', 'updateInventory', 'adjustInventory', 'listOrders'],
];
const others = operationIds.filter((id) => !recorded.includes(id));

/**
 * Another operation changes nothing here: its rows are left out, and the sums that have its share, which
 * `model.test.ts` checks. Columns are as wide as the longest name.
 */
function withoutOthers(text: string): string {
  const lines = text
    .split('\n')
    .filter((line) => !others.some((id) => line.startsWith(`${id} `)))
    .map((line) =>
      /^(total|fixed,|AWS charges) /.test(line) ? line.replace(/\d[\d,.]*\b/g, 'N') : line,
    )
    .map((line) => line.replaceAll(/ {2,}/g, '  '));
  return others.reduce(
    (all, id) => all.replaceAll(new RegExp(`, ${id}\\b`, 'g'), ''),
    lines.join('\n'),
  );
}

/** The last cells of a table's rows, in cents; the last one is their sum. */
function readCents(table: string): number[] {
  const cells = table.split('\n').map((line) => / ([\d,]+)\.(\d\d)$/.exec(line));
  return cells.flatMap((cell) =>
    cell ? [Number(`${cell[1]}${cell[2]}`.replaceAll(',', ''))] : [],
  );
}

it('takes the same requests from a list or a file, and as a number or a factor', () => {
  const { shares } = readTraffic({ requests: 'listOrders=0.002G,listInventory:gzip=500k' });
  expect(shares).toEqual([
    { operationId: 'listOrders', response: '200', requests: 2_000_000 },
    { operationId: 'listInventory', response: '200 gzip', requests: 500_000 },
  ]);
  const two = '{"requests": {"listOrders 200": 2000000, "listInventory 200 gzip": 500000}}';
  const file = folder.write('two.json', two);
  expect(readTraffic({ traffic: file })).toEqual({ source: file, entries: 1_000, shares });
  const { source, ...twice } = readTraffic({ requests: '9550000' });
  expect(source).toBe('9550000 requests in the mix of infra/costs/traffic.json');
  expect(readTraffic({ times: 2 })).toEqual({
    source: 'infra/costs/traffic.json, 2 times',
    ...twice,
  });
});

it('prices requests, a month and the throttles, or says in one line what is wrong', async () => {
  for (const [name, text] of Object.entries(traffics)) folder.write(name, text);
  const screens = [];
  for (const line of typed) {
    const [command = '', isMonth] = line.split(' # ');
    const words = command.split(' ').filter((word) => word !== '');
    const args = words.map((word) => (/\.json$/.test(word) ? folder.toPath(word) : word));
    const outcome = await callOps(runCosts, args);
    const month = outcome.stdout.split('\n\n')[1];
    const cents = readCents(month ?? '');
    const total = cents.pop() ?? 0;
    // Each figure is rounded by itself.
    expect(Math.abs(total - cents.reduce((sum, one) => sum + one, 0))).toBeLessThan(
      cents.length + 1,
    );
    const isDocument = command.startsWith('--json');
    const whole = isDocument ? listNames(JSON.parse(outcome.stdout)) : outcome.stdout;
    const stdout = isMonth ? `${month}\n` : whole;
    screens.push(toScreen(['costs', line], { ...outcome, stdout }));
  }
  const text = withoutOthers(screens.join('\n')).replaceAll(`${folder.folder}/`, '');
  await expect(
    text,
    'commit what `npx vitest run test/infra/costs --update` writes',
  ).toMatchFileSnapshot('costsCommand.txt');
});
