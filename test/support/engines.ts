import { type Engine, startEmbeddedEngine } from '../../infra/local/engine/engine.ts';
import { dynamodbLocal, dynoxideIsInstalled, startDynoxide } from '../engines/engineProcess.ts';

export interface NamedEngine {
  readonly name: string;
  start(): Promise<Engine>;
}

/** The emulator of tests that need only one. */
export const firstEngine: NamedEngine = dynamodbLocal ?? {
  name: 'dynalite',
  start: () => startEmbeddedEngine({}),
};

/** The emulators that the tests of the stores run on. */
export const engines: readonly NamedEngine[] =
  dynamodbLocal === undefined && dynoxideIsInstalled
    ? [firstEngine, { name: 'Dynoxide', start: startDynoxide }]
    : [firstEngine];
