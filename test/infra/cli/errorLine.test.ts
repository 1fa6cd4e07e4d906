import { parseArgs } from 'node:util';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { toErrorLine } from '../../../infra/cli/errorLine.ts';

afterEach(() => vi.unstubAllEnvs());

const toError = (name: string, message: string, more: object = {}) =>
  Object.assign(new Error(message), { name, ...more });

describe('the line of an error', () => {
  it.each([
    ['Error', 'Region is missing', 'No AWS region is set: export AWS_REGION='],
    ['Error', 'Region not accepted: region="a b" is not', '"a b" is no AWS region: export AWS_'],
    [
      'CredentialsProviderError',
      'Could not load credentials from any providers',
      'There are no AWS credentials: run aws configure or aws sso login, or export AWS_PROFILE=',
    ],
    [
      'CredentialsProviderError',
      'The SSO session associated with this profile has expired. To refresh this SSO session run aws sso login with the corresponding profile.',
      'expired (CredentialsProviderError): run aws sso login, or',
    ],
    [
      'TokenProviderError',
      "Token is expired. To refresh this SSO session run 'aws sso login' with the corresponding profile.",
      'expired (TokenProviderError): run aws sso login, or',
    ],
    [
      'CredentialsProviderError',
      'Failed to load a token for session x, please re-authenticate using aws login',
      'expired (CredentialsProviderError): run aws login, or',
    ],
    [
      'CredentialsProviderError',
      'Profile a requires multi-factor authentication, but no MFA code callback was provided.',
      'cannot be had (Profile a requires multi-factor authentication, but no MFA code callback was provided): run aws configure',
    ],
    ['ExpiredToken', 'The security token is expired', 'expired (ExpiredToken): run aws sso login'],
    ['ExpiredTokenException', 'The token is expired', 'expired (ExpiredTokenException): run'],
    ['RequestExpired', 'Request has expired', 'expired (RequestExpired): run'],
    ['UnrecognizedClientException', 'The token is invalid', 'does not know these credentials'],
    ['InvalidClientTokenId', 'The token is invalid', 'does not know these credentials'],
    ['OptInRequired', 'The key needs a subscription', 'or not in this region (OptInRequired)'],
    ['InvalidSignatureException', 'Signature expired: a', 'date -u'],
    ['SignatureDoesNotMatch', 'The canonical string\nfor this', 'the secret access key is not'],
    [
      'AccessDenied',
      'User: arn:aws:iam::1:user/ops is not authorized to perform: cloudformation:DescribeStacks on resource: arn:aws:cloudformation:eu-west-1:1:stack/a because no',
      'AWS refuses cloudformation:DescribeStacks on arn:aws:cloudformation:eu-west-1:1:stack/a to arn:aws:iam::1:user/ops (AccessDenied): have it allowed, or export AWS_PROFILE=',
    ],
    [
      'AccessDeniedException',
      'User: arn:aws:iam::1:user/ops is not authorized to perform: lambda:UpdateAlias',
      'AWS refuses lambda:UpdateAlias to arn:aws:iam::1:user/ops (AccessDeniedException):',
    ],
    ['AccessDeniedException', 'No.', 'AWS refuses this (AccessDeniedException): have it allowed'],
    [
      'ResourceNotFoundException',
      'Requested resource not found: Table: petstore-staging-pets not found',
      'There is no table petstore-staging-pets (ResourceNotFoundException):',
    ],
    ['ResourceNotFoundException', 'Requested resource not found', 'There is no table of this name'],
    ['TableNotFoundException', 'Table not found: a', '"A deleted table" in infra/RUNBOOK.md'],
    [
      'ResourceNotFoundException',
      'Function not found: arn:aws:lambda:eu-west-1:1:function:a:live',
      'no such function, version or alias (ResourceNotFoundException: Function not found: arn:',
    ],
    ['ResourceNotFoundException', 'Cannot find alias arn: arn:aws:lambda', 'version or alias'],
    [
      'ResourceNotFoundException',
      'The specified log group does not exist.',
      'ResourceNotFoundException: The specified log group does not exist.',
    ],
    ['ThrottlingException', 'Rate exceeded', '(ThrottlingException): wait a minute'],
    ['TooManyRequestsException', 'Rate exceeded', '(TooManyRequestsException): wait a minute'],
    ['ProvisionedThroughputExceededException', 'Slow', 'ExceededException): wait a minute'],
    ['InternalServerError', 'Oh', 'AWS itself fails (InternalServerError): look at the AWS Health'],
    ['ServiceUnavailable', 'Oh', 'AWS itself fails (ServiceUnavailable): look at the AWS Health'],
    ['SyntaxError', "Unexpected token '<'\n  Deserialization error: see", 'neither AWS nor an'],
    ['TimeoutError', 'the request socket timed out', 'There was no answer (TimeoutError): look'],
    ['Error', 'database or disk is full', 'export SQLITE_TMPDIR=FOLDER, one with more space'],
    [
      'PreconditionFailedException',
      'It has\n changed',
      'PreconditionFailedException: It has changed',
    ],
    ['Error', 'Nothing was moved.', 'Nothing was moved.'],
    ['Error', '', 'no further description'],
  ])('of %s: %s', (name, message, line) => {
    vi.stubEnv('AWS_PROFILE', undefined);
    expect(toErrorLine(toError(name, message))).toContain(line);
    expect(toErrorLine(toError(name, message))).not.toContain('\n');
  });

  it('of an option whose value begins with a dash tells how that is written', () => {
    const parse = () => parseArgs({ args: ['--a', '-1'], options: { a: { type: 'string' } } });
    expect(parse).toThrow('ambiguous');
    const line = '--a needs a value; one that begins with a dash is --a=-…. See --help.';
    try {
      parse();
    } catch (error) {
      expect(toErrorLine(error)).toBe(line);
    }
  });

  it.each([
    ['Region is missing', 'The AWS profile "ops" is not there or has no region'],
    ['Could not load credentials from any', 'The AWS profile "ops" is not there or has no cred'],
    ['Token is expired. Run aws sso login', 'run aws sso login --profile ops, or'],
  ])('names the profile that was chosen: %s', (message, line) => {
    vi.stubEnv('AWS_PROFILE', 'ops');
    const name = message.startsWith('Region') ? 'Error' : 'CredentialsProviderError';
    expect(toErrorLine(toError(name, message))).toContain(line);
  });

  it.each([
    [{ code: 'ENOTFOUND', hostname: 'a.amazonaws.com' }, 'a.amazonaws.com cannot be found'],
    [{ code: 'EAI_AGAIN', hostname: 'a.amazonaws.com' }, 'a.amazonaws.com cannot be found'],
    [{ code: 'ECONNREFUSED', address: '127.0.0.1', port: 9 }, 'Nothing listens at 127.0.0.1:9 ('],
    [
      { code: 'ECONNREFUSED', errors: [{ address: '::1', port: 9 }, {}] },
      'Nothing listens at ::1:9 (ECONNREFUSED): look at --endpoint',
    ],
    [{ code: 'ECONNRESET' }, 'There was no answer (ECONNRESET)'],
    [{ code: 'ETIMEDOUT' }, 'There was no answer (ETIMEDOUT)'],
    [{ code: 'EPROTO' }, 'speaks no TLS (EPROTO)'],
    [{ code: 'SELF_SIGNED_CERT_IN_CHAIN' }, 'export NODE_EXTRA_CA_CERTS=FILE'],
    [{ code: 'UNABLE_TO_VERIFY_LEAF_SIGNATURE' }, 'export NODE_EXTRA_CA_CERTS=FILE'],
  ])('of the connection failure %j', (more, line) => {
    expect(toErrorLine(toError('Error', 'connect', more))).toContain(line);
  });
});
