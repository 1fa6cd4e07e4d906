import type { Context } from 'aws-lambda';

/** What Lambda tells a function of its invocation. */
export function toLambdaContext(
  functionName: string,
  awsRequestId: string,
  timeoutMilliseconds: number,
): Context {
  const deadline = Date.now() + timeoutMilliseconds;
  return {
    awsRequestId,
    functionName,
    functionVersion: '$LATEST',
    invokedFunctionArn: `arn:aws:lambda:local:000000000000:function:${functionName}`,
    memoryLimitInMB: '512',
    logGroupName: `/aws/lambda/${functionName}`,
    logStreamName: 'local',
    callbackWaitsForEmptyEventLoop: true,
    getRemainingTimeInMillis: () => Math.max(0, deadline - Date.now()),
    done: refuse,
    fail: refuse,
    succeed: refuse,
  };
}

function refuse(): never {
  throw new Error('Handlers answer by the promise that they return.');
}
