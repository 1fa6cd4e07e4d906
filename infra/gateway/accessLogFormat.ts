/**
 * One line of JSON per request, those included that never reach a function. `requestId` is the
 * response's X-Request-Id. No header but the `User-Agent` is logged, so no API key is. The time is the log's own.
 * https://docs.aws.amazon.com/apigateway/latest/developerguide/api-gateway-variables-for-access-logging.html
 */
export const accessLogFormat = {
  requestId: '$context.requestId',
  sourceIp: '$context.identity.sourceIp',
  // The gateway writes a quote in it as JSON does, as others saw: https://github.com/DataBiosphere/azul/issues/4348
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
  // Lambda's id of the call, by which it logs what a function could not: a crash, a timeout.
  functionRequestId: '$context.integration.requestId',
  gatewayError: '$context.error.responseType',
  traceId: '$context.xrayTraceId',
};

/**
 * The format as API Gateway is given it. Values are texts, as `-` stands where there is nothing to tell, but for
 * the bytes, which every answer has.
 */
export const accessLogText = JSON.stringify(accessLogFormat).replace(
  `"${accessLogFormat.bytes}"`,
  accessLogFormat.bytes,
);
