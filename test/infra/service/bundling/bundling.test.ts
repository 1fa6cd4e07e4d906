import { describe, expect, it } from 'vitest';
import { type OperationId, operationIds } from '../../../../shared/contract/operations.ts';
import { measureBundle, sumBytes } from '../../../support/bundles.ts';
import committed from './bundleBytes.json' with { type: 'json' };

/**
 * How much a bundle may grow by before somebody has to look at it: every byte is read and compiled at a
 * cold start. `npm run bench:bundles -- --write` commits to a new size.
 */
const GROWTH = 1.02;

describe.each(operationIds)('the bundle of %s', (id) => {
  it('has not outgrown what test/infra/service/bundling/bundleBytes.json says', async () => {
    const now = await measureBundle(id);
    const before = toCommitted(id);
    const grown = Object.entries(now)
      .map(([name, bytes]) => [name, bytes - (before[name] ?? 0)] as const)
      .filter(([, growth]) => growth > 0)
      .sort(([, one], [, other]) => other - one)
      .map(([name, growth]) => `${name} +${growth}`);
    expect(sumBytes(now), `grown, in bytes: ${grown.join(', ')}`).toBeLessThan(
      sumBytes(before) * GROWTH,
    );
  });
});

/** Until an operation has a size of its own there, it is held to the largest of the others. */
function toCommitted(id: OperationId): Record<string, number> {
  const sizes: Partial<Record<OperationId, Record<string, number>>> = committed;
  const bySize = Object.values(sizes).sort((one, other) => sumBytes(other) - sumBytes(one));
  return sizes[id] ?? bySize[0] ?? {};
}
