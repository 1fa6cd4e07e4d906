import { pipeline, Readable } from 'node:stream';
import { createGunzip } from 'node:zlib';
import type { OpenAnswer } from '../asking/exchange.ts';
import { checkHeader } from '../asking/expectation.ts';
import { Mismatch } from '../asking/failures.ts';
import { ListProblem, readList } from '../lists/listReader.ts';
import type { Walk } from '../lists/pages.ts';
import { comparePages, type Reading } from '../lists/reading.ts';
import type { Row } from './row.ts';

/** How often a list that changes is asked for anew. */
const MOST_ATTEMPTS = 3;

/** The one whole list of a run, and what can be said of it. */
export const listRows: readonly Row[] = [
  {
    name: 'is whole, each entry once, with three members and an exact id',
    needs: ['full run'],
    async check(stage) {
      const headers = { 'Accept-Encoding': 'gzip', 'If-None-Match': 'W/"smoke"' };
      stage.found.list = await stage.askStreamed({ path: '/inventory', headers }, [200], readWhole);
    },
  },
  {
    name: 'has every entry of the first pages, and no other among them',
    needs: ['whole list', 'entry'],
    async check(stage) {
      const { walk, list } = stage.found as { walk: Walk; list: Reading };
      await comparePages(stage, walk, list, 'the whole list has');
    },
  },
  {
    name: 'comes compressed to a client that accepts gzip',
    needs: ['whole list', 'many entries'],
    async check({ found }) {
      const { head } = found.list as Reading;
      checkHeader(head, 'Content-Encoding', 'gzip');
      checkHeader(head, 'Vary', /\bAccept-Encoding\b/, 'Accept-Encoding');
    },
  },
  {
    name: 'is not sent again to who has it',
    needs: ['whole list', 'short list'],
    async check(stage) {
      const { head } = stage.found.list as Reading;
      checkHeader(head, 'ETag', /^W\/"[^"]+"$/, 'a weak tag');
      let tag = head.headers.get('ETag') ?? '';
      for (let attempt = 1; tag !== ''; attempt += 1) {
        const request = { path: '/inventory', headers: { 'If-None-Match': tag } };
        tag = await stage.askStreamed(request, [200, 304], async (answer) => {
          if (answer.status === 304) return '';
          const now = answer.headers.get('ETag') ?? '';
          // On a stage that is in use, the list may have changed.
          if (now !== tag && attempt < MOST_ATTEMPTS) return now;
          throw new Mismatch(answer, `304 to If-None-Match: ${tag}`, `with ETag: ${now}`);
        });
      }
    },
  },
];

async function readWhole(answer: OpenAnswer): Promise<Reading> {
  try {
    const ids = await readList(toText(answer));
    const twice = ids.findTwice();
    if (twice !== undefined) throw new Mismatch(answer, 'each entry once', `with ${twice} twice`);
    return { head: answer, ids };
  } catch (error) {
    const { code = '', message } = error as Error & { code?: string };
    if (error instanceof ListProblem) throw new Mismatch(answer, 'a whole list', message);
    if (!code.startsWith('Z_')) throw error;
    throw new Mismatch(answer, 'a whole list', `and cannot be decompressed: ${message}`);
  }
}

function toText({ headers, chunks }: OpenAnswer): AsyncIterable<string> {
  const body = Readable.from(chunks);
  if (headers.get('Content-Encoding') !== 'gzip') return body.setEncoding('latin1');
  // A failure of either ends the other; whoever reads is told by its error.
  return pipeline(body, createGunzip(), () => {}).setEncoding('latin1');
}
