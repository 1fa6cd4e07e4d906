import { type Engine, startEmbeddedEngine } from '../../infra/local/engine/engine.ts';
import { dynoxideIsInstalled, startDynoxide } from './dynoxide.ts';

/** The emulators that the tests of the stores run on. */
export const engines: { name: string; start: () => Promise<Engine> }[] = [
  { name: 'dynalite', start: () => startEmbeddedEngine({}) },
  ...(dynoxideIsInstalled ? [{ name: 'Dynoxide', start: startDynoxide }] : []),
];
