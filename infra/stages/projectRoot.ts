import { join } from 'node:path';

/** The folder of `package.json`. */
export const projectRoot = join(import.meta.dirname, '../..');
