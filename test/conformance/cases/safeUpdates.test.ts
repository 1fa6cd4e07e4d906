import { firstEngine } from '../../support/engines.ts';
import { describeSafeUpdates } from './safeUpdates.ts';

describeSafeUpdates(firstEngine.name, firstEngine.start);
