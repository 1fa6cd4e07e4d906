import { describe } from 'vitest';
import { dynoxideIsInstalled, startDynoxide } from '../../engines/engineProcess.ts';
import { describeSafeUpdates } from './safeUpdates.ts';

describe.runIf(dynoxideIsInstalled)('where Dynoxide is installed', () => {
  describeSafeUpdates('Dynoxide', startDynoxide);
});
