import type { Permission } from '../../shared/contract/operation.ts';
import type { HttpSettings } from '../../shared/http/defineHandler.ts';
import { mintApiKey } from '../../shared/keys/apiKey.ts';
import { defineKeyVerifier } from '../../shared/keys/keyVerifier.ts';

/** A key, and the settings of handlers that know that key and no other. */
export function defineHandlerSettings(
  permission: Permission = 'read',
  allowedOrigins: readonly string[] = ['*'],
): { apiKey: string; settings: HttpSettings } {
  const { apiKey, keyId, secretHash } = mintApiKey();
  const record = { keyId, secretHash, name: 'test', permission, createdAt: '' };
  const verifier = defineKeyVerifier({ get: async (id) => (id === keyId ? record : undefined) });
  return {
    apiKey,
    settings: { verifier, allowedOrigins, documentationAddress: 'https://docs.petstore.example' },
  };
}
