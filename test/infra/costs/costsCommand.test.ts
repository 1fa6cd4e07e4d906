import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterEach, expect, it, vi } from 'vitest';
import { priceMonth, priceWorstMonth } from '../../../infra/costs/bills/monthlyBill.ts';
import { readCommittedTraffic } from '../../../infra/costs/bills/traffic.ts';
import { checkMonths } from '../../../infra/costs/checkMonths.ts';
import { withMetrics } from '../../../infra/costs/costOptions.ts';
import { readPrices } from '../../../infra/costs/prices.ts';
import { runPrices } from '../../../infra/costs/runPrices.ts';
import { type ResponseUnits, readRecordedUnits } from '../../../infra/costs/units/responseUnits.ts';
import { projectRoot } from '../../../infra/stages/projectRoot.ts';
import { toNames } from '../../../infra/stages/resourceNames.ts';
import type { StageSettings } from '../../../infra/stages/stageSettings.ts';
import type { Stage } from '../../../infra/stages/stages.ts';
import { mapOperations } from '../../../shared/contract/operations.ts';
import { templates, watchTemplates } from '../../support/stackTemplates.ts';
import { changeProduction, fixtureNames, fixtures } from '../../support/stageFixtures.ts';
import { deployedStages } from '../../support/suite/testStages.ts';
import { openTemporaryFolder } from '../../support/temporaryFolder.ts';
import { useAws } from '../ops/aws.ts';
import {
  callOps,
  changeSettings,
  defineCommand,
  listNames,
  runOps,
  toScreen,
} from '../ops/opsProcess.ts';

const runCosts = defineCommand('costs');
const folder = openTemporaryFolder();
const { production } = fixtures;
const { settings } = production;
const readCosts = (file: string) =>
  JSON.parse(readFileSync(join(projectRoot, 'infra/costs', file), 'utf8'));
afterEach(() => vi.useRealTimers());

/** Files of traffic by their names. */
const traffics: Readonly<Record<string, string>> = {
  'same.json': '{"requests": {"listOrders 200": 2000000, "listInventory 200 gzip": 500000}}',
  'empty.json': '',
  'lacksRequests.json': '{}',
  'text.json': '{"requests": {"listOrders": "2M"}}',
  'negative.json': '{"requests": {"listOrders": -1}}',
  'fewerThanNone.json': '{"entries": -1, "requests": {}}',
  'ofRelease120.json':
    '{"requests": {"listOrders": 1}, "shop": {"entries": 250, "requests": {"listOrders": 500000}}}',
  'misspelt.json': '{"entires": 5, "requests": {}}',
};

const typed = [
  '',
  '--stage staging',
  '--entries 200000',
  '--times 2',
  '--requests listOrders=0.002G,listInventory:gzip=500k',
  '--requests listInventory:zstd=1k',
  '--traffic same.json',
  '--requests 9550000',
  '--requests 477.5k --entries 5',
  // 304 has several pages here.
  '--requests listInventory:304=1M --entries 200000',
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
  '--traffic ofRelease120.json',
  '--traffic misspelt.json',
  'check nobody/knows',
];

/** Commands without AWS, and the names in their documents. */
async function showMonths(): Promise<string[]> {
  for (const [name, text] of Object.entries(traffics)) folder.write(name, text);
  const screens = [];
  for (const line of typed) {
    const args = line.split(' ').map((word) => (/\.json$/.test(word) ? folder.toPath(word) : word));
    const outcome = await callOps(runCosts, line === '' ? [] : args);
    const isDocument = line.endsWith('--json');
    const stdout = isDocument ? listNames(JSON.parse(outcome.stdout)) : outcome.stdout;
    screens.push(toScreen(['costs', line], { ...outcome, stdout }));
  }
  return screens;
}

/** The files of a commit that costs the same. */
const same = {
  'costs/units/units.json': readRecordedUnits(),
  'costs/prices/us-east-1.json': readPrices(),
  'costs/sizes.json': readCosts('sizes.json'),
  'costs/traffic.json': readCosts('traffic.json'),
  'stages/stages.ts': renderStagesFile(fixtures),
  'buildApp.ts': renderBuildFile(),
};
type Files = Readonly<Partial<Record<keyof typeof same, unknown>>>;
const set = (changes: Partial<StageSettings>): Files => ({
  'stages/stages.ts': renderStagesFile({ ...fixtures, production: changeProduction(changes) }),
});

