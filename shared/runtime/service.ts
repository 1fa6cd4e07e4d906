import type { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { defineKeyStore } from '../keys/keyStore.ts';
import { defineKeyVerifier, type KeyVerifier } from '../keys/keyVerifier.ts';
import { defineDynamoDB } from './dynamodb.ts';
import { readVariable } from './environment.ts';

/** What every function needs, made once a container and used by all its requests. */
export interface Service {
  /** For commands as they are: it remembers what becomes of each class of them. */
  readonly client: DynamoDBClient;
  readonly verifier: KeyVerifier;
  readonly allowedOrigins: readonly string[];
  readonly documentationAddress: string;
  /** What the function was made of, where its deployment told. */
  readonly commit: string | undefined;
}

/** @throws {Error} when a variable of the environment is not set */
export function openService(): Service {
  const client = defineDynamoDB({ cacheMiddleware: true });
  return {
    client,
    verifier: defineKeyVerifier(defineKeyStore(client, readVariable('API_KEYS_TABLE'))),
    allowedOrigins: readVariable('ALLOWED_ORIGINS').split(','),
    documentationAddress: readVariable('DOCUMENTATION_ADDRESS'),
    commit: process.env.COMMIT,
  };
}
