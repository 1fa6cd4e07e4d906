import { type Answer, checkHeader } from '../asking/expectation.ts';
import { Mismatch } from '../asking/failures.ts';
import type { Entry } from '../lists/pages.ts';
import type { Row, Stage } from './row.ts';

/** How often to begin anew when somebody else updates the entry at the same time. */
const MOST_ATTEMPTS = 3;

/** The one row that writes: an entry's own count, which leaves its tag alone changed. */
export const writeRows: readonly Row[] = [
  {
    name: 'writes the count of --entry back under its tag, once',
    needs: ['writable entry'],
    async check(stage) {
      if (stage.found.permission !== 'write') {
        throw new Error(
          '--entry takes a key with write permission, which this one is not known to have.',
        );
      }
      for (let attempt = 1; attempt <= MOST_ATTEMPTS; attempt += 1) {
        if (await writeBack(stage, attempt === MOST_ATTEMPTS)) return;
      }
    },
  },
];

/**
 * @param isLast whether what others may have caused counts as a failure
 * @returns whether it could be done
 */
async function writeBack(stage: Stage, isLast: boolean): Promise<boolean> {
  const [, entry] = await readEntry(stage);
  const updated = await update(stage, entry, isLast ? [200] : [200, 'precondition_failed']);
  if (updated.status !== 200) return false;
  if (toWords(updated.json() as Entry) !== toWords(entry)) {
    throw new Mismatch(updated, toWords(entry));
  }
  checkHeader(updated, 'ETag', /^"[\x21\x23-\x7e]+"$/, 'a strong tag');
  const tag = updated.headers.get('ETag');
  if (tag === entry.etag) throw new Mismatch(updated, 'another ETag', 'with the ETag as before');
  const [read, after] = await readEntry(stage);
  if (after.etag !== tag) {
    if (!isLast) return false;
    throw new Mismatch(read, `the etag ${tag}`);
  }
  if (toWords(after) !== toWords(entry)) throw new Mismatch(read, toWords(entry));
  const again = await update(stage, entry, ['precondition_failed']);
  if (again.headers.get('ETag') === tag || !isLast) return again.headers.get('ETag') === tag;
  throw new Mismatch(again, `ETag: ${tag}`, `with ETag: ${again.headers.get('ETag')}`);
}

/** The entry with its tag. Only that of this very id, and under a tag, may be written back. */
async function readEntry(stage: Stage): Promise<[answer: Answer, entry: Entry]> {
  const answer = await stage.ask({ path: `/inventory?petId=${stage.entry}&include=etag` }, 200);
  const [entry] = answer.json() as Entry[];
  if (`${entry?.petId}` === stage.entry && entry?.etag) return [answer, entry];
  throw new Mismatch(answer, `the entry ${stage.entry} with its etag`);
}

function update(
  stage: Stage,
  { quantity, etag = '' }: Entry,
  expected: readonly (200 | 'precondition_failed')[],
): Promise<Answer> {
  const headers = { 'Content-Type': 'application/json', 'If-Match': etag };
  const body = `{"quantity":${quantity}}`;
  return stage.ask(
    { method: 'PATCH', path: `/inventory/${stage.entry}`, headers, body },
    ...expected,
  );
}

function toWords({ petId, quantity, status }: Entry): string {
  return `${petId} ${quantity} ${status}`;
}
