// CloudWatch's filter patterns for lines of JSON. All that is put between quotes has been checked:
// letters, digits and -._@ alone.
// https://docs.aws.amazon.com/AmazonCloudWatch/latest/logs/FilterAndPatternSyntaxForMetricFilters.html

/** HTTP statuses, both ends included. */
export interface StatusRange {
  readonly from: number;
  readonly to: number;
}

export interface RequestFilter {
  readonly key?: string | undefined;
  readonly status?: StatusRange | undefined;
}

/** A function's line of each such request, and the errors that may belong to it. */
export function toFunctionPattern({ key, status }: RequestFilter): string {
  const isRequest = all([
    '$.message.operation = "*"',
    // A key that was refused is logged by its id alone.
    ...(key ? [any([equals('$.message.keyName', key), equals('$.message.keyId', key)])] : []),
    ...(status ? [`$.message.status >= ${status.from}`, `$.message.status <= ${status.to}`] : []),
  ]);
  const mayHaveErrors = status === undefined || status.to >= 500;
  return toPattern(mayHaveErrors ? any([isRequest, '$.message.error.message = "*"']) : isRequest);
}

/**
 * The gateway's line of each such request that it answered itself, such as 429, or that a function failed
 * to answer; it logs text alone, and a dash where there is nothing.
 */
export function toGatewayPattern({ status }: RequestFilter): string {
  const text = status && (status.from === status.to ? String(status.from) : toWildcard(status));
  return toPattern(
    all([
      any(['$.gatewayError != "-"', '$.functionError != "-"']),
      ...(text === undefined ? [] : [equals('$.status', text)]),
    ]),
  );
}

/**
 * Every line of a request: by our id, by the client's, or by Lambda's of the function's call.
 * @param ids at most three of 64 characters, since a pattern has at most 1,024
 */
export function toTracePattern(ids: readonly string[]): string {
  const conditions = ids.flatMap((id) => [
    ...['$.requestId', '$.message.requestId', '$.message.clientRequestId'].map((field) =>
      equals(field, id),
    ),
    all([equals('$.record.requestId', id), equals('$.type', 'platform.report')]),
  ]);
  return toPattern(any(conditions));
}

function toWildcard({ from }: StatusRange): string {
  return `${from / 100}*`;
}

function equals(field: string, text: string): string {
  return `${field} = "${text}"`;
}

function all(conditions: readonly string[]): string {
  return conditions.map((condition) => `(${condition})`).join(' && ');
}

function any(conditions: readonly string[]): string {
  return conditions.map((condition) => `(${condition})`).join(' || ');
}

function toPattern(condition: string): string {
  return `{ ${condition} }`;
}
