import { InvalidRequest } from '../../contract/errors.ts';
import type { Operation } from '../../contract/operation.ts';
import type { Parameter } from '../../contract/parameters.ts';
import type { OperationMiddleware, OperationRequest } from '../operationRequest.ts';

export function parameters({
  parameters = {},
  query = {},
  exclusive = [],
}: Operation): OperationMiddleware {
  function parseParameters({ event, internal }: OperationRequest): void {
    for (const [name, parameter] of Object.entries(parameters)) {
      internal.parameters[name] = parseText(name, parameter, event.pathParameters?.[name] ?? '');
    }
    for (const [name, parameter] of Object.entries(query)) {
      const texts = event.multiValueQueryStringParameters?.[name] ?? [];
      if (texts.length > 1 && parameter.schema.type !== 'array') {
        throw new InvalidRequest(`${name} must be given once.`);
      }
      // OpenAPI's default for an array (`explode`) repeats the parameter, and so do generated clients.
      if (texts.length > 0) internal.query[name] = parseText(name, parameter, texts.join(','));
    }
    for (const [name, other] of exclusive) {
      if (name in internal.query && other in internal.query) {
        throw new InvalidRequest(`${name} cannot be given together with ${other}.`);
      }
    }
  }

  return { before: parseParameters };
}

/** @throws {InvalidRequest} if the text is invalid */
function parseText(name: string, { parse, error }: Parameter<unknown>, text: string): unknown {
  const value = parse(text);
  if (value === undefined) throw new InvalidRequest(`${name} ${error}.`);
  return value;
}
