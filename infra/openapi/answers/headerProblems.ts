import type { HeaderObject, ResponseObject } from '../openApi.ts';
import { document } from './document.ts';
import { findValueProblems } from './schemaProblems.ts';

type DocumentedHeaders = ResponseObject['headers'];

/** What HTTP itself and API Gateway add, of which no interface's document speaks. */
const transportHeaders =
  /^(content-type|content-length|transfer-encoding|connection|keep-alive|date|via|x-amz.*|x-cache)$/;

/** Every header of the document, of which only X-Request-Id is a must; and Allow, which no operation answers. */
export const documentedAnywhere: DocumentedHeaders = {
  ...Object.fromEntries(
    Object.entries(document.components.headers).map(([name, header]) => [
      name.replace('.optional', ''),
      { ...header, required: name === 'X-Request-Id' },
    ]),
  ),
  Allow: { schema: { type: 'string' } },
};

export function findHeaderProblems(headers: Headers, documented: DocumentedHeaders): string[] {
  const known = Object.keys(documented).map((name) => name.toLowerCase());
  const unknown = [...headers.keys()].filter(
    (name) => !known.includes(name) && !transportHeaders.test(name),
  );
  const problems = unknown.map((name) => `The document has no header ${name} here.`);
  for (const [name, header] of Object.entries(documented)) {
    const { required, schema = {} } = resolve(header);
    const value = headers.get(name);
    if (value !== null) problems.push(...findValueProblems(schema, value, name));
    else if (required) problems.push(`The header ${name} is missing.`);
  }
  return problems;
}

function resolve(header: HeaderObject): HeaderObject {
  const name = header.$ref?.replace('#/components/headers/', '');
  return name === undefined ? header : (document.components.headers[name] as HeaderObject);
}
