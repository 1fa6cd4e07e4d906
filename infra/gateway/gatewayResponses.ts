import { ResponseType, type RestApi } from 'aws-cdk-lib/aws-apigateway';
import { statusOfCode, toErrorBody } from '../../shared/contract/errorBody.ts';
import type { Stage } from '../stages/stages.ts';
import { type GatewayError, gatewayErrors } from './gatewayErrors.ts';
import { toErrorHeaders } from './responseHeaders.ts';

/** Gives the errors that the gateway makes by itself the status, body and headers of the contract. */
export function defineGatewayResponses(
  api: RestApi,
  { settings: { allowedOrigins } }: Stage,
): void {
  for (const [type, error] of Object.entries<GatewayError>(gatewayErrors)) {
    api.addGatewayResponse(type, {
      type: ResponseType.of(type),
      statusCode: String(statusOfCode[error.code]),
      responseHeaders: toErrorHeaders(error, allowedOrigins),
      templates: { 'application/json': JSON.stringify(toErrorBody(error.code, error.message)) },
    });
  }
}
