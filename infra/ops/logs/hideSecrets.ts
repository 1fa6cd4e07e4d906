/**
 * Whole API keys lose all but their key id. None is logged on purpose, but a client can send one in the
 * path, or as its X-Request-Id.
 */
export function hideSecrets(text: string): string {
  return text.replace(/psk_([0-9A-Za-z]{10})[0-9A-Za-z]{32}/g, 'psk_$1…');
}
