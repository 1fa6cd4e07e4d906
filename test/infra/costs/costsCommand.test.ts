import { expect, it } from 'vitest';
import { openTemporaryFolder } from '../../support/temporaryFolder.ts';
import { callOps, defineCommand, listNames, toScreen } from '../ops/opsProcess.ts';

const runCosts = defineCommand('costs');
const folder = openTemporaryFolder();

/** Files of traffic by their names. */
const traffics: Readonly<Record<string, string>> = {
  'same.json': '{"requests": {"listOrders 200": 2000000, "listInventory 200 gzip": 500000}}',
  'empty.json': '',
  'lacksRequests.json': '{}',
  'text.json': '{"requests": {"listOrders": "2M"}}',
  'negative.json': '{"requests": {"listOrders": -1}}',
  'fewerThanNone.json': '{"entries": -1, "requests": {}}',
  'misspelt.json': '{"entires": 5, "requests": {}}',
};

/** The second table alone is shown of those with `# the month`. */
const typed = [
  '',
  '--stage staging',
  '--entries 200000',
  '--times 2 # the month',
  '--requests listOrders=0.002G,listInventory:gzip=500k # the month',
  '--traffic same.json # the month',
  '--requests 9550000 # the month',
  '--requests 477.5k --entries 5 # the month',
  // 304 has several pages here.
  '--requests listInventory:304=1M --entries 200000 # the month',
  '--json',
  // Refused in one line.
  '--requests getDog=1',
  '--requests listOrders',
  '--requests listOrders=-1',
  '--requests listOrders:412=1',
  '--requests listOrders=1 --traffic x',
  '--traffic none.json',
  '--traffic empty.json',
  '--traffic lacksRequests.json',
  '--traffic text.json',
  '--traffic negative.json',
  '--traffic fewerThanNone.json',
  '--traffic misspelt.json',
];

it('prices requests, a month and the throttles, or says in one line what is wrong', async () => {
  for (const [name, text] of Object.entries(traffics)) folder.write(name, text);
  const screens = [];
  for (const line of typed) {
    const [command = '', isMonth] = line.split(' # ');
    const words = command.split(' ').filter((word) => word !== '');
    const args = words.map((word) => (/\.json$/.test(word) ? folder.toPath(word) : word));
    const outcome = await callOps(runCosts, args);
    const month = outcome.stdout.split('\n\n')[1];
    const isDocument = command === '--json';
    const whole = isDocument ? listNames(JSON.parse(outcome.stdout)) : outcome.stdout;
    const stdout = isMonth ? `${month}\n` : whole;
    screens.push(toScreen(['costs', line], { ...outcome, stdout }));
  }
  const text = screens.join('\n').replaceAll(`${folder.folder}/`, '');
  await expect(
    text,
    'commit what `npx vitest run test/infra/costs --update` writes',
  ).toMatchFileSnapshot('costsCommand.txt');
});
