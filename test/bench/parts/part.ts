import type { Bundles } from '../bundles/buildBundles.ts';
import type { Section } from '../report/section.ts';

/** What each benchmark is given. */
export interface PartInput {
  readonly bundles: Bundles;
  readonly quick: boolean;
  readonly profile?: string;
  /** Says what is being measured, for whoever waits. */
  readonly report: (line: string) => void;
}

export type Part = (input: PartInput) => Promise<readonly Section[]>;
