/** The target of the link with this relation, where the answer has one (`Link`, RFC 8288). */
export function toLink(headers: Headers, relation: string): string | undefined {
  for (const [, target, parameters = ''] of (headers.get('Link') ?? '').matchAll(link)) {
    if (new RegExp(`;\\s*rel="?${relation}"?\\s*(;|$)`).test(parameters)) return target;
  }
  return undefined;
}

const link = /<([^>]*)>([^,<]*)/g;
