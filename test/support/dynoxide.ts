import { existsSync } from 'node:fs';
import { join } from 'node:path';
import type { Engine, EngineOptions } from '../../infra/local/engine/engine.ts';
import { startEngineProcess } from '../engines/engineProcess.ts';

const binary = new URL('../../node_modules/@dynoxide/linux-x64/dynoxide', import.meta.url).pathname;

/** Dynoxide is an optional dependency, built for linux-x64 alone. */
export const dynoxideIsInstalled = existsSync(binary);

/** A DynamoDB emulator in a process of its own, which keeps its data in the folder, or in memory. */
export function startDynoxide({ dir }: EngineOptions = {}): Promise<Engine> {
  const data = dir === undefined ? [] : ['--db-path', join(dir, 'dynoxide.db')];
  return startEngineProcess(binary, (port) => ['--port', String(port), ...data]);
}
