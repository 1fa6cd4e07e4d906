import { hash, randomInt, timingSafeEqual } from 'node:crypto';

/**
 * An API key is `psk_`, a key id of 10 characters, a secret of 26 (154 random bits) and a checksum of 6. All are
 * letters and digits, so a key is one word without quoting. A secret scanner finds it with `psk_[0-9A-Za-z]{42}`.
 */
const alphabet = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';
export const apiKeyShape = /^psk_[0-9A-Za-z]{42}$/;

/** The key ids that only the hook of deployments uses. Its role may write no other keys. */
export const hookKeyIds = 'hook*';
const hookPrefix = hookKeyIds.slice(0, -1);

/** Makes a key from the system's random source. Pass a key id to replace the key with that id. */
export function mintApiKey(keyId: string = randomKeyId()) {
  const secret = randomText(26);
  return {
    /** The public part, which identifies the key in the table and in logs. */
    keyId,
    /** The whole key, shown once and never stored. */
    apiKey: `psk_${keyId}${secret}${computeChecksum(keyId + secret)}`,
    secretHash: hashSecret(secret),
  };
}

/** A random key id, but none of the hook's. */
export function randomKeyId(random = () => randomText(10)): string {
  const keyId = random();
  return keyId.startsWith(hookPrefix) ? randomKeyId(random) : keyId;
}

/** A random key id of the hook's. */
export function randomHookKeyId(): string {
  return hookPrefix + randomText(10 - hookPrefix.length);
}

/** The parts of a well-formed key; `undefined` if the format or the checksum is wrong. */
export function parseApiKey(text: string) {
  const [keyId, secret, checksum] = [text.slice(4, 14), text.slice(14, 40), text.slice(40)];
  const isValid = apiKeyShape.test(text) && computeChecksum(keyId + secret) === checksum;
  return isValid ? { keyId, secret } : undefined;
}

/** Whether the hash is the secret's, in constant time. */
export function matchesSecretHash(secret: string, secretHash: string): boolean {
  const expected = Buffer.from(secretHash, 'base64url');
  const actual = hash('sha256', secret, 'buffer');
  return actual.length === expected.length && timingSafeEqual(actual, expected);
}

/** SHA-256 in base64url. A secret of 154 random bits needs no slow password hash. */
function hashSecret(secret: string): string {
  return hash('sha256', secret, 'base64url');
}

/** Not a protection: it rejects a mistyped or random key without a read of the table. */
function computeChecksum(text: string): string {
  let number = Number.parseInt(hash('sha256', `psk_${text}`).slice(0, 12), 16);
  let checksum = '';
  while (checksum.length < 6) {
    checksum += alphabet[number % alphabet.length];
    number = Math.floor(number / alphabet.length);
  }
  return checksum;
}

function randomText(length: number): string {
  return Array.from({ length }, () => alphabet[randomInt(alphabet.length)]).join('');
}
