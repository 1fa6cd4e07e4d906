import type { MiddlewareObj } from '@middy/core';
import type { APIGatewayProxyEvent, APIGatewayProxyResult } from 'aws-lambda';
import type { Permission } from '../../../../shared/contract/operation.ts';
import { defineKeyStore } from '../../../../shared/keys/keyStore.ts';
import { defineKeyVerifier } from '../../../../shared/keys/keyVerifier.ts';
import { documents } from './documents.ts';
import { HttpError } from './httpError.ts';

/** The service's own check of API keys, cache included, so that both sides do the same work here. */
const verifier = defineKeyVerifier(defineKeyStore(documents, process.env.API_KEYS_TABLE ?? ''));

export function authenticate(
  permission: Permission,
): MiddlewareObj<APIGatewayProxyEvent, APIGatewayProxyResult> {
  return {
    async before({ event: { headers } }) {
      const authorization = headers.Authorization ?? headers.authorization ?? '';
      const key = await verifier.verify(authorization.replace(/^bearer +/i, ''));
      if (permission === 'write' && key.permission !== 'write') {
        throw new HttpError(403, 'The API key allows reading only.');
      }
    },
  };
}
