import type { PartInput } from './part.ts';

/** One way to list the inventory. */
export interface ListContender {
  readonly name: string;
  readonly bundle: string;
  /** What the client sends besides its key. */
  readonly headers: Record<string, string>;
  readonly query?: string;
}

export function toListContenders({ bundles }: Pick<PartInput, 'bundles'>): ListContender[] {
  const gzip = { 'Accept-Encoding': 'gzip' };
  const zstd = { 'Accept-Encoding': 'zstd' };
  return [
    { name: 'ours', bundle: bundles.ours.listInventory, headers: {} },
    { name: 'ours, gzip', bundle: bundles.ours.listInventory, headers: gzip },
    { name: 'ours, zstd', bundle: bundles.ours.listInventory, headers: zstd },
    {
      name: 'ours, include=etag',
      bundle: bundles.ours.listInventory,
      headers: {},
      query: 'include=etag',
    },
    { name: 'peer', bundle: bundles.peer.listInventory, headers: {} },
    { name: 'floor', bundle: bundles.floor.listInventory, headers: {} },
  ];
}
