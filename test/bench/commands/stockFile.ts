import { createHash } from 'node:crypto';
import { createWriteStream } from 'node:fs';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';

const HEADER = 'petId,quantity,status\n';
const statuses = ['available', 'pending', 'sold'];
/** Odd, so that its multiples are 2^64 different ids, scattered over int64. */
const SCATTER = 0x9e3779b97f4a7c15n;

/** Writes inventory entries in no order to a CSV file; the given lines of it hold an unknown status. */
export async function writeStock(
  file = '',
  rows: number,
  badLines: ReadonlySet<number> = new Set(),
): Promise<void> {
  function* toChunks(): Generator<string> {
    let chunk = HEADER;
    for (let row = 0; row < rows; row += 1) {
      const line = toLine(toId(row));
      chunk += badLines.has(row + 2) ? line.replace(/[a-z]+$/m, 'lost') : line;
      if (chunk.length < 65_536) continue;
      yield chunk;
      chunk = '';
    }
    yield chunk;
  }
  await pipeline(Readable.from(toChunks()), createWriteStream(file));
}

/** The SHA-256 of the same entries in the order of their ids. */
export function hashSortedStock(rows: number): string {
  const ids = new BigInt64Array(rows).map((_, row) => toId(row)).sort();
  const hash = createHash('sha256').update(HEADER);
  for (const id of ids) hash.update(toLine(id));
  return hash.digest('hex');
}

function toId(row: number): bigint {
  return BigInt.asIntN(64, BigInt(row) * SCATTER);
}

function toLine(id: bigint): string {
  const quantity = Number(BigInt.asUintN(31, id));
  return `${id},${quantity},${statuses[quantity % 3]}\n`;
}
