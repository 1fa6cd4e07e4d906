import { toErrorLine } from '../../cli/errorLine.ts';
import { log, writeOut, writeResult } from '../../cli/output.ts';
import { UsageError } from '../../cli/usage.ts';
import { buildTags } from '../../stages/resourceNames.ts';
import { type CostOptions, findToday } from '../costOptions.ts';
import { openLogs } from './logRows.ts';
import { renderPage } from './page.ts';
import { readBill } from './readBill.ts';
import { makeReport } from './report.ts';

/**
 * Writes a page about a month. Status 1 if the bill is incomplete, a price is not AWS's, or a month will cost more than
 * accepted.
 */
export async function runReport(
  options: CostOptions<'report'>,
  [name = '', ...files]: readonly string[],
) {
  const month = parseMonth(name);
  const { stage, json } = options;
  const { account } = stage.settings;
  const accounts = (options.account ?? account)?.split(',') ?? [];
  const bill =
    files.length > 0 ? await readBill(files, name, buildTags(stage), accounts) : undefined;
  const days = { from: month.from, end: Math.min(month.end, findToday()) };
  let unread = '';
  const logs = await openLogs(options, days).catch((error: Error) => {
    if (!bill) throw error;
    unread = toErrorLine(error);
    return undefined;
  });
  if (!bill && !logs) return;
  const report = await makeReport(stage, month, bill, logs, accounts);
  const { verdict, causes, forecast } = report;
  const isWrong = causes.some((cause) => cause.name === 'bill' || cause.name === 'price');
  if (isWrong || !forecast.isWithin) process.exitCode = 1;
  if (json) return writeResult({ json }, report, '');
  await writeOut(renderPage(report, unread));
  log(verdict);
}

function parseMonth(name: string) {
  const [, year, number] = /^(\d{4})-(0[1-9]|1[0-2])$/.exec(name) ?? [];
  if (number === undefined) throw new UsageError(`"${name}" is no month such as 2026-11.`);
  const from = Date.parse(`${name}-01`);
  if (from >= findToday()) throw new UsageError(`${name} has no whole day of UTC yet.`);
  return { name, from, end: Date.UTC(Number(year), Number(number)) };
}
