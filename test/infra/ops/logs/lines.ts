// Lines as a stage logs them: a function's in Lambda's JSON format, the gateway's by its own.

type Fields = Record<string, unknown>;

/** A function's line of a request. */
export function requestLine(requestId: string, fields: Fields = {}): Fields {
  return toFunctionLine('INFO', {
    operation: 'getPet',
    requestId,
    status: 200,
    milliseconds: 12,
    readUnits: 0.5,
    writeUnits: 0,
    keyId: 'abcdefghij',
    keyName: 'storefront-web',
    commit: '3f2a9c0d1e2f',
    version: '7',
    ...fields,
  });
}

/** A function's line of what failed, with what caused it. */
export function errorLine(requestId: string): Fields {
  const cause = { name: 'TimeoutError', message: 'socket hang up', stack: 'at inner' };
  const error = { name: 'StoreError', message: 'no answer', stack: 'at outer', cause };
  return toFunctionLine('ERROR', { requestId, error });
}

/** What Lambda logs of a function that could not. */
export function crashLine(lambdaId: string): Fields {
  const message = { errorType: 'Runtime.ExitError', errorMessage: 'exit status 129' };
  return { ...toFunctionLine('ERROR', message), requestId: lambdaId };
}

/** What Lambda logs of a call, once it is over. */
export function reportLine(lambdaId: string, status: string): Fields {
  return {
    time: '2026-11-20T10:00:00.000Z',
    type: 'platform.report',
    record: { requestId: lambdaId, status, metrics: { durationMs: 28_000 } },
  };
}

/** What Lambda logs of a call that begins. */
export function startLine(lambdaId: string): Fields {
  return { ...reportLine(lambdaId, 'success'), type: 'platform.start' };
}

/** The gateway's line of a request, by default of one that a function answered. */
export function gatewayLine(requestId: string, fields: Fields = {}): Fields {
  return {
    requestId,
    sourceIp: '203.0.113.9',
    method: 'GET',
    path: '/v1/pets/7',
    status: '200',
    latency: '20',
    functionError: '-',
    functionRequestId: 'lambda-of-another',
    gatewayError: '-',
    ...fields,
  };
}

function toFunctionLine(level: string, message: Fields): Fields {
  return { timestamp: '2026-11-20T10:00:00.000Z', level, requestId: 'lambda-id', message };
}
