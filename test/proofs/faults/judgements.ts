import { gunzipSync, zstdDecompressSync } from 'node:zlib';
import { parseJson } from '../../../shared/contract/values.ts';
import { fixtures } from '../../conformance/fixtures.ts';
import type { ExactResponse } from '../../support/exactFetch.ts';

/** A list that ended has every entry once, whatever their counts were meanwhile. */
export function judgeWhole(text: string, withTags: boolean): string | undefined {
  const entries = parseJson(text) as { petId: number | bigint; etag?: string }[];
  const toIds = (items: readonly { petId: number | bigint }[]) =>
    items.map(({ petId }) => String(petId)).sort();
  if (`${toIds(entries)}` !== `${toIds(fixtures.inventory)}`) {
    return `a list of ${entries.length} entries ended, of ${fixtures.inventory.length}`;
  }
  const areTagged = entries.every(({ etag }) => (etag !== undefined) === withTags);
  return areTagged ? undefined : 'not every entry has its tag';
}

/** What is wrong with an error; whether it may be one is the cell's to say. */
export function judgeError(response: ExactResponse | undefined): string | undefined {
  if (response === undefined || response.status === 200) return undefined;
  if (response.status === 500) return '500 for a known cause';
  const { status } = response.json() as { status?: number };
  if (status !== response.status) return `${response.status} without an Error body`;
  if (response.status === 503 && !response.headers.has('Retry-After')) {
    return '503 without Retry-After';
  }
  return undefined;
}

/** The body, unpacked. */
export function toText({ bytes, headers }: ExactResponse): string {
  switch (headers.get('Content-Encoding')) {
    case 'gzip':
      return String(gunzipSync(bytes));
    case 'zstd':
      return String(zstdDecompressSync(bytes));
    default:
      return String(bytes);
  }
}
