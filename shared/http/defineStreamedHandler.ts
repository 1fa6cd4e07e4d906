import { executionModeStreamifyResponse } from '@middy/core/executionModeStreamifyResponse';
import type { Operation } from '../contract/operation.ts';
import { defineHandler, type HttpSettings, type OperationInput } from './defineHandler.ts';
import { streamedResponse } from './middleware/streamedResponse.ts';
import type { Reply } from './reply.ts';

/**
 * As `defineHandler`, for an operation with a streamed response. It is a separate file, so that the other functions do
 * not load it.
 */
export function defineStreamedHandler<O extends Operation & { readonly streamed: true }>(
  operation: O,
  settings: HttpSettings,
  operate: (input: OperationInput<O>) => Promise<Reply>,
) {
  return defineHandler(operation, settings, operate, {
    response: streamedResponse(),
    executionMode: executionModeStreamifyResponse,
  });
}
