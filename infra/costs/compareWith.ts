import { execFileSync, spawnSync } from 'node:child_process';
import { existsSync, mkdtempDisposableSync, readFileSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { type OperationId, operationIds } from '../../shared/contract/operations.ts';
import { projectRoot } from '../stages/projectRoot.ts';
import type { Stage } from '../stages/stages.ts';
import { type CostReport, toCostReport } from './bills/costReport.ts';
import { toWorstMonth } from './bills/monthlyBill.ts';
import { parseTraffic, readCommittedTraffic } from './bills/traffic.ts';
import { sumDollars, sumOf, toAmount, toCents } from './bills/usage.ts';
import { type BuildApp, toPricedStage } from './costOptions.ts';
import type { PricedStage } from './figures.ts';
import {
  componentLabels,
  components,
  type Dollars,
  type Prices,
  usageKinds,
  usageParts,
  usualRegion,
} from './prices.ts';
import { type MeasuredUnits, readSizes } from './units/responseUnits.ts';

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
  const traffic = readCommittedTraffic();
  const { entries } = traffic;
  using folder = mkdtempDisposableSync(join(tmpdir(), 'petstore-diff-'));
  extractCommit(from.commit, folder.path);
  const { sizes, toPrices, trafficThen, ...then } = readFiguresOf(folder.path, revision);
  const stages = await readStagesOf(folder.path, revision);
  const known = new Set(then.units.map((one) => `${one.operationId} ${one.response}`));
  const shares = traffic.shares.filter((one) => known.has(`${one.operationId} ${one.response}`));
  const changes = checked.map((stage) => {
    const { name } = stage;
    const before = stages.get(name);
    const prices = toPrices(before?.settings.region);
    const figures = { ...then, sizes: readSizes(name, sizes), prices };
    const now = toCostReport(stage, traffic, entries);
    const was = before && toCostReport(before, { entries, shares }, entries, figures);
    const ofTraffic = toCostReport(stage, trafficThen, entries);
    const worst = before && { month: toWorstMonth(before, undefined, figures) };
    return {
      stage: name,
      ...toSum(`At the traffic of ${trafficFile}, ${name}`, was, now),
      traffic: toSum(`By the change of ${trafficFile}, ${name}`, ofTraffic, now),
      worst: toSum(`At worst, ${name}`, worst, { month: toWorstMonth(stage) }),
    };
  });
  const moved = changes
    .flatMap((one) => [one, one.traffic, one.worst])
    .map((one) => one.changes.join('\n- '))
    .filter((text) => text !== '');
  const totals = changes.map(({ stage, after, worst }) => {
    return `${stage} $${toCents(after)} a month, at worst $${toCents(worst.after)}`;
  });
  const none = `At the traffic of ${trafficFile}, nothing costs more or less: ${totals.join('; ')}.`;
  const edited = isEdited ? ' with uncommitted changes' : '';
  const title = `From ${revision}, ${toText(from)}, to ${toText(to)}${edited}.`;
  const text = [title, ...(moved.length > 0 ? moved : [none])].join('\n\n');
  return { document: { from, to: { ...to, isEdited }, changes }, text };
}

interface Commit {
  readonly commit: string;
  readonly date: string;
}

const toText = ({ commit, date }: Commit) => `${commit.slice(0, 12)} of ${date}`;

