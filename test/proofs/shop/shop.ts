import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { projectRoot } from '../../../infra/stages/projectRoot.ts';
import { makeScratchFolder, runProof } from '../../support/testCommand.ts';
import { type KilledShop, runKilledShop, runUnheardShop } from './killedShop.ts';

const text = {
  about:
    'Sells forty orders by the example shop.ts, six at a time, against a local stage that loses a fifth of its responses, fails a tenth of its requests with 503 and has the throttles of production. The shop is killed twice in the middle. Then ten orders more, of whose responses none arrives, and whose stage stops. Fails if a step is not settled, if the database of the shop differs from the stock, or if it calls a step refused while it cannot know.',
  options: {},
} as const;

const folder = makeScratchFolder('shop');
/** Too few for forty orders. */
const QUANTITY = 12;
const petIds = [-9007199254740993n, ...Array.from({ length: 9 }, (_, index) => BigInt(index))];
const inventory = petIds.map(
  (petId) => `{"petId":${petId},"quantity":${QUANTITY},"status":"available"}`,
);
const data = join(folder, 'stock.json');
writeFileSync(data, `{"inventory":[${inventory}]}`);

const faults = ['--lose', '0.2', '--fail', '503:0.1', '--throttle', 'production'];

await runProof('shop', text, async () => {
  const stage = await startStage('--data', data, ...faults);
  const database = join(folder, 'killed.db');
  const killed = await runKilledShop({
    ...stage,
    database,
    petIds,
    orders: 40,
    customers: 6,
    kills: 2,
  });
  await stage.stop();
  const dir = join(folder, 'data');
  const { unheard, stopped, again } = await runUnheardShop({
    ...(await startStage('--data', data, '--dir', dir, '--lose', '1')),
    database: join(folder, 'unheard.db'),
    before: new Map(petIds.map((petId) => [`${petId}`, QUANTITY])),
    startAgain: () => startStage('--dir', dir),
  });
  const rows = [
    ['it was killed twice', killed],
    ['no response arrived', { ...unheard, difference: undefined }],
    ['the stage had stopped', { ...stopped, difference: undefined }],
    ['the stage ran again', again],
  ] as const;
  return {
    section: {
      title: 'shop.ts',
      columns: ['after', 'steps', 'done', 'refused', 'open', 'difference'],
      rows: rows.map(([name, { steps, done, refused, open, difference }]) => {
        return [name, steps, done, refused, open, difference];
      }),
    },
    problems: [
      ...expectSettled('killed', killed),
      ...expectSettled('again', again),
      ...[unheard, stopped]
        .filter(({ steps, open }) => open < steps || steps === 0)
        .map(() => 'A step has an outcome that no response said.'),
    ],
  };
});

function expectSettled(name: string, { steps, open, difference }: KilledShop): string[] {
  return [
    ...(open > 0 || steps === 0 ? [`${name}: ${open} of ${steps} steps are open.`] : []),
    ...(difference > 0 ? [`${name}: the stock differs by ${difference}.`] : []),
  ];
}

/** A stage as `npm start` starts it. */
async function startStage(...options: readonly string[]) {
  const program = join(projectRoot, 'infra/petstore.js');
  const child = spawn(process.execPath, [program, 'start', '--port', '0', ...options], {
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  process.once('exit', () => child.kill());
  let output = '';
  for await (const chunk of child.stdout) {
    output += chunk;
    if (output.includes('Documentation: ')) break;
  }
  const find = (name: string) => new RegExp(`^${name}: (\\S+)$`, 'm').exec(output)?.[1] ?? '';
  return {
    baseUrl: find('Base address'),
    apiKey: find('API key'),
    async stop() {
      child.kill();
      await once(child, 'exit');
    },
  };
}
