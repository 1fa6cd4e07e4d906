import * as z from 'zod/mini';
import { type ErrorCode, statusOfCode } from '../errors/errorBody.ts';

/** The body of every error. */
export const ErrorBody = z.object({
  code: z.enum(Object.keys(statusOfCode) as [ErrorCode, ...ErrorCode[]]),
  message: z.string(),
  status: z.int(),
});
