/**
 * One line of JSON per request, those included that never reach a function. `requestId` is the
 * response's X-Request-Id. No header is logged, so no API key is.
 * https://docs.aws.amazon.com/apigateway/latest/developerguide/api-gateway-variables-for-access-logging.html
 */
export const accessLogFormat = {
  requestId: '$context.requestId',
  time: '$context.requestTimeEpoch',
  sourceIp: '$context.identity.sourceIp',
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
