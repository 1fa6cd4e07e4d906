import type { Permission } from '../../../../shared/contract/operation.ts';
import type { Asking } from '../asking/asking.ts';
import type { Walk } from '../lists/pages.ts';
import type { Reading } from '../lists/reading.ts';

/** One thing that a stage has to do. */
export interface Row {
  /** A sentence about the group's operation. */
  readonly name: string;
  /** What the stage, or the command line, may lack: the row is skipped then. */
  readonly needs?: readonly Need[];
  /** @throws {Mismatch} when the stage does it in another way */
  check(stage: Stage): Promise<void>;
}

/** Rows about one operation, or one concern of all. */
export interface RowGroup {
  readonly name: string;
  readonly rows: readonly Row[];
}

/** What rows ask, and what they leave to those behind them. */
export interface Stage extends Asking {
  readonly apiKey: string;
  /** Whether the whole list is not to be read. */
  readonly isLight: boolean;
  /** The entry that may be written, as it was typed. */
  readonly entry: string | undefined;
  readonly found: Found;
}

/** What a run has found out so far. */
export interface Found {
  /** An id that nothing has. */
  readonly missingPetId: bigint;
  /** The first pages of the inventory. */
  walk?: Walk;
  /** The whole inventory. */
  list?: Reading;
  /** A pet of one of the first entries. */
  pet?: bigint;
  hasOrders?: boolean;
  /** What the key allows. */
  permission?: Permission;
  /** An origin whose pages may call the stage. */
  origin?: string | undefined;
}

export type Need =
  | 'entry'
  | 'full run'
  | 'whole list'
  | 'many entries'
  | 'short list'
  | 'pet'
  | 'order'
  | 'read key'
  | 'write key'
  | 'writable entry'
  | 'origin';

/** By need: what is lacking, if it is. */
const lacks: Readonly<Record<Need, (stage: Stage) => string | undefined>> = {
  entry: ({ found: { walk } }) => {
    if (!walk) return 'the list cannot be read';
    return walk.entries.length === 0 ? 'no entry' : undefined;
  },
  'full run': ({ isLight }) => (isLight ? '--light' : undefined),
  'whole list': ({ isLight, found }) => {
    if (isLight) return '--light';
    return found.list ? undefined : 'the whole list cannot be read';
  },
  'many entries': ({ found }) =>
    (found.list?.ids.length ?? 0) < MANY_ENTRIES ? 'few entries' : undefined,
  'short list': ({ found }) =>
    (found.list?.ids.length ?? 0) > MOST_TAGGED ? 'a list too long for an ETag' : undefined,
  pet: ({ found }) => (found.pet === undefined ? 'no pet' : undefined),
  order: ({ found }) => (found.hasOrders ? undefined : 'no order'),
  'read key': ({ found }) => (found.permission === 'read' ? undefined : 'takes a read key'),
  'write key': ({ found }) => (found.permission === 'write' ? undefined : 'takes a write key'),
  'writable entry': ({ entry }) => (entry === undefined ? 'takes --entry' : undefined),
  origin: ({ found }) => (found.origin === undefined ? 'no origin known' : undefined),
};

/** As many as are certainly worth compressing: some 2.5 KB. */
const MANY_ENTRIES = 50;
/** So many certainly lie in one page of the table, which gives the list an ETag. */
const MOST_TAGGED = 20_000;

/** Why a row cannot be checked. */
export function findLack({ needs = [] }: Row, stage: Stage): string | undefined {
  return needs.map((need) => lacks[need](stage)).find((lack) => lack !== undefined);
}
