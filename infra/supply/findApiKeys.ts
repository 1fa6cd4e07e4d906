import { parseApiKey } from '../../shared/keys/apiKey.ts';

const pattern = /psk_[0-9A-Za-z]{42}/g;

/**
 * The key ids, which are public, of the API keys in a line whose checksum is right, as it is of none that an
 * example or a test makes up. The keys themselves are left here, so that no report can print them. A key that
 * is packed, or broken over lines, is not found.
 */
export function findApiKeys(line: string): string[] {
  return [...line.matchAll(pattern)].flatMap(([candidate]) => {
    const key = parseApiKey(candidate);
    return key === undefined ? [] : [key.keyId];
  });
}

/** The text without anything that looks like a key: a file's name may be one. */
export function hideApiKeys(text: string): string {
  return text.replace(pattern, 'psk_…');
}
