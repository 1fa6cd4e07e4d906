import type { readFile as ReadFile } from 'node:fs/promises';

/**
 * Takes the place of `node:fs/promises`, which brings all of readline with it. The SDK reads its
 * configuration files through it, which a function does not have: only a call loads it.
 */
export const readFile = ((...args: Parameters<typeof ReadFile>) =>
  process.getBuiltinModule('node:fs').promises.readFile(...args)) as typeof ReadFile;
