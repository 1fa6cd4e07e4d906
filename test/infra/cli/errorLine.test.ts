import { expect, it } from 'vitest';
import { toErrorLine } from '../../../infra/cli/errorLine.ts';

const toError = (name: string, message: string, more: object = {}) =>
  Object.assign(new Error(message), { name, ...more });

it.each([
  ['Error', 'Region is missing', 'Region is missing; export AWS_REGION='],
  ['Error', 'Region not accepted: region="a b"', 'region="a b"; export AWS_REGION='],
  ...['CredentialsProviderError', 'TokenProviderError', 'ExpiredToken', 'RequestExpired'].map(
    (name) => [name, 'It is\n not there.', `${name}: It is not there; run aws sso login`],
  ),
  ['UnrecognizedClientException', 'Its token', 'Its token; AWS does not know these credentials'],
  ['InvalidClientTokenId', 'Its token', 'Its token; AWS does not know these credentials'],
  ['InvalidSignatureException', 'Signature expired: a', 'date -u.'],
  ['SignatureDoesNotMatch', 'Signature expired: a', 'date -u.'],
  ['OptInRequired', 'A subscription', 'in this region'],
  ['AccessDenied', 'No.', 'AccessDenied: No; AWS refuses this: have it allowed'],
  ['ThrottlingException', 'Rate exceeded', 'Rate exceeded; wait a minute, and run the same'],
  ['TooManyRequestsException', 'Rate exceeded', 'Rate exceeded; wait a minute, and run the same'],
  ['ProvisionedThroughputExceededException', 'Slow', 'Slow; wait a minute'],
  ['ResourceNotFoundException', 'Requested resource not found', '"A deleted table" in infra/OPE'],
  ['TableNotFoundException', 'Table not found: a', '"A deleted table" in infra/OPERATIONS.md.'],
  ['SyntaxError', "Unexpected '<'\n  Deserialization error: see", '; look at the region, --e'],
  ['TimeoutError', 'the request socket timed out', 'timed out; look at the region, --endpoint'],
  ['Error', 'database or disk is full', 'disk is full; export SQLITE_TMPDIR=FOLDER, one with'],
])('the line of %s, %s, says what to do next', (name, message, line) => {
  expect(toErrorLine(toError(name, message))).toContain(line);
  expect(toErrorLine(toError(name, message))).not.toContain('\n');
});

it.each([
  ['ResourceNotFoundException', 'The specified log group does not exist.'],
  ['PreconditionFailedException', 'It has changed.'],
])('the line of %s is its own', (name, message) => {
  expect(toErrorLine(toError(name, message))).toBe(`${name}: ${message}`);
});

it.each([
  ...['ENOTFOUND', 'EAI_AGAIN', 'ECONNREFUSED', 'ECONNRESET', 'ETIMEDOUT', 'EPROTO'].map((code) => [
    { code },
    'it failed; look at the region, --endpoint or AWS_ENDPOINT_URL',
  ]),
  [{ code: 'SELF_SIGNED_CERT_IN_CHAIN' }, 'it failed; behind a proxy'],
  [{ code: 'UNABLE_TO_VERIFY_LEAF_SIGNATURE' }, 'it failed; behind a proxy'],
])('the line of the connection failure %j says where to look', (more, line) => {
  expect(toErrorLine(toError('Error', 'it failed', more as object))).toContain(line);
});

it('the line of a name with several addresses is that of the first', () => {
  const errors = [new Error('connect ECONNREFUSED ::1:9'), new Error('other')];
  const error = Object.assign(new AggregateError(errors), { code: 'ECONNREFUSED' });
  expect(toErrorLine(error)).toMatch(/^connect ECONNREFUSED ::1:9; look at/);
});
