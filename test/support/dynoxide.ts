import { existsSync } from 'node:fs';
import type { Engine } from '../../infra/local/engine/engine.ts';
import { startEngineProcess } from '../engines/engineProcess.ts';

const binary = new URL('../../node_modules/@dynoxide/linux-x64/dynoxide', import.meta.url).pathname;

/** Dynoxide is an optional dependency, built for linux-x64 alone. */
export const dynoxideIsInstalled = existsSync(binary);

/** A DynamoDB emulator in a process of its own. */
export function startDynoxide(): Promise<Engine> {
  return startEngineProcess(binary, (port) => ['--port', String(port)]);
}
