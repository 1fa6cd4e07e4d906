import type { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { defineKeyStore } from '../keys/keyStore.ts';
import { defineKeyVerifier, type KeyVerifier } from '../keys/keyVerifier.ts';
import { type ClientKind, defineDynamoDB } from './dynamodb.ts';
import { readVariable } from './environment.ts';

/** What every function needs, created once per container and shared by its requests. */
export interface Service {
  readonly client: DynamoDBClient;
  readonly verifier: KeyVerifier;
  /** Origins that browsers may call from, or `*` for any. */
  readonly allowedOrigins: readonly string[];
  /** The address of the stage's documentation, without a trailing slash. */
  readonly documentationAddress: string;
}

/** @throws {Error} if an environment variable is not set */
export function openService(kind?: ClientKind): Service {
  const client = defineDynamoDB(kind);
  return {
    client,
    verifier: defineKeyVerifier(defineKeyStore(client, readVariable('API_KEYS_TABLE'))),
    allowedOrigins: readVariable('ALLOWED_ORIGINS').split(','),
    documentationAddress: readVariable('DOCUMENTATION_ADDRESS'),
  };
}
