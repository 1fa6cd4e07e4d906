import type { SmokeSettings } from './smokeTarget.ts';

declare module 'vitest' {
  /** What the command hands to the suite, which runs in a worker. */
  interface ProvidedContext {
    smoke: SmokeSettings;
  }
}
