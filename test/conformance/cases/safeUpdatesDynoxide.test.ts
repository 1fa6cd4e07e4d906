import { describe } from 'vitest';
import { dynoxideIsInstalled, startDynoxide } from '../../support/dynoxide.ts';
import { describeSafeUpdates } from './safeUpdates.ts';

describe.runIf(dynoxideIsInstalled)('where Dynoxide is installed', () => {
  describeSafeUpdates('Dynoxide', startDynoxide);
});
