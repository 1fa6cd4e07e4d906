import type { OpenApiDocument } from '../../openapi/openApi.ts';
import type { Placeholders } from '../placeholders.ts';

/** Requests and answers as the document has them, which a run of the service recorded: `operationId.name`. */
export function toExampleFacts({ paths }: OpenApiDocument): Placeholders {
  const operations = Object.values(paths).flatMap((path) => Object.values(path));

  function find(part: 'requestBody' | 'answer', argument: string): unknown {
    const [id, name = ''] = argument.split('.');
    const operation = operations.find(({ operationId }) => operationId === id);
    const media = part === 'answer' ? operation?.responses['200'] : operation?.requestBody;
    return media?.content?.['application/json']?.examples?.[name]?.value;
  }

  return {
    answer: (argument) => toText(find('answer', argument)),
    request: (argument) => toText(find('requestBody', argument)),
    tag: (argument) => {
      const [entry] = (find('answer', argument) ?? []) as { etag?: string }[];
      return entry?.etag;
    },
  };
}

function toText(value: unknown): string | undefined {
  return value === undefined ? undefined : JSON.stringify(value);
}
