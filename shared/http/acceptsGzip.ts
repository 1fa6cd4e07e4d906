/**
 * Whether a client would rather have gzip than the body as it is (RFC 9110 section 12.5.3): where it
 * names neither, it is sent as it is.
 */
export function acceptsGzip(acceptEncoding: string | undefined): boolean {
  const qualities = new Map<string, number>();
  for (const element of (acceptEncoding ?? '').toLowerCase().split(',')) {
    const [coding = '', ...parameters] = element.split(';').map((part) => part.trim());
    qualities.set(coding, toQuality(parameters));
  }
  const gzip = qualities.get('gzip') ?? qualities.get('x-gzip') ?? qualities.get('*') ?? 0;
  return gzip > 0 && gzip >= (qualities.get('identity') ?? 0);
}

function toQuality(parameters: readonly string[]): number {
  const weight = parameters.find((parameter) => parameter.startsWith('q='));
  if (weight === undefined) return 1;
  return /^q=(?:0(?:\.\d{0,3})?|1(?:\.0{0,3})?)$/.test(weight) ? Number(weight.slice(2)) : 0;
}
