/** What Node.js tells of a connection that did not come about, or broke. */
interface NetworkFailure extends Error {
  readonly code?: string;
  readonly hostname?: string;
  readonly address?: string;
  readonly port?: number;
  /** Those of each address of a name, such as localhost. */
  readonly errors?: readonly NetworkFailure[];
}

/** Who was not reached, and what to look at. @returns nothing for what is no failure of the network */
export function toNetworkLine(error: unknown): string | undefined {
  const { name, message, code = name, hostname, errors } = error as NetworkFailure;
  if (/^(ENOTFOUND|EAI_AGAIN)$/.test(code)) {
    return `${hostname} cannot be found (${code}): look at the region or --endpoint that it is made of, and at this machine's network.`;
  }
  if (code === 'ECONNREFUSED') {
    const { address, port } = errors?.[0] ?? (error as NetworkFailure);
    return `Nothing listens at ${address}:${port} (${code}): look at --endpoint or AWS_ENDPOINT_URL, and start what is to answer there.`;
  }
  if (code === 'EPROTO') {
    return `What answered speaks no TLS (${code}): look at --endpoint or AWS_ENDPOINT_URL, and begin it with http:, not https:.`;
  }
  if (/CERT|UNABLE_TO_VERIFY/.test(code)) {
    return `The certificate of what answered is not trusted (${code}): behind a proxy with one of its own, export NODE_EXTRA_CA_CERTS=FILE.`;
  }
  if (/^(ECONNRESET|ETIMEDOUT|EHOSTUNREACH|ENETUNREACH|TimeoutError)$/.test(code)) {
    return `There was no answer (${code}): look at this machine's network, VPN and proxy, and run the same command again.`;
  }
  if (message?.includes('Deserialization error')) {
    return 'What answered is neither AWS nor an emulator: look at --endpoint or AWS_ENDPOINT_URL.';
  }
  return undefined;
}