function renderStagesFile(stages: Readonly<Record<string, Stage>>): string {
  return `export const stages = ${JSON.stringify(stages)};`;
}

/** Stands in for a commit's synthesis, which would take seconds: the templates of today, without some resources. */
function renderBuildFile(isLeftOut = (_: string) => false): string {
  const stacks = fixtureNames.flatMap((name) => {
    const { stack, watchStack } = toNames({ name });
    return [
      [stack, templates[name].toJSON()],
      [watchStack, watchTemplates[name].toJSON()],
    ] as const;
  });
  const counted = stacks.map(([name, { Resources }]) => {
    // No other resources are counted.
    const kept = Object.entries<{ Type: string }>(Resources).filter(
      ([id, { Type }]) => /Alarm$|MetricFilter$/.test(Type) && !isLeftOut(id),
    );
    return [name, { Resources: Object.fromEntries(kept) }];
  });
  return `const templates = ${JSON.stringify(Object.fromEntries(counted))};
const getStackByName = (name: string) => ({ template: templates[name as keyof typeof templates] });
export const buildApp = () => ({ synth: () => ({ getStackByName }) });`;
}

const measure = (change: (one: ResponseUnits) => Partial<ResponseUnits>): Files => ({
  'costs/units/units.json': same['costs/units/units.json'].map((one) => ({
    ...one,
    ...change(one),
  })),
});
const without = (isLeftOut: (one: ResponseUnits) => boolean): Files => ({
  'costs/units/units.json': same['costs/units/units.json'].filter((one) => !isLeftOut(one)),
});
const { prices } = readPrices();
const { requests } = same['costs/traffic.json'];
const { throttles } = settings;

/** What another commit has. */
const commits: Readonly<Record<string, Files>> = {
  'all the same': {},
  'all requests traced': set({ tracing: { reservedPerSecond: 0, percent: 100 } }),
  'twice the memory': set({
    memoryMegabytes: mapOperations((id) => 2 * settings.memoryMegabytes[id]),
  }),
  'a tenth of a price': {
    'costs/prices/us-east-1.json': {
      ...readPrices(),
      prices: { ...prices, gigabyteSeconds: 0.00000133334 },
    },
  },
  '200 bytes less a log line': measure(({ logBytes }) => ({
    logBytes: { ...logBytes, request: logBytes.request - 200 },
  })),
  'entries without a version, so that 1,000 take half a unit less': {
    'costs/sizes.json': { production: { idDigits: 19, taggedShare: 0 } },
  },
  'ten years of logs': set({ logRetentionDays: 3653 }),
  'one alarm less': {
    'buildApp.ts': renderBuildFile((id) => id.startsWith('checkfailed')),
  },
  'no units of a response that is not in the traffic': without(
    ({ operationId, response }) => operationId === 'listOrders' && response === '400',
  ),
  'a firewall': set({ firewall: true }),
  'no orders, which no units have': without(({ operationId }) => operationId === 'listOrders'),
  'fewer lists in the traffic': {
    'costs/traffic.json': {
      ...same['costs/traffic.json'],
      requests: { ...requests, listInventory: requests.listInventory - 200_000 },
    },
  },
  'ten times as many lists let through': set({
    throttles: { ...throttles, listInventory: { rate: 50, burst: 200 } },
  }),
  'ten times as many unknown paths let through': set({
    throttles: { ...throttles, other: { rate: 1_000, burst: 2_000 } },
  }),
  'no staging': { 'stages/stages.ts': renderStagesFile({ production }) },
  'unknown traffic': { 'costs/traffic.json': { requests: { x: 1 } } },
  'no units': { 'costs/units/units.json': undefined },
  'no synthesis': { 'buildApp.ts': undefined },
  'a synthesis that fails': { 'buildApp.ts': 'throw new Error("no such module");' },
};

