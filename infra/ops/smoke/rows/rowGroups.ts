import { browserRows } from './browserRows.ts';
import { gatewayRows } from './gatewayRows.ts';
import { keyRows } from './keyRows.ts';
import { listRows } from './listRows.ts';
import { lookupRows } from './lookupRows.ts';
import { orderRows } from './orderRows.ts';
import { pageRows } from './pageRows.ts';
import { petRows } from './petRows.ts';
import type { RowGroup } from './row.ts';
import { updateRows } from './updateRows.ts';
import { writeRows } from './writeRows.ts';

/** In their order: each finds what those behind it need. The whole list is last, as it takes the longest. */
export const rowGroups: readonly RowGroup[] = [
  { name: 'listInventory', rows: [...pageRows, ...lookupRows] },
  { name: 'updateInventory', rows: [...updateRows, ...writeRows] },
  { name: 'getPet', rows: petRows },
  { name: 'listOrders', rows: orderRows },
  { name: 'API keys', rows: keyRows },
  { name: 'the gateway', rows: gatewayRows },
  { name: 'browsers', rows: browserRows },
  { name: 'the whole list', rows: listRows },
];
