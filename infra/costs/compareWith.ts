import { execFileSync, spawnSync } from 'node:child_process';
import { existsSync, mkdtempDisposableSync, readFileSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { operationIds } from '../../shared/contract/operations.ts';
import { projectRoot } from '../stages/projectRoot.ts';
import type { Stage } from '../stages/stages.ts';
import { priceResponses, type ResponseCost } from './bills/costReport.ts';
import { type Month, priceMonth, priceWorstMonth, readPricing } from './bills/monthlyBill.ts';
import { parseTraffic, type Requests, readCommittedTraffic, sumRequests } from './bills/traffic.ts';
import { sortByAmount, sumDollars, sumOf, toAmount, toCents } from './bills/usage.ts';
import { type BuildApp, withMetrics } from './costOptions.ts';
import type { Figures, PricedStage } from './figures.ts';
import {
  componentLabels,
  components,
  type Dollars,
  usageKinds,
  usageParts,
  usualRegion,
} from './prices.ts';
import { readSizes } from './units/responseUnits.ts';

const trafficFile = 'infra/costs/traffic.json';

/**
 * Says what the committed traffic costs under a commit and now, what a change of that traffic adds, and the same of the
 * worst month. Today's model prices the commit's units, sizes and prices, its settings, and what its templates count.
 * @throws {Error} if this clone cannot tell which commit is meant
 */
export async function compareWith(revision: string, checked: readonly PricedStage[]) {
  const [from, to] = [readCommit(revision), readCommit('HEAD')];
  const isEdited = git('status', '--porcelain', '--untracked-files=no') !== '';
  if (from.commit === to.commit && !isEdited) {
    throw new Error(`${revision} is what is checked out, ${toText(from)}: nothing to compare.`);
  }
  using folder = mkdtempDisposableSync(join(tmpdir(), 'petstore-diff-'));
  extractCommit(from.commit, folder.path);
  const then = readDataOf(folder.path, revision);
  const names = checked.map(({ name }) => name as string);
  const stages = await readStagesOf(folder.path, revision, names);
  const traffic = readCommittedTraffic();
  const known = new Set(then.units.map((one) => `${one.operationId} ${one.response}`));
  const shares = traffic.shares.filter((one) => known.has(`${one.operationId} ${one.response}`));
  const changes = checked.map((stage) => {
    const { name } = stage;
    const old = stages.get(name);
    const figures = old && then.toFigures(old);
    const price = (one: PricedStage, requests: Requests, own?: Figures) => {
      const pricing = readPricing(one, sumRequests(requests), own);
      const costs = priceResponses(pricing, traffic.entries);
      return { month: priceMonth(one, requests, pricing), costs };
    };
    const now = price(stage, traffic);
    const was = old && price(old, { ...traffic, shares }, figures);
    const worst = old && { month: priceWorstMonth(old, undefined, figures) };
    return {
      stage: name,
      ...compare(`At the traffic of ${trafficFile}, ${name}`, was, now),
      traffic: compare(`By the change of ${trafficFile}, ${name}`, price(stage, then.traffic), now),
      worst: compare(`At worst, ${name}`, worst, { month: priceWorstMonth(stage) }),
    };
  });
  const moved = changes
    .flatMap((one) => [one, one.traffic, one.worst])
    .flatMap((one) => (one.changes.length > 0 ? [one.changes.join('\n- ')] : []));
  const totals = changes.map(
    ({ stage, after, worst }) =>
      `${stage} $${toCents(after)} a month, at worst $${toCents(worst.after)}`,
  );
  const none = `At the traffic of ${trafficFile}, nothing costs more or less: ${totals.join('; ')}.`;
  const edited = isEdited ? ' with uncommitted changes' : '';
  const title = `From ${revision}, ${toText(from)}, to ${toText(to)}${edited}.`;
  const text = [title, ...(moved.length > 0 ? moved : [none])].join('\n\n');
  return { document: { from, to: { ...to, isEdited }, changes }, text };
}

const toText = ({ commit, date }: ReturnType<typeof readCommit>) =>
  `${commit.slice(0, 12)} of ${date}`;

function readCommit(revision: string) {
  const { status, stdout, stderr } = runGit('rev-parse', '--verify', `${revision}^{commit}`);
  // Of a time before this clone, git warns, and takes its first commit instead.
  if (status !== 0 || stderr !== '' || revision.startsWith('-')) {
    const reason = stderr.replaceAll(/^(fatal|warning): /gm, '').trim();
    const shallow = runGit('rev-parse', '--is-shallow-repository').stdout.trim() === 'true';
    const remedy = shallow ? ' The clone is shallow: fetch more of its history.' : '';
    throw new Error(`This clone cannot tell which commit ${revision} is: ${reason}.${remedy}`);
  }
  const commit = stdout.trim();
  return { commit, date: git('log', '-1', '--format=%cs', commit).trim() };
}

/** Where a commit builds its templates; the second is that of release 1.2.0. */
const builders = ['infra/deploy/buildApp.ts', 'infra/buildApp.ts'] as const;

/** Writes the files of a commit into a folder, with today's packages. */
function extractCommit(commit: string, folder: string): void {
  const options = { cwd: projectRoot, maxBuffer: 2 ** 27 };
  const input = execFileSync('git', ['archive', '--format=tar', commit], options);
  execFileSync('tar', ['-x'], { cwd: folder, input });
  symlinkSync(join(projectRoot, 'node_modules'), join(folder, 'node_modules'));
}

function readDataOf(folder: string, revision: string) {
  const read = (file: string) => {
    const path = join(folder, file);
    if (existsSync(path)) return readFileSync(path, 'utf8');
    throw new Error(`${revision} has no ${file}: its month cannot be priced.`);
  };
  const units: Figures['units'] = JSON.parse(read('infra/costs/units/units.json'));
  if (!findBuilder(folder)) read(builders[0]);
  const traffic = parseTraffic(read(trafficFile), `${trafficFile} of ${revision}`);
  const toFigures = ({ name, settings: { region = usualRegion } }: Stage): Figures => ({
    units,
    sizes: readSizes(name, read('infra/costs/sizes.json')),
    prices: JSON.parse(read(`infra/costs/prices/${region}.json`)).prices,
  });
  return { units, traffic, toFigures };
}

const findBuilder = (folder: string) => builders.find((file) => existsSync(join(folder, file)));

/** Builds the templates of a commit by its own code. */
async function readStagesOf(
  folder: string,
  revision: string,
  names: readonly string[],
): Promise<Map<string, PricedStage>> {
  const load = (file: string) => import(pathToFileURL(join(folder, file)).href);
  try {
    const { stages }: { stages: Record<string, Stage> } = await load('infra/stages/stages.ts');
    const { buildApp }: { buildApp: BuildApp } = await load(findBuilder(folder) ?? builders[0]);
    const wanted = Object.values(stages).filter(({ name }) => names.includes(name));
    const all = await Promise.all(wanted.map((stage) => withMetrics(stage, buildApp)));
    return new Map(all.map((stage) => [stage.name, stage]));
  } catch (error) {
    const reason = (error as Error).message;
    throw new Error(
      `The templates of ${revision} cannot be built, nor its month priced: ${reason}`,
    );
  }
}

/** @throws {Error} with what git says */
function git(...args: string[]): string {
  const { status, stdout, stderr } = runGit(...args);
  if (status === 0) return stdout;
  throw new Error(`git: ${stderr.replace(/^fatal: /, '').trim()}`);
}

function runGit(...args: string[]) {
  const options = { cwd: projectRoot, encoding: 'utf8', maxBuffer: 2 ** 27 } as const;
  const run = spawnSync('git', args, options);
  if (run.error) throw run.error;
  return run;
}

/** A stage's month as priced with the figures, or the traffic, of one commit, and all of its responses. */
interface Priced {
  readonly month: Month;
  readonly costs?: readonly ResponseCost[];
}

function compare(name: string, before: Priced | undefined, after: Priced) {
  const changes = before ? explain(name, before, after) : [];
  const { total } = after.month;
  if (!before) changes.push(`${name} is new: $${toCents(total)} a month.`);
  return { before: before?.month.total, after: total, changes };
}

/** Says in a sentence how a stage's month changes in cost, then why. Empty if nothing changes. */
function explain(name: string, before: Priced, after: Priced): string[] {
  const [was, is] = [before.month, after.month];
  const toPart = ({ components: own, fixedParts }: Month, one: keyof Dollars) =>
    own[one] + fixedParts[one];
  // What the worst month has besides its operations.
  const toRest = ({ total, requests, fixed }: Month) => total - requests - fixed;
  const moved = listChanges([
    ...components.map((one) => [componentLabels[one], toPart(is, one) - toPart(was, one)] as const),
    ['refusals, other paths and conflicts', toRest(is) - toRest(was)],
  ]);
  const total = `$${toCents(is.total)} a month`;
  if (moved.length > 0) {
    const sentence = `${name} $${toCents(was.total)} → ${total}: ${moved.join(', ')}.`;
    return [sentence, ...listUsageChanges(was, is)];
  }
  const others = listResponseChanges(before.costs, after.costs);
  return others.length > 0 ? [`${name} costs ${total}, as before.`, ...others] : [];
}

/** The largest first, without those below half a cent. */
function listChanges(changes: readonly (readonly [name: string, dollars: number])[]): string[] {
  return sortByAmount(changes, ([, dollars]) => dollars)
    .filter(([, dollars]) => Math.abs(dollars) >= 0.005)
    .map(([name, dollars]) => `${name} ${signed.format(dollars)}`);
}

/** In cents, or with three digits if that shows more. */
const signed = new Intl.NumberFormat('en-US', {
  minimumFractionDigits: 2,
  maximumFractionDigits: 2,
  minimumSignificantDigits: 2,
  maximumSignificantDigits: 3,
  roundingPriority: 'morePrecision',
  signDisplay: 'always',
});

/** By what AWS counts, in amount and price, then by operation. */
function listUsageChanges(was: Month, is: Month): string[] {
  const parts = usageKinds.flatMap((kind) => {
    const [used, uses] = [was.usage[kind], is.usage[kind]];
    const [old, rate] = [was.rates[kind], is.rates[kind]];
    const [, name] = usageParts[kind];
    // As AWS's pages have them: what costs a dime or more is one alarm, key or GB.
    const [factor, per] = Math.max(old, rate) < 0.001 ? [1e6, 'per million'] : [1, 'each'];
    const [from, to] = [old, rate].map((one) => toAmount(one * factor));
    return [
      [`${name} ${toAmount(used)} → ${toAmount(uses)}`, (uses - used) * old],
      [`price of ${name} $${from} → $${to} ${per}`, uses * (rate - old)],
    ] as const;
  });
  const operations = operationIds.map((id) => {
    const sum = ({ shares }: Month) =>
      sumOf(shares, (one) => (one.operationId === id ? sumDollars(one.dollars) : 0));
    return [id, sum(is) - sum(was)] as const;
  });
  const byOperation = listChanges(operations).join(', ');
  return [...listChanges(parts), ...(byOperation ? [`by operation ${byOperation}`] : [])];
}

/** Changes of responses that do not occur in the month; the others show in its total. */
function listResponseChanges(before: Priced['costs'], after: Priced['costs'] = []): string[] {
  return after.flatMap(({ operationId, response, dollarsPerMillion }) => {
    const was = before?.find((one) => one.operationId === operationId && one.response === response);
    const [from, to] = [toCents(was?.dollarsPerMillion ?? 0), toCents(dollarsPerMillion)];
    const name = `a million of ${operationId} ${response}, which it does not have,`;
    return from === to ? [] : [`${name} $${from} → $${to}`];
  });
}