function readCommit(revision: string): Commit {
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

function toSum(...compared: Parameters<typeof findCostChanges>) {
  const [, before, after] = compared;
  const changes = findCostChanges(...compared);
  return { before: before?.month.total, after: after.month.total, changes };
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

function readFiguresOf(folder: string, revision: string) {
  const find = (file: string) => {
    const path = join(folder, file);
    if (existsSync(path)) return path;
    throw new Error(`${revision} has no ${file}: its month cannot be priced.`);
  };
  const read = (file: string) => readFileSync(find(file), 'utf8');
  const units: MeasuredUnits[] = JSON.parse(read('infra/costs/units/units.json'));
  if (!findBuilder(folder)) find(builders[0]);
  const toPrices = (region = usualRegion): Prices =>
    JSON.parse(read(`infra/costs/prices/${region}.json`)).prices;
  const trafficThen = parseTraffic(read(trafficFile), `${trafficFile} of ${revision}`);
  return { units, sizes: read('infra/costs/sizes.json'), toPrices, trafficThen };
}

const findBuilder = (folder: string) => builders.find((file) => existsSync(join(folder, file)));

/** Builds the templates of a commit by its own code. */
async function readStagesOf(folder: string, revision: string): Promise<Map<string, PricedStage>> {
  const load = (file: string) => import(pathToFileURL(join(folder, file)).href);
  try {
    const { stages }: { stages: Record<string, Stage> } = await load('infra/stages/stages.ts');
    const { buildApp }: { buildApp: BuildApp } = await load(findBuilder(folder) ?? builders[0]);
    const all = Object.values(stages).map((stage) => toPricedStage(stage, buildApp));
    return new Map((await Promise.all(all)).map((stage) => [stage.name, stage]));
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

/** A stage's month as priced with the figures, or the traffic, of one commit. */
type PricedMonth = Pick<CostReport, 'month'> & Partial<Pick<CostReport, 'operations'>>;

/** Says in a sentence how a stage's month changes in cost, then why. Empty if nothing changes. */
function findCostChanges(
  month: string,
  before: PricedMonth | undefined,
  after: PricedMonth,
): string[] {
  const total = `$${toCents(after.month.total)} a month`;
  if (!before) return [`${month} is new: ${total}.`];
  const toPart = ({ month: { components: own, fixedParts } }: PricedMonth, one: keyof Dollars) =>
    own[one] + fixedParts[one];
  const moved = toChanges([
    ...components.map(
      (one) => [componentLabels[one], toPart(after, one) - toPart(before, one)] as const,
    ),
    ['refusals, other paths and conflicts', toRest(after) - toRest(before)],
  ]);
  if (moved.length > 0) {
    const sentence = `${month} $${toCents(before.month.total)} → ${total}: ${moved.join(', ')}.`;
    return [sentence, ...toUsageChanges(before.month, after.month)];
  }
  const others = toResponseChanges(before, after);
  return others.length > 0 ? [`${month} costs ${total}, as before.`, ...others] : [];
}

/** What the worst month has besides its operations. */
function toRest({ month: { total, requests, fixed } }: PricedMonth): number {
  return total - requests - fixed;
}

/** The largest first, without those below half a cent. */
function toChanges(changes: readonly (readonly [name: string, dollars: number])[]): string[] {
  return changes
    .filter(([, dollars]) => Math.abs(dollars) >= 0.005)
    .sort(([, one], [, other]) => Math.abs(other) - Math.abs(one))
    .map(([name, dollars]) => `${name} ${toSigned(dollars)}`);
}

/** In cents, or with three digits if that shows more. */
function toSigned(dollars: number): string {
  return dollars.toLocaleString('en-US', {
    ...{ minimumFractionDigits: 2, maximumFractionDigits: 2 },
    ...{ minimumSignificantDigits: 2, maximumSignificantDigits: 3 },
    ...{ roundingPriority: 'morePrecision', signDisplay: 'always' },
  });
}

/** By what AWS counts, in amount and price, then by operation. */
function toUsageChanges(was: PricedMonth['month'], is: PricedMonth['month']): string[] {
  const parts = usageKinds.map((kind) => {
    const [used, uses] = [was.usage[kind], is.usage[kind]];
    const [, name] = usageParts[kind];
    const [old, rate] = [was.rates[kind], is.rates[kind]];
    // As AWS's pages have them: what costs a dime or more is one alarm, key or GB.
    const [factor, per] = Math.max(old, rate) < 0.001 ? [1e6, 'per million'] : [1, 'each'];
    const [from, to] = [old, rate].map((one) => toAmount(one * factor));
    return [
      [`${name} ${toAmount(used)} → ${toAmount(uses)}`, (uses - used) * old],
      [`price of ${name} $${from} → $${to} ${per}`, uses * (rate - old)],
    ] as const;
  });
  const sum = ({ shares }: PricedMonth['month'], id: OperationId) =>
    sumOf(shares, (one) => (one.operationId === id ? sumDollars(one.dollars) : 0));
  const operations = operationIds.map((id) => [id, sum(is, id) - sum(was, id)] as const);
  const byOperation = toChanges(operations).join(', ');
  return [...toChanges(parts.flat()), ...(byOperation ? [`by operation ${byOperation}`] : [])];
}

/** Changes of responses that do not occur in the month; the others show in its total. */
function toResponseChanges(before: PricedMonth, after: PricedMonth): string[] {
  const { operations = [] } = after;
  return operations.flatMap(({ operationId, response, dollarsPerMillion }) => {
    const was = before.operations?.find(
      (one) => one.operationId === operationId && one.response === response,
    );
    const [from, to] = [toCents(was?.dollarsPerMillion ?? 0), toCents(dollarsPerMillion)];
    const name = `a million of ${operationId} ${response}, which it does not have,`;
    return from === to ? [] : [`${name} $${from} → $${to}`];
  });
}