const wide = { maxIncreaseDollars: 1e6, maxIncreasePercent: 1e6, worstMonthDollars: 1e6 };
const priced = await withMetrics(production);
const { metrics } = priced;
const worstMonthDollars = Math.ceil(priceWorstMonth(priced).total);
/** An alarm on one metric. */
const dime = { ...metrics, alarmMetrics: metrics.alarmMetrics + 1 };
const moreLists = { throttles: { ...throttles, listInventory: { rate: 50, burst: 100 } } };
/** Two lists at once, of 0.7 s each, are 2.857 a second. */
const bounded = { accountConcurrency: 1_000, reservedConcurrency: { listInventory: 2 } };
/** Settings, the accepted month as a multiple of that without them, where 0 is none, and other counts. */
type Check = [changes: Partial<StageSettings>, accepted: number, counts?: typeof metrics];
const checks: Readonly<Record<string, Check>> = {
  'what was accepted': [{ maxIncreaseDollars: 0 }, 1],
  less: [{ maxIncreasePercent: 0 }, 2],
  'a dime': [{ maxIncreaseDollars: 0.1 }, 1, dime],
  'a dime too much': [{ maxIncreaseDollars: 0.09 }, 1, dime],
  'a doubling': [{ maxIncreasePercent: 101 }, 0.5],
  'a doubling too much': [{ maxIncreasePercent: 98 }, 0.5],
  'a month that nobody accepted': [{}, 0],
  'a worst month up to the set dollar': [{ worstMonthDollars }, 1],
  'a worst month past it': [{ worstMonthDollars: worstMonthDollars - 1 }, 1],
  'higher throttles': [{ worstMonthDollars, ...moreLists }, 1],
  'higher throttles that the concurrency bounds': [
    { worstMonthDollars, ...moreLists, ...bounded },
    1,
  ],
};

it('names a setting that a stage lacks', async () => {
  const { listInventory: _, ...others } = throttles;
  const lacking = changeProduction({ throttles: others as typeof throttles });
  const rule = 'production.throttles.listInventory: must be set';
  await expect(withMetrics(lacking)).rejects.toThrow(rule);
});

const author = ['-c', 'user.name=test', '-c', 'user.email=test@petstore.example'];

/** Makes a repository with a branch for each commit, named by its index. */
function makeRepository(): void {
  const git = (args: readonly string[], input = '') =>
    execFileSync('git', args, { cwd: folder.folder, input });
  const who = 'committer test <test@petstore.example> 0 +0000';
  const toData = (text: string) => `data ${Buffer.byteLength(text)}\n${text}\n`;
  const branches = Object.values(commits).map((files, index) => {
    const written = Object.entries({ ...same, ...files })
      .filter(([, content]) => content)
      .map(([file, content]) => {
        const text = typeof content === 'string' ? content : JSON.stringify(content);
        return `M 100644 inline infra/${file}\n${toData(text)}`;
      });
    return [`commit refs/heads/${index}\n${who}\n${toData('Before')}`, ...written].join('');
  });
  git(['init', '--quiet']);
  git(['fast-import', '--quiet'], branches.join(''));
}

/** `costs check` with each commit, without the verdicts, which name the tests' own limits. */
async function showChanges(): Promise<string[]> {
  makeRepository();
  const screens = [];
  for (const [index, name] of Object.keys(commits).entries()) {
    folder.write('.git/HEAD', `ref: refs/heads/${index}\n`);
    const variables = { GIT_DIR: folder.toPath('.git') };
    const outcome = await callOps(runCosts, ['check', 'HEAD'], variables);
    const stdout = outcome.stdout
      .replaceAll(/(?<=^From HEAD, |to )[0-9a-f]{12} of \S+(?= )/g, 'COMMIT')
      .replace(/\n\n(FAILED: )?The worst month of staging .*/s, '\n');
    screens.push(toScreen(['costs check HEAD', `# which has ${name}`], { ...outcome, stdout }));
    if (name !== 'all the same') continue;
    const { stdout: text } = await callOps(runCosts, ['check', 'HEAD', '--json'], variables);
    screens.push(`The document\n${listNames(JSON.parse(text))}`);
  }
  return screens;
}

function showChecks(): string[] {
  const { total } = priceMonth(priced, readCommittedTraffic());
  return Object.entries(checks).map(([name, [changes, factor, counts = metrics]]) => {
    const accepted = factor ? { production: Number((total * factor).toFixed(2)) } : {};
    const stage = { ...changeProduction({ ...wide, ...changes }), metrics: counts };
    const found = checkMonths([stage], accepted);
    const lines = found.map(({ isWithin, text }) => `${isWithin ? 'ok' : 'FAILED'}: ${text}\n`);
    return `$ npx petstore costs check # of ${name}\n${lines.join('')}`;
  });
}

