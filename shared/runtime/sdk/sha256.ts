import { createHash, createHmac, createSecretKey, type Hash, type Hmac } from 'node:crypto';

type Secret = string | ArrayBuffer | ArrayBufferView | undefined;

/**
 * SHA-256 for the SDK's signatures, or with a secret its HMAC (RFC 2104). The SDK's own class passes a secret as bytes.
 * Node.js then takes three times as long as the HMAC itself to find that they are not a key object.
 */
export class Sha256 {
  readonly #secret: Secret;
  #hash: Hash | Hmac;

  constructor(secret?: Secret) {
    this.#secret = secret;
    this.#hash = startHash(secret);
  }

  update(data: Uint8Array): void {
    this.#hash.update(data);
  }

  async digest(): Promise<Uint8Array> {
    return this.#hash.digest();
  }

  reset(): void {
    this.#hash = startHash(this.#secret);
  }
}

function startHash(secret: Secret): Hash | Hmac {
  if (secret === undefined) return createHash('sha256');
  if (typeof secret === 'string') return createHmac('sha256', secret);
  const bytes = ArrayBuffer.isView(secret) ? (secret as Uint8Array) : new Uint8Array(secret);
  return createHmac('sha256', createSecretKey(bytes));
}
