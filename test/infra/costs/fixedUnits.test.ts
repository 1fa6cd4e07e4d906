import { expect, test } from 'vitest';
import { fixedUnitsFile } from '../../../infra/costs/model/fixedCosts.ts';
import { stageNames, stages } from '../../../infra/stages/stages.ts';
import { templates, watchTemplates } from '../../support/stackTemplates.ts';
import { countFixedUnits } from './countFixedUnits.ts';

test('what each stage is billed for in any case is what stands in fixedUnits.json', async () => {
  const counted = Object.fromEntries(
    stageNames.map((name) => {
      const stacks = { service: templates[name], watch: watchTemplates[name] };
      return [name, countFixedUnits(stacks, stages[name].settings)];
    }),
  );
  await expect(`${JSON.stringify(counted, null, 2)}\n`).toMatchFileSnapshot(
    fixedUnitsFile.pathname,
  );
});
