// AWS's limits, which the local stage enforces too:
// https://docs.aws.amazon.com/apigateway/latest/developerguide/api-gateway-execution-service-limits-table.html
// https://docs.aws.amazon.com/lambda/latest/dg/gettingstarted-limits.html

/** API Gateway's limit for the names and values of all headers of a request together. */
export const MAX_HEADER_BYTES = 10_240;

/** API Gateway's limit for a payload: 10 MB. */
export const MAX_BODY_BYTES = 10 * 1024 * 1024;

/**
 * Lambda's limit for a payload that is not streamed, in each direction: 6 MB of JSON; for a request, its whole event.
 */
export const MAX_PAYLOAD_BYTES = 6 * 1024 * 1024;
