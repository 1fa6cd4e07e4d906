import { expect, it } from 'vitest';
import { isOutage } from '../../../shared/runtime/isOutage.ts';

const failure = (fields: object) => Object.assign(new Error('failed'), fields);

it.each([
  ['a throttle', { name: 'ThrottlingException' }],
  ['too much for the table', { name: 'ProvisionedThroughputExceededException' }],
  ['too much for the account', { name: 'RequestLimitExceeded' }],
  ['a timeout', { name: 'TimeoutError' }],
  ['a refused connection', { code: 'ECONNREFUSED' }],
  ['a reset connection', { code: 'ECONNRESET' }],
  ['a name that cannot be looked up', { code: 'EAI_AGAIN' }],
  ['a broken pipe behind another error', { cause: failure({ code: 'EPIPE' }) }],
  ['an internal failure', { name: 'InternalServerError', $metadata: { httpStatusCode: 500 } }],
  ['a bad gateway', { name: 'Unknown', $metadata: { httpStatusCode: 502 } }],
  ['another failure of the server', { name: 'Unknown', $metadata: { httpStatusCode: 507 } }],
])('%s is an outage', (_, fields) => {
  expect(isOutage(failure(fields))).toBe(true);
});

it.each([
  ['a missing permission', { name: 'AccessDeniedException', $metadata: { httpStatusCode: 400 } }],
  ['a missing table', { name: 'ResourceNotFoundException', $metadata: { httpStatusCode: 400 } }],
  ['a failed condition', { name: 'ConditionalCheckFailedException' }],
  ['a wrong signature', { name: 'InvalidSignatureException', $metadata: { httpStatusCode: 400 } }],
  ['a mistake of ours', { name: 'TypeError' }],
  ['a call that was given up', { name: 'AbortError', code: 'ECONNRESET' }],
])('%s is none', (_, fields) => {
  expect(isOutage(failure(fields))).toBe(false);
});
