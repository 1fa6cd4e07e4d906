import fc from 'fast-check';
import { beforeAll } from 'vitest';

// No pauses between the SDK's attempts, and properties that stop after their time.
Math.random = () => 0;
fc.configureGlobal({ interruptAfterTimeLimit: 2_000 });

// The coverage after the file's modules have loaded and before its hooks: `runner.ts` reads it.
beforeAll(() => {
  const { mutantCoverage } =
    (
      globalThis as never as {
        __stryker__?: { mutantCoverage?: { static: object; loading?: object } };
      }
    ).__stryker__ ?? {};
  if (mutantCoverage) mutantCoverage.loading = { ...mutantCoverage.static };
});