it('compares with a commit by the templates that its own code builds', async () => {
  const repository = folder.toPath('project.git');
  const git = (...args: string[]) =>
    execFileSync('git', ['--git-dir', repository, '--work-tree', projectRoot, ...args]);
  git('init', '--quiet');
  git('add', 'infra', 'shared', 'functions', 'package.json', 'package-lock.json');
  git(...author, 'commit', '--quiet', '--no-verify', '--message', 'Before');
  const isSame = await callOps(runCosts, ['check', 'HEAD'], { GIT_DIR: repository });
  expect(isSame).toMatchObject({ status: 1, stdout: '' });
  expect(isSame.stderr).toMatch(/^HEAD is what is checked out, [0-9a-f]{12} of [\d-]+: nothing/);
  git(...author, 'commit', '--quiet', '--no-verify', '--allow-empty', '--message', 'After');
  const line = 'infra/petstore.js costs check HEAD^ --stage production --json';
  const { stdout, stderr } = await runOps(line.split(' '), { variables: { GIT_DIR: repository } });
  expect(stderr).toBe('');
  for (const { stage: name, before } of JSON.parse(stdout).changes) {
    // The process has the tests' stages, and the commit those of the team.
    const stage = deployedStages.find((one) => one.name === name);
    const total = stage && priceMonth(await withMetrics(stage), readCommittedTraffic()).total;
    expect(before).toEqual(total && expect.closeTo(total, 6));
  }
});

it('checks all stages, or that of --stage', async () => {
  const check = (...args: string[]) => callOps(runCosts, ['check', ...args]);
  for (const stage of Object.values(fixtures)) changeSettings(stage, { worstMonthDollars: 1 });
  const past = (name: string) => `FAILED: The worst month of ${name} can cost`;
  const all = await check();
  expect(all.status).toBe(1);
  expect(all.stdout).toMatch(RegExp(`^${past('staging')}.*^${past('production')}`, 'ms'));
  const { status, stdout } = await check('--stage', 'staging', '--json');
  const found = JSON.parse(stdout).checks.map((one: { stage?: string }) => one.stage);
  expect({ status, found }).toEqual({ status: 1, found: ['staging', 'staging'] });
});

it('is checked against a file that has an owner, and compared in the summary of a pull request', () => {
  const read = (file: string) => readFileSync(join(projectRoot, '.github', file), 'utf8');
  expect(read('CODEOWNERS')).toMatch(/^\/infra\/costs\/accepted\.json @\S+$/m);
  expect(read('workflows/check.yml')).toContain('npx petstore costs check HEAD^1 >> ');
});

