import * as z from 'zod/mini';
import { InvalidRequest } from '../contract/errors.ts';

/**
 * A value that a client sent, as the schema has it.
 * @throws {InvalidRequest} that names each member that is wrong and says what would be right
 */
export function parseInput<Output>(schema: z.core.$ZodType<Output>, value: unknown): Output {
  const result = z.safeParse(schema, value);
  if (result.success) return result.data;
  const problems = result.error.issues.map(({ path, message }) => {
    const member = path.join('.') || 'The body';
    return `${member} ${message}`;
  });
  throw new InvalidRequest(`${problems.join('; ')}.`);
}
