import { startEmbeddedEngine } from '../../../infra/local/engine.ts';
import { describeSafeUpdates } from './safeUpdates.ts';

describeSafeUpdates('dynalite', startEmbeddedEngine);