/** A service, a usage type and its price; of several prices, each but the last with its end. */
const listed = `
AmazonApiGateway EU-ApiGatewayHttpRequest 0.0000011100
AmazonApiGateway EU-ApiGatewayRequest 0.0000035000 333000000 0.0000028000 1000000000 0.0000023800
AWSLambda Global-Request-ARM 0.0000000000 1000000 9.0000000000
AWSLambda EU-Request-ARM 0.0000002000
AWSLambda EU-Lambda-GB-Second 0.0000166667
AWSLambda EU-Lambda-GB-Second-ARM 0.0000133334
AmazonDynamoDB EU-ReadRequestUnits 0.0000001415
AmazonDynamoDB EU-WriteRequestUnits 0.0000007075
AmazonDynamoDB EU-IA-TimedStorage-ByteHrs 0.1000000000
AmazonDynamoDB EU-TimedStorage-ByteHrs 0.0000000000 25 0.2830000000
AmazonDynamoDB EU-TimedPITRStorage-ByteHrs 0.2264000000
AWSDataTransfer EU-DataTransfer-Out-Bytes 0.0900000000 10240 0.0850000000
AmazonCloudWatch EU-DataProcessing-Bytes 0.5800000000
AmazonCloudWatch EU-VendedLog-Bytes 0.5700000000
AmazonCloudWatch EU-TimedStorage-ByteHrs 0.0300000000
AmazonCloudWatch EU-DataScanned-Bytes 0.0057000000
AmazonCloudWatch EU-CW:AlarmMonitorUsage 0.1000000000
AmazonCloudWatch EU-CW:CompositeAlarmMonitorUsage 0.5000000000
AmazonCloudWatch EU-CW:MetricMonitorUsage 0.3000000000
AWSXRay EU-XRay-TracesStored 0.0000050000
awswaf EU-WebACLV2 5.0000000000
awswaf EU-RuleV2 1.0000000000
awswaf EU-RequestV2-Tier1 0.0000006000
awskms eu-west-1-KMS-Keys 1.0000000000
awskms eu-west-1-KMS-Keys 1.0000000000`;
/** In the form of https://docs.aws.amazon.com/aws-cost-management/latest/APIReference/API_pricing_GetProducts.html. */
function toProduct(usagetype: string, amounts: readonly string[]): string {
  const steps = amounts.flatMap((USD, index) => {
    const [beginRange = '0', endRange = 'Inf'] = [amounts[index - 1], amounts[index + 1]];
    return index % 2 === 0 ? [{ beginRange, endRange, pricePerUnit: { USD } }] : [];
  });
  // In no order.
  const priceDimensions = Object.fromEntries(
    steps.reverse().map((one, index) => [`1.${index}`, one]),
  );
  const terms = { OnDemand: { '1': { priceDimensions } } };
  return JSON.stringify({ product: { attributes: { usagetype } }, terms });
}
/** What AWS lists more, and the prices in the file before. */
const priceFiles: Readonly<Record<string, [more: string, before?: object]>> = {
  'no price of streamed bytes, which the file has': [
    '',
    { streamedGigabytes: 0.008, readUnits: 7 },
  ],
  'no price of streamed bytes': [''],
  'several prices of calls': ['\nAWSLambda EU-Request-ARM 0.0000003000', { readUnits: 3 }],
};

/** `costs prices` with each, the file that it leaves, and what it asked. */
async function showPrices(): Promise<string[]> {
  vi.useFakeTimers({ toFake: ['Date'], now: Date.UTC(2026, 10, 23) });
  const screens = [];
  for (const [name, [more, before]] of Object.entries(priceFiles)) {
    const rows = `${listed}${more}`.split('\n').map((row) => row.split(' '));
    // Each list in pages of three.
    const { variables, calls } = await useAws({
      GetProducts({ ServiceCode, NextToken = '0' }) {
        const list = rows.filter(([service]) => service === ServiceCode);
        const next = Number(NextToken) + 3;
        return {
          PriceList: list
            .slice(next - 3, next)
            .map(([, usageType = '', ...amounts]) => toProduct(usageType, amounts)),
          ...(next < list.length && { NextToken: `${next}` }),
        };
      },
    });
    const file = pathToFileURL(folder.toPath('eu-west-1.json'));
    rmSync(file, { force: true });
    if (before) folder.write('eu-west-1.json', `${JSON.stringify({ prices: before })}\n`);
    const outcome = await callOps(() => runPrices({ region: 'eu-west-1' }, file), [], variables);
    const written = existsSync(file) ? readFileSync(file, 'utf8') : 'no file\n';
    screens.push(
      toScreen(['costs prices --region eu-west-1', `# if AWS lists ${name}`], outcome),
      written,
    );
    if (outcome.status !== 0) continue;
    const asked = calls.map(({ region, input: { ServiceCode, Filters } }) => {
      return `In ${region}, GetProducts of ${ServiceCode}: ${JSON.stringify(Filters)}\n`;
    });
    screens.push([...new Set(asked)].join(''));
  }
  return screens;
}

it('prices requests and months, says what a change costs, and reads prices', async () => {
  const screens = [
    ...(await showMonths()),
    ...(await showChanges()),
    ...showChecks(),
    ...(await showPrices()),
  ];
  const text = screens.join('\n').replaceAll(`${folder.folder}/`, '');
  await expect(
    text,
    'commit what `npx vitest run test/infra/costs --update` writes',
  ).toMatchFileSnapshot('costsCommand.txt');
});

it('needs all prices of a region', () => {
  const file = folder.write('eu-west-1.json', '{"prices": {"gatewayRequests": 1}}');
  expect(() => readPrices('eu-west-1', pathToFileURL(file))).toThrow(
    'The prices of eu-west-1 have no functionCalls: npx petstore costs prices --region eu-west-1 reads them from AWS.',
  );
});
