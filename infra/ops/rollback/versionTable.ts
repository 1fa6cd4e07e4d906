import { toColumns, toShortTime } from '../../cli/columns.ts';
import { type LiveFunction, type PublishedVersion, toNewestServed } from './liveFunctions.ts';
import type { Move } from './moves.ts';

/** As many versions before the live one as are shown of each function. */
const EARLIER = 3;

/** What each function serves, what it served before, and where it is to go. */
export function toVersionTable(
  functions: readonly LiveFunction[],
  moves: readonly Move[] | undefined = [],
): string {
  const rows = functions.flatMap((one) => {
    const target = moves.find(({ from }) => from === one)?.to;
    return toShown(one, target).map((version, index) => [
      index === 0 ? one.operationId : '',
      String(version.version),
      version.commit || '-',
      toShortTime(version.publishedAt),
      toMark(one, version, target),
    ]);
  });
  return toColumns([['OPERATION', 'VERSION', 'COMMIT', 'PUBLISHED', ''], ...rows]);
}

function toShown(one: LiveFunction, target: PublishedVersion | undefined): PublishedVersion[] {
  const newest = toNewestServed(one);
  const earlier = one.versions.filter(({ version }) => version < newest).slice(0, EARLIER);
  return one.versions.filter(
    (version) => one.served.has(version.version) || version === target || earlier.includes(version),
  );
}

function toMark(
  { served }: LiveFunction,
  version: PublishedVersion,
  target: PublishedVersion | undefined,
): string {
  const share = served.get(version.version);
  const live = share === undefined ? '' : share === 1 ? 'live' : `live, ${toPercent(share)}`;
  if (version !== target || share === 1) return live;
  return live ? `${live} -> all` : '<- goes here';
}

function toPercent(share: number): string {
  return `${Math.round(share * 100)}%`;
}
