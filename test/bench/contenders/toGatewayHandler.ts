import type { Writable } from 'node:stream';
import type { APIGatewayProxyEvent, APIGatewayProxyResult } from 'aws-lambda';
import { type OperationId, operations } from '../../../shared/contract/operations.ts';

type PeerHandler = (
  event: APIGatewayProxyEvent,
  context: unknown,
) => Promise<APIGatewayProxyResult>;

/** Lets the peer return a buffered response where the gateway expects a stream. */
export function toGatewayHandler(operationId: OperationId, handler: PeerHandler): unknown {
  if (!operations[operationId].streamed) return handler;
  return async (event: APIGatewayProxyEvent, stream: Writable, context: unknown) => {
    const { statusCode, headers, body } = await handler(event, context);
    awslambda.HttpResponseStream.from(stream, { statusCode, headers }).end(body);
  };
}
