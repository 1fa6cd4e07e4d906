import { InvalidRequest } from '../../contract/errors.ts';
import type { Operation } from '../../contract/operation.ts';
import type { Parameter } from '../../contract/parameters.ts';
import {
  MAX_NAME_LENGTH,
  type OperationMiddleware,
  type OperationRequest,
} from '../operationRequest.ts';

export function parameters({
  parameters = {},
  query = {},
  exclusive = [],
}: Operation): OperationMiddleware {
  const nameOf = listSpellings(Object.keys(query));

  function parseParameters({ event, internal }: OperationRequest): void {
    for (const [name, parameter] of Object.entries(parameters)) {
      internal.parameters[name] = parseText(name, parameter, event.pathParameters?.[name] ?? '');
    }
    const sent = event.multiValueQueryStringParameters ?? {};
    for (const name of Object.keys(sent)) {
      const right = nameOf.get(toPlainName(name));
      // As unknown, it would be ignored: the response could be the whole inventory in place of a few entries.
      if (right !== undefined && !Object.hasOwn(query, name)) {
        const shown = JSON.stringify(name.slice(0, MAX_NAME_LENGTH));
        throw new InvalidRequest(`${shown} must be spelled "${right}".`);
      }
    }
    for (const [name, parameter] of Object.entries(query)) {
      const texts = sent[name] ?? [];
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

/** The right names by how they may be spelled: in plain letters, in the singular or the plural. */
function listSpellings(names: readonly string[]): ReadonlyMap<string, string> {
  return new Map(
    names.flatMap((name) => {
      const plain = toPlainName(name);
      const spellings = [plain, `${plain}s`, `${plain}es`, plain.replace(/s$/, '')];
      return spellings.map((spelling) => [spelling, name] as const);
    }),
  );
}

/** A name without its case, its separators and what follows it, such as `petid` for `Pet_Id[0]`. */
function toPlainName(name: string): string {
  return name
    .replace(/[[.%].*$/s, '')
    .replace(/[^a-z\d]/gi, '')
    .toLowerCase();
}

/** @throws {InvalidRequest} if the text is invalid */
function parseText(name: string, { parse, error }: Parameter<unknown>, text: string): unknown {
  const value = parse(text);
  if (value === undefined) throw new InvalidRequest(`${name} ${error}.`);
  return value;
}
