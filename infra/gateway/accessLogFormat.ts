/**
 * One line of JSON per request, also for requests that never reach a function. `requestId` is the response's
 * X-Request-Id. `User-Agent` is the only logged header, so no API key is logged. The log itself adds the time.
 * https://docs.aws.amazon.com/apigateway/latest/developerguide/api-gateway-variables-for-access-logging.html
 */
export const accessLogFormat = {
  requestId: '$context.requestId',
  sourceIp: '$context.identity.sourceIp',
  // The gateway escapes quotes as JSON does, as others found: https://github.com/DataBiosphere/azul/issues/4348
  userAgent: '$context.identity.userAgent',
  method: '$context.httpMethod',
  path: '$context.path',
  route: '$context.resourcePath',
  status: '$context.status',
  bytes: '$context.responseLength',
  latency: '$context.responseLatency',
  functionLatency: '$context.integration.latency',
  functionStatus: '$context.integration.integrationStatus',
  functionError: '$context.integration.error',
  // Lambda's id of the call. Lambda logs a crash or a timeout under it.
  functionRequestId: '$context.integration.requestId',
  gatewayError: '$context.error.responseType',
  traceId: '$context.xrayTraceId',
};

/**
 * The format for API Gateway. Values are strings, since the gateway writes `-` for a missing value. Only `bytes` is a
 * number, since every response has it.
 */
export const accessLogText = JSON.stringify(accessLogFormat).replace(
  `"${accessLogFormat.bytes}"`,
  accessLogFormat.bytes,
);
