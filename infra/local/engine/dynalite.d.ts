declare module 'dynalite' {
  import type { Server } from 'node:http';

  export interface DynaliteOptions {
    /** How long a table stays in its state of CREATING, DELETING or UPDATING. */
    readonly createTableMs?: number;
    readonly deleteTableMs?: number;
    readonly updateTableMs?: number;
    /** The folder of the LevelDB store; without one, the data is in memory. */
    readonly path?: string;
  }

  export default function dynalite(options?: DynaliteOptions): Server;
}
