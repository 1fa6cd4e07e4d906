import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DuckDBInstance } from '@duckdb/node-api';
import { buildTags } from '../../stages/resourceNames.ts';
import { type Stage, stages } from '../../stages/stages.ts';
import { listPrices } from '../prices.ts';
import { findFiles, findWrongRow, openBill, toText, toView } from './openBill.ts';

/** The answers of bill.sql, by its views. DuckDB gives large numbers as text. */
const views = {
  this_month: ['month', 'before', 'months'],
  doubts: ['doubt', 'dollars'],
  paid: ['charge', 'dollars', 'list'],
  kinds: ['kind', 'region', 'quantity', 'dollars', 'dollars_a_unit', 'model', 'dollars_before'],
  places: ['account', 'region', 'dollars'],
  days: ['day', 'dollars', 'requests'],
  odd_days: [
    ...(['first', 'last', 'kind', 'dollars', 'usual_dollars', 'a_request'] as const),
    'usual_a_request',
  ],
  requests: ['requests', 'dollars', 'list', 'calls', 'dollars_of_calls'],
} as const;
type Views = typeof views;
export type Row<View extends keyof Views> = Readonly<
  Record<Views[View][number], string | number | null>
>;
export type Bill = Readonly<{ [View in keyof Views]: readonly Row<View>[] }> & {
  readonly files: readonly string[];
};

/**
 * Runs bill.sql over files of bills.
 * @param month default: the newest in the files
 * @throws {Error} naming the file, the row, and what would be right
 */
export async function readBill(
  paths: readonly string[],
  stage: Stage,
  month?: string,
): Promise<Bill> {
  const folder = mkdtempSync(join(tmpdir(), 'petstore-bill-'));
  const database = await DuckDBInstance.create(':memory:', {
    // Nothing is fetched: what it reads is linked statically.
    autoinstall_known_extensions: 'false',
    autoload_known_extensions: 'false',
    memory_limit: '600MB',
    temp_directory: folder,
  });
  const connection = await database.connect();
  const query = async (sql: string) => (await connection.runAndReadAll(sql)).getRowObjectsJson();
  try {
    await query("SET TimeZone = 'UTC'");
    const { files, copies } = await findFiles(paths);
    const bills = [];
    for (const file of files) bills.push(await openBill(file, query));
    await query(`${toView('cur', bills)}; ${toView('focus', bills)}`);
    await query(setInputs(stage, month));
    const error = await query(readFileSync(new URL('../bill.sql', import.meta.url), 'utf8')).then(
      () => undefined,
      (reason: Error) => reason,
    );
    const counted = error ? [] : await query('SELECT file, currency FROM line GROUP BY ALL');
    if (error || counted.some(({ currency }) => currency !== 'USD')) {
      for (const bill of bills) {
        const wrong = await findWrongRow(bill, query);
        if (wrong) throw new Error(wrong);
      }
      if (error) throw error;
    }
    const empty = bills.find(({ file }) => counted.every((one) => one.file !== file));
    if (empty) {
      throw new Error(
        `${empty.file}, row 1: a header, and no row below it. Export a month with usage; AWS fills a new export within a day.`,
      );
    }
    const months = await query('SELECT DISTINCT month FROM line ORDER BY month');
    const found = months.map((one) => one.month);
    if (month && !found.includes(month)) {
      throw new Error(`The files have lines of ${found.join(', ')}, none of ${month}.`);
    }
    const answers: Record<string, unknown> = { files };
    for (const view of Object.keys(views)) answers[view] = await query(`FROM ${view}`);
    const bill = answers as Bill;
    const cut = bills
      .filter(({ isCut }) => isCut)
      .map(({ file }) => `${file} ends within a line, and may lack its end. Download it again.`);
    const more = [...copies, ...cut].map((doubt) => ({ doubt, dollars: null }));
    return { ...bill, doubts: [...bill.doubts, ...more] };
  } finally {
    connection.closeSync();
    database.closeSync();
    rmSync(folder, { recursive: true, force: true });
  }
}

function setInputs(stage: Stage, month: string | undefined): string {
  const tags = buildTags(stage);
  const names = Object.keys(stages).map(toText);
  const files = readdirSync(new URL('../prices/', import.meta.url));
  const prices = files.flatMap((file) => {
    const region = file.replace('.json', '');
    return listPrices(region).map(({ unit, dollars, service, usageType, isPerRequest }) => {
      const texts = [region, unit, service, usageType].map(toText);
      return `(${texts.join()}, ${dollars}, ${isPerRequest})`;
    });
  });
  return `SET VARIABLE service = ${toText(tags.service)}; SET VARIABLE stage = ${toText(tags.stage)};
    SET VARIABLE stages = [${names.join()}]; SET VARIABLE month = ${month ? toText(month) : 'NULL::VARCHAR'};
    CREATE TABLE list_price (region VARCHAR, unit VARCHAR, service VARCHAR, usage_type VARCHAR, dollars DOUBLE, is_per_request BOOLEAN);
    INSERT INTO list_price VALUES ${prices.join()}`;
}
