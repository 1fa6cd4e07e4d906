import { startEmbeddedEngine } from '../../../infra/local/engine/engine.ts';
import { describeSafeUpdates } from './safeUpdates.ts';

describeSafeUpdates('dynalite', startEmbeddedEngine);
