import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DuckDBInstance } from '@duckdb/node-api';
import { buildTags } from '../../stages/resourceNames.ts';
import { type Stage, stages } from '../../stages/stages.ts';
import { listPrices } from '../prices.ts';
import { type BillFile, findFiles, findWrongRow, openBill, toText, toView } from './openBill.ts';

/** DuckDB gives large numbers as text. */
export type Row = Readonly<Record<string, string | number | boolean | null | undefined>>;
export type Bill = Awaited<ReturnType<typeof readBill>>;

/**
 * Runs bill.sql over files of bills.
 * @param month default: the newest in the files
 * @throws {Error} naming the file, the row, and what would be right
 */
export async function readBill(paths: readonly string[], stage: Stage, month?: string) {
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
  const read = async (view: string) => (await query(`FROM ${view}`)) as Row[];
  try {
    await query("SET TimeZone = 'UTC'");
    const { files, copies } = await findFiles(paths);
    const bills: BillFile[] = [];
    for (const file of files) bills.push(await openBill(file, query));
    await query(`${toView('cur', bills)}; ${toView('focus', bills)}; ${setInputs(stage, month)}`);
    const sql = readFileSync(new URL('../bill.sql', import.meta.url), 'utf8');
    await query(sql).catch(async (error) => {
      for (const bill of bills) {
        const wrong = await findWrongRow(bill, query);
        if (wrong) throw new Error(wrong);
      }
      throw error;
    });
    const counted = await query('SELECT DISTINCT file FROM line');
    const empty = files.find((file) => counted.every((one) => one.file !== file));
    if (empty) {
      throw new Error(
        `${empty}, row 1: a header, and no row below it. Export a month with usage; AWS fills a new export within a day.`,
      );
    }
    const [months = {}] = await read('this_month');
    if (month && !`${months.months}`.includes(month)) {
      throw new Error(`The files have lines of ${months.months}, none of ${month}.`);
    }
    const cut = bills
      .filter(({ isCut }) => isCut)
      .map(({ file }) => `${file} ends within a line, and may lack its end. Download it again.`);
    const more = [...copies, ...cut].map((doubt): Row => ({ doubt, dollars: null }));
    const [requests = {}] = await read('requests');
    return {
      files,
      months,
      requests,
      doubts: [...(await read('doubts')), ...more],
      paid: await read('paid'),
      kinds: await read('kinds'),
      unusualDays: await read('unusual_days'),
      days: await read('days'),
      places: await read('places'),
    };
  } finally {
    connection.closeSync();
    database.closeSync();
    rmSync(folder, { recursive: true, force: true });
  }
}

function setInputs(stage: Stage, month: string | undefined): string {
  const tags = buildTags(stage);
  const names = Object.keys(stages).map(toText);
  const prices = listPrices().map(
    ({ region, unit, service, usageType, dollars, isPerRequest }) =>
      `(${[region, unit, service, usageType].map(toText).join()}, ${dollars}, ${isPerRequest})`,
  );
  return `SET VARIABLE service = ${toText(tags.service)}; SET VARIABLE stage = ${toText(tags.stage)};
    SET VARIABLE stages = [${names.join()}]; SET VARIABLE month = ${month ? toText(month) : 'NULL::VARCHAR'};
    CREATE TABLE list_price (region VARCHAR, unit VARCHAR, service VARCHAR, usage_type VARCHAR, dollars DOUBLE, is_per_request BOOLEAN);
    INSERT INTO list_price VALUES ${prices.join()}`;
}
