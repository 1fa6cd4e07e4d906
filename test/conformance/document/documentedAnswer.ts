import { expect } from 'vitest';
import { findAnswerProblems } from '../../../infra/openapi/answerProblems.ts';
import type { ExactResponse } from '../../support/exactFetch.ts';

/** Holds an answer against the committed document. */
export function expectDocumented(method: string, path: string, answer: ExactResponse): void {
  expect(findAnswerProblems(method, path, answer), `${method} ${path}`).toEqual([]);
}
